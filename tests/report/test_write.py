"""What a report says equals what its inputs hold, in every form that it is written in."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hmeta
from hmeta.core.errors import HmetaError
from hmeta.core.files import read_tree
from hmeta.report.html_page import plain
from hmeta.report.page import PROBABILITY, Picture, Table
from hmeta.report.write import write_report
from tests.report.conftest import NAMES, Reported


class Parsed(HTMLParser):
    """The tables, numbers, headings, images and addresses of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.values: dict[str, list[list[str | None]]] = {}
        self.numbers: list[tuple[str, str]] = []
        self.headings: list[tuple[str, str]] = []
        self.images: list[dict[str, str | None]] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.open.append(tag)
        self.ids += [found["id"] or ""] if "id" in found else []
        self.addresses += [found[key] or "" for key in ("src", "href") if key in found]
        if tag == "table":
            self.table = (found["id"] or "").removeprefix("table-")
            self.tables[self.table], self.values[self.table] = [], []
        elif tag == "tr":
            self.tables[self.table].append([])
            self.values[self.table].append([])
        elif tag in ("td", "th"):
            self.tables[self.table][-1].append("")
            self.values[self.table][-1].append(found.get("data-value"))
        elif tag == "data":
            self.numbers.append((found["value"] or "", ""))
        elif tag in ("h1", "h2", "h3"):
            self.headings.append((tag, ""))
        elif tag == "img":
            self.images.append(found)
        if tag in ("meta", "link", "img", "br"):
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "td" in self.open or "th" in self.open:
            self.tables[self.table][-1][-1] += data.replace("\u200b", "")
        if "data" in self.open:
            self.numbers[-1] = (self.numbers[-1][0], self.numbers[-1][1] + data)
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            tag, text = self.headings[-1]
            self.headings[-1] = (tag, text + data)


@pytest.fixture(scope="module")
def parsed(reported: Reported) -> Parsed:
    return Parsed((reported.folder / "report.html").read_text(encoding="utf-8"))


def as_number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "").replace("\u00a0%", "").replace(" %", "").replace("–", "nan"))


def test_the_folder_holds_what_is_promised(reported: Reported):
    folder = reported.folder
    assert {p.name for p in folder.iterdir()} == {
        "report.html", "report.pdf", "figures", "tables", "numbers.json", "methods.md", "methods.tex", "references.bib",
    }  # fmt: skip
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")
    pictures, tables = list(reported.page.blocks(Picture)), list(reported.page.blocks(Table))
    assert len(pictures) >= 10
    assert len(tables) >= 10
    assert {p.name for p in (folder / "figures").iterdir()} == {
        f"{picture.name}{suffix}" for picture in pictures for suffix in (".svg", ".pdf", ".png")
    }
    assert {p.name for p in (folder / "tables").iterdir()} == {"all_tables.tex"} | {
        f"{table.name}{suffix}" for table in tables for suffix in (".csv", ".tex", ".md")
    }


def test_every_section_is_there_or_named_as_missing(reported: Reported):
    from hmeta.report.sections import builders

    told = {section.title for section in reported.page.sections} | {gap.title for gap in reported.page.missing}
    assert {b.TITLE for b in builders().values() if b.NEEDS} <= told
    notes = [plain(b.text) for s in reported.page.sections for b in s.blocks if getattr(b, "tone", "") == "note"]
    assert not [note for note in notes if note.startswith("Not shown")]


def test_m_on_the_page_is_that_of_the_fit(reported: Reported, parsed: Parsed):
    summary = hmeta.summarize(read_tree(reported.fit)).set_index("level")
    rows = {row[0]: row for row in parsed.tables["M-model-fit"][1:]}
    assert set(NAMES) <= set(rows)
    for name in NAMES:
        median, interval = rows[name][2], rows[name][3]
        assert as_number(median) == pytest.approx(summary.loc[name, "median"], abs=0.0051)
        low, high = (as_number(end) for end in interval.strip("[]").split(", "))
        assert (low, high) == pytest.approx(tuple(summary.loc[name, ["lower", "upper"]]), abs=0.0051)


def test_cells_equal_the_csv_file(reported: Reported, parsed: Parsed):
    seen = 0
    for table in reported.page.blocks(Table):
        with (reported.folder / "tables" / f"{table.name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        shown = parsed.tables[table.name][1:]
        assert len(shown) == len(rows) == len(table.frame)
        for cells, values, row in zip(shown, parsed.values[table.name][1:], rows, strict=True):
            for text, value, (name, column) in zip(cells, values, table.columns.items(), strict=True):
                if not column.style:
                    assert text == (row[name] or ("" if text == "" else "–"))
                elif row[name] and not (column.upper and not column.lower):
                    seen += 1
                    assert float(value or "nan") == pytest.approx(float(row[name]), rel=1e-12)
                    if column.style == PROBABILITY:
                        assert float(text.strip("<>")) == pytest.approx(float(row[name]), abs=0.00101)
                        continue
                    digits = int(re.search(r"\.(\d)f", column.style).group(1)) if "f" in column.style else 3
                    if np.isfinite(float(row[name])):
                        assert as_number(text.split(" [")[0]) == pytest.approx(float(row[name]), abs=0.51 * 10**-digits)
    assert seen > 200


def test_numbers_in_the_text_are_in_the_file_in_full(reported: Reported, parsed: Parsed):
    held = json.loads((reported.folder / "numbers.json").read_text())["numbers"]
    assert len(parsed.numbers) == len(held) > 40
    for (value, text), entry in zip(parsed.numbers, held, strict=True):
        assert text == entry["text"]
        assert float(value) == pytest.approx(entry["value"], rel=1e-12)
        assert entry["source"]
        assert entry["what"]
        if text != "–":
            digits = len(text.split(".")[1].rstrip("\u00a0 %")) if "." in text else 0
            assert as_number(text) == pytest.approx(entry["value"], abs=0.51 * 10**-digits)


def test_the_banner_is_red_and_says_why(reported: Reported):
    text = (reported.folder / "report.html").read_text(encoding="utf-8")
    (banner,) = re.findall(r'<p class="bad banner" role="alert">(.*?)</p>', text, flags=re.S)
    assert "has not converged: do not use its numbers" in banner
    assert "R-hat" in banner


def test_nothing_outside_the_file_is_asked_for(parsed: Parsed):
    assert parsed.addresses
    assert all(address.startswith(("data:", "#")) for address in parsed.addresses)
    targets = {address[1:] for address in parsed.addresses if address.startswith("#")}
    assert targets <= set(parsed.ids)


def test_headings_and_images_can_be_heard(parsed: Parsed):
    assert [tag for tag, _ in parsed.headings].count("h1") == 1
    levels = [int(tag[1]) for tag, _ in parsed.headings]
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert all(len(image["alt"] or "") > 20 for image in parsed.images)
    assert len(parsed.ids) == len(set(parsed.ids))


def test_svg_files_are_whole_and_small(reported: Reported):
    for path in (reported.folder / "figures").glob("*.svg"):
        assert path.read_bytes().rstrip().endswith(b"</svg>")
        assert path.stat().st_size < 600_000


def test_the_same_inputs_give_the_same_files(reported: Reported, tmp_path: Path):
    for name in ("a", "b"):
        write_report(reported.results, tmp_path / name)
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*") if p.is_file())
    assert len(files) > 20
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file


def test_references_are_those_cited(reported: Reported):
    methods = (reported.folder / "methods.md").read_text(encoding="utf-8")
    bibtex = (reported.folder / "references.bib").read_text(encoding="utf-8")
    cited = set(re.findall(r"@(\w+)[\];]", methods))
    assert {"maniscalco2012", "hoffman2014", "phan2019"} <= cited
    assert cited <= set(re.findall(r"@\w+\{(\w+),", bibtex))
    assert "1 + (1 | model)" in methods or "0 + scale" in methods
    assert re.search(r"2 chains of 40 draws\s+after 40 warm-up", methods)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed (texlive-latex-recommended)")
def test_latex_compiles_and_holds_the_numbers(reported: Reported, tmp_path: Path):
    folder = tmp_path / "tables"
    shutil.copytree(reported.folder / "tables", folder)
    for path in folder.glob("*.tex"):  # pdflatex has no Chinese letters; the files say so, lualatex has none to show
        path.write_text(path.read_text(encoding="utf-8").replace("模型", "xx"), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all_tables.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    text = (folder / "M-model-fit.tex").read_text(encoding="utf-8")
    assert r"\toprule" in text
    frame = pd.read_csv(folder / "M-model-fit.csv")
    rows = re.findall(r"^(.*?) & ([\d,]+|\{\\textendash\}) & (\S+) & \[", text, flags=re.M)
    assert len(rows) == len(frame)
    shown = [as_number(row[2].replace("$-$", "-")) for row in rows]
    assert shown == pytest.approx(frame["median"].tolist(), abs=0.0051)


def test_markdown_tables_have_all_rows(reported: Reported):
    for table in reported.page.blocks(Table):
        lines = (reported.folder / "tables" / f"{table.name}.md").read_text(encoding="utf-8").splitlines()
        rows = [line for line in lines if line.startswith("|")]
        assert len(rows) == len(table.frame) + 2
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1


def test_a_report_is_never_written_over_other_files(reported: Reported, tmp_path: Path):
    shutil.copytree(reported.folder, tmp_path / "old")
    shutil.copy(reported.results, tmp_path / "old" / "figures" / "results.nc")
    (tmp_path / "old" / "notes.md").write_text("mine")
    with pytest.raises(HmetaError, match="an input lies in the folder of the output"):
        write_report(tmp_path / "old" / "figures" / "results.nc", tmp_path / "old", overwrite=True)
    with pytest.raises(HmetaError, match=r"(?s)no part of a report.*figures/results.nc, notes.md"):
        write_report(reported.results, tmp_path / "old", overwrite=True)
    assert (tmp_path / "old" / "notes.md").read_text() == "mine"
    shutil.rmtree(tmp_path / "old")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    with pytest.raises(HmetaError, match="no part of a report; nothing was written"):
        write_report(reported.results, mine, overwrite=True)
    assert [p.name for p in tmp_path.rglob("*")] == ["mine", "thesis.tex"]
    with pytest.raises(HmetaError, match="exists already"):
        write_report(reported.results, reported.folder)


def test_a_wrong_template_is_named_and_nothing_is_written(reported: Reported, tmp_path: Path):
    from hmeta.report.templates import shipped_templates

    own = tmp_path / "own"
    own.mkdir()
    with pytest.raises(HmetaError, match=r"lacks a file(.|\n)*no report.html.j2"):
        write_report(reported.results, tmp_path / "out", templates=own)
    for name in ("report.html.j2", "report.typ"):
        shutil.copy(shipped_templates() / name, own / name)
    (own / "report.html.j2").write_text("{{ page.titel }}")
    with pytest.raises(HmetaError, match=r"report.html.j2(.|\n)*titel"):
        write_report(reported.results, tmp_path / "out", templates=own)
    assert [p.name for p in tmp_path.iterdir()] == ["own"]


def test_a_changed_template_is_used(reported: Reported, tmp_path: Path):
    from hmeta.report.templates import shipped_templates

    own = tmp_path / "own"
    shutil.copytree(shipped_templates(), own)
    page = own / "report.html.j2"
    page.write_text(page.read_text().replace("<h1>", "<p>Our laboratory</p><h1>"))
    write_report(reported.results, tmp_path / "out", templates=own)
    assert "<p>Our laboratory</p>" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_an_old_report_is_replaced_through_a_link_which_stays(reported: Reported, tmp_path: Path):
    write_report(reported.results, tmp_path / "real", title="first")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_report(reported.results, tmp_path / "link", title="second", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert "<h1>second</h1>" in (tmp_path / "real" / "report.html").read_text(encoding="utf-8")
    assert {p.name for p in tmp_path.iterdir()} == {"real", "link"}


def test_inputs_of_like_names_keep_their_own_files(reported: Reported, tmp_path: Path):
    paths = [tmp_path / "a_1.nc", tmp_path / "a-1.nc"]
    for path in paths:
        shutil.copy(reported.results, path)
    page = write_report(paths, tmp_path / "out")
    names = [block.name for block in page.blocks(Table)]
    assert len(names) == len(set(names)) > 10


def test_methods_claim_only_what_was_done(reported: Reported, tmp_path: Path):
    tree = read_tree(reported.fit)
    for group in ("posterior_predictive", "log_likelihood"):
        del tree[group]
    write_report(tree, tmp_path / "out")
    methods = (tmp_path / "out" / "methods.md").read_text(encoding="utf-8")
    assert "NOT CONVERGED" in methods
    assert "was checked by" not in methods
    assert "was checked by" in (reported.folder / "methods.md").read_text(encoding="utf-8")


def test_draws_that_are_no_numbers_are_under_a_banner(reported: Reported, tmp_path: Path):
    tree = read_tree(reported.fit)
    posterior = tree["posterior"].to_dataset().copy(deep=True)
    posterior["M"][0, 0, 0] = np.nan
    tree["posterior"] = type(tree)(posterior)
    tree["hmeta"].attrs["converged"] = 1
    page = write_report(tree, tmp_path / "out")
    assert "Draws of 1 cells are not finite" in plain(page.banners[0])


def test_methods_of_a_table_of_measures_claim_no_curves(reported: Reported, tmp_path: Path):
    write_report(reported.folder.parent / "metrics.nc", tmp_path / "out")
    methods = (tmp_path / "out" / "methods.md").read_text(encoding="utf-8")
    assert "bootstrap intervals [@efron1987]" in methods
    assert "calibration" not in methods.lower()
    both = (reported.folder / "methods.md").read_text(encoding="utf-8")
    assert "cross-fitted beta maps" in both
