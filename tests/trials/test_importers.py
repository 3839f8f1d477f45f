"""Importers on tiny files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from hmeta.core.errors import DataError
from hmeta.core.registry import modules_in
from hmeta.trials import importers
from hmeta.trials.count_table import count_table
from hmeta.trials.declarations import declare, read_mapping
from hmeta.trials.import_options import ImportOptions, ScaleDeclaration, parse_scale
from hmeta.trials.importing import choose_importer, import_table
from hmeta.trials.tables import frame_of, scale_frame

S1, S2 = [36, 24, 17, 20, 10, 12, 9, 2], [1, 4, 10, 11, 19, 18, 28, 39]
PERCENT = ScaleDeclaration(0, 100)
ANSWERS = "model,item,is_correct,conf,domain\na,q1,True,90,x\na,q2,False,50,x\nb,q1,1,,y\nb,q2,0,100,y\n"


@pytest.fixture
def write(tmp_path):
    def _write(name: str, text: str):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def notes(dataset) -> str:
    return "\n".join(json.loads(dataset.attrs["import_notes"]))


def test_every_importer_has_the_same_face():
    for module in modules_in(importers).values():
        assert module.SUMMARY
        assert callable(module.matches)
        assert callable(module.read)


def assert_answers(dataset, task="open"):
    frame = frame_of(dataset)
    assert dataset.attrs["task"] == task
    assert frame["model"].tolist() == ["a", "a", "b", "b"]
    assert frame["item"].tolist() == ["q1", "q2", "q1", "q2"]
    assert frame["correct"].tolist() == [1, 0, 1, 0]
    assert frame["confidence"].tolist()[:2] + frame["confidence"].tolist()[3:] == [90, 50, 100]
    assert np.isnan(frame["confidence"][2])
    assert frame["domain"].tolist() == ["x", "x", "y", "y"]


def test_csv_with_names_in_use(write):
    dataset = import_table(write("a.csv", ANSWERS), ImportOptions(scale=PERCENT, title="t", license="CC0"))
    assert_answers(dataset)
    assert "correct from is_correct, confidence from conf" in notes(dataset)
    assert "task open" in notes(dataset)
    assert "--n-options" in notes(dataset)
    assert (dataset.attrs["title"], dataset.attrs["license"]) == ("t", "CC0")
    assert scale_frame(dataset).iloc[0].tolist() == ["0-100", 0, 100, 1, 0]


@pytest.mark.parametrize(
    ("name", "mark"), [("a.tsv", "\t"), ("a.txt", "\t"), ("a.csv", ";"), ("a.csv", "\t"), ("a.txt", ",")]
)
def test_other_separators(write, name, mark):
    assert_answers(import_table(write(name, ANSWERS.replace(",", mark)), ImportOptions(scale=PERCENT)))


def test_byte_order_mark_and_windows_line_ends(write):
    path = write("a.csv", "\ufeff" + ANSWERS.replace("\n", "\r\n"))
    assert_answers(import_table(path, ImportOptions(scale=PERCENT)))


def test_parquet(tmp_path):
    frame = pd.DataFrame(
        {
            "model": pd.Categorical(["a", "a", "b", "b"]),
            "item": ["q1", "q2", "q1", "q2"],
            "is_correct": [True, False, True, False],
            "conf": pd.array([90, 50, None, 100], dtype="Int16"),
            "domain": ["x", "x", "y", "y"],
        }
    )
    frame.to_parquet(tmp_path / "a.parquet")
    assert_answers(import_table(tmp_path / "a.parquet", ImportOptions(scale=PERCENT)))


@pytest.mark.parametrize("shape", ["lines", "list", "columns"])
def test_json(write, shape):
    rows = [
        {"model": m, "item": i, "is_correct": c, "conf": k, "domain": d}
        for m, i, c, k, d in zip("aabb", ["q1", "q2"] * 2, [True, False] * 2, [90, 50, None, 100], "xxyy", strict=True)
    ]
    text = {
        "lines": "\n".join(json.dumps(row) for row in rows),
        "list": json.dumps(rows),
        "columns": json.dumps({key: [row[key] for row in rows] for key in rows[0]}),
    }[shape]
    path = write("a.jsonl" if shape == "lines" else "a.json", text)
    assert_answers(import_table(path, ImportOptions(scale=PERCENT)))


def test_number_of_options_makes_mafc(write):
    dataset = import_table(write("a.csv", ANSWERS), ImportOptions(scale=PERCENT, n_options=4))
    assert_answers(dataset, task="mafc")
    assert dataset["n_options"].values.tolist() == [4] * 4


def test_number_of_options_by_a_column(write):
    options = ImportOptions(scale=PERCENT, n_options_by=("domain", {"x": 2, "y": 4}))
    assert import_table(write("a.csv", ANSWERS), options)["n_options"].values.tolist() == [2, 2, 4, 4]
    with pytest.raises(DataError, match="2 rows have no number of options"):
        import_table(write("a.csv", ANSWERS), ImportOptions(scale=PERCENT, n_options_by=("domain", {"x": 2})))


def test_factors_constants_and_rows_asked_for(write):
    options = ImportOptions(
        scale=PERCENT, factors=(), constants={"dataset": "MMLU", "signal": "verbal"}, only={"model": ("b",)}
    )
    dataset = import_table(write("a.csv", ANSWERS), options)
    assert "domain" not in dataset
    assert "columns left out: domain" in notes(dataset)
    assert "2 of 4 rows imported" in notes(dataset)
    assert dataset["dataset"].values.tolist() == ["MMLU"] * 2
    assert dataset["signal"].values.tolist() == ["verbal"] * 2


def test_an_area_called_subject_is_no_participant(write):
    text = "model,subject,correct,confidence\na,law,1,90\na,law,0,20\n"
    dataset = import_table(write("a.csv", text), ImportOptions(scale=PERCENT))
    assert "participant" not in dataset
    assert dataset["subject"].values.tolist() == ["law", "law"]


def test_two_columns_can_name_the_unit(write):
    text = "agent,agent_id,correct,confidence\nhuman,1,1,3\ngpt,1,0,2\n"
    dataset = import_table(write("a.csv", text), ImportOptions(scale=ScaleDeclaration(1, 4)))
    assert dataset["participant"].values.tolist() == ["human/1", "gpt/1"]
    assert dataset["agent"].values.tolist() == ["human", "gpt"]


def test_names_with_leading_zeros_stay_names(write):
    text = "model,item,correct,confidence\na,007,1,3\na,08,0,2\n"
    assert import_table(write("a.csv", text))["item"].values.tolist() == ["007", "08"]


def test_correct_from_answers(write):
    text = "model,answer,correct_answer,confidence\na,A,A,90\na,B,C,50\na,,C,50\n"
    dataset = import_table(write("a.csv", text), ImportOptions(scale=PERCENT))
    assert dataset["correct"].values.tolist() == [1, 0, -1]
    assert "correct derived: answer equal to correct_answer" in notes(dataset)


def test_mapping_file_and_options_over_it(write):
    mapping = write(
        "map.toml",
        'schema = "1"\ntask = "mafc"\nn_options = 4\nlicense = "CC0"\nmissing = [-1]\n'
        '[columns]\nconfidence = "c"\nmodel = "who"\n[scale]\nlower = 0\nupper = 10\n',
    )
    table = write("t.csv", "who,c,correct\nm,-1,1\nm,8,0\nm,10,1\n")
    options = read_mapping(mapping).overridden_by(ImportOptions(license="MIT", columns={"correct": "correct"}))
    dataset = import_table(table, options)
    assert dataset.attrs["license"] == "MIT"
    assert np.isnan(dataset["confidence"].values).tolist() == [True, False, False]
    assert "-1 taken as missing: c 1" in notes(dataset)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("colums = 1\n", 'unknown key "colums"'),
        ("task = \n", "is not TOML"),
        ("[scale]\nlower = 0\n", "wrong kind"),
        ('n_options = "four"\n', "wrong kind"),
        ('task = "guess"\n', "unknown kind of task"),
    ],
)
def test_mapping_refusals(write, text, match):
    with pytest.raises(DataError, match=match):
        read_mapping(write("map.toml", text))


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("0-100", (0, 100)),
        ("1:7", (1, 7)),
        ("-1-1", (-1, 1)),
        ("-1:1", (-1, 1)),
        ("0 to 1", (0, 1)),
        ("[20,100]", (20, 100)),
    ],
)
def test_scale_ends(text, ends):
    assert parse_scale(text) == ends


WIDE = "item_id,m1_confidence,m2_correctness,m1_correctness,m2_confidence\n1,9,1,0.0,9.0\n2,cell_empty,0,1,\n3,7,,1,0\n"


def test_wide_table(write):
    dataset = import_table(write("w.csv", WIDE))
    frame = frame_of(dataset)
    assert frame["model"].tolist() == ["m1"] * 3 + ["m2"] * 3
    assert frame["item"].tolist() == ["1", "2", "3"] * 2
    assert frame["correct"].astype("float").fillna(-1).tolist() == [0, 1, 1, 1, 0, -1]
    assert frame["confidence"].fillna(-1).tolist() == [9, -1, 7, 9, -1, 0]
    assert frame["missing_reason"].fillna("").tolist() == ["", "cell_empty", "", "", "blank", ""]
    assert "3 rows × 2 models read as 6 answers" in notes(dataset)


def test_wide_table_with_named_endings(write):
    text = WIDE.replace("_confidence", ".c").replace("_correctness", ".ok")
    dataset = import_table(write("w.csv", text), ImportOptions(wide=(".c", ".ok")))
    assert dataset.sizes["trial"] == 6
    with pytest.raises(DataError, match="2 models have one column of two"):
        import_table(write("w.csv", text.replace("m2.ok", "m3.ok")), ImportOptions(wide=(".c", ".ok")))


def test_confidence_database_columns(write):
    text = "Subj_idx,Stimulus,Response,Confidence,RT_dec\n1,1,1,4,0.5\n1,2,1,1,0.5\n2,2,2,3,0.5\n2,1,-10,-10,-10\n"
    dataset = import_table(write("data_X_2019.csv", text), ImportOptions(missing=((None, "-10"),)))
    frame = frame_of(dataset)
    assert frame["participant"].tolist() == ["1", "1", "2", "2"]
    assert frame["stimulus"].tolist() == [0, 1, 1, 0]
    assert frame["response"].astype("float").fillna(-1).tolist() == [0, 0, 1, -1]
    assert frame["correct"].astype("float").fillna(-1).tolist() == [1, 0, 1, -1]
    assert "stimulus coded as 1 = 0, 2 = 1" in notes(dataset)
    assert json.loads(dataset.attrs["import_labels"])["stimulus"] == {"1": 0, "2": 1}


def test_labels_in_the_order_asked_for(write):
    text = "participant,stimulus,response,confidence\n1,left,left,1\n1,right,left,2\n"
    path = write("a.csv", text)
    assert import_table(path)["stimulus"].values.tolist() == [0, 1]
    assert import_table(path, ImportOptions(labels=("right", "left")))["stimulus"].values.tolist() == [1, 0]
    with pytest.raises(DataError, match="labels without a code"):
        import_table(path, ImportOptions(labels=("up", "left")))


def test_labels_that_differ_need_codes(write):
    path = write("a.csv", "participant,stimulus,response,confidence\n1,0,left,1\n1,90,right,2\n")
    with pytest.raises(DataError, match="different labels"):
        import_table(path)
    codes = {"stimulus": {"0": 0, "90": 1}, "response": {"left": 0, "right": 1}}
    dataset = import_table(path, ImportOptions(label_codes=codes))
    assert dataset["correct"].values.tolist() == [1, 1]


def test_raw_replies_through_the_parser(write):
    text = 'model,correct,reply\na,1,"So B.\nConfidence: 85%"\na,0,no idea\na,1,Confidence: 0.4\na,1,Confidence: 1.0\n'
    options = ImportOptions(columns={"confidence": "reply"}, scale=PERCENT)
    path = write("a.csv", text)
    dataset = import_table(path, options)
    assert dataset["confidence_status"].values.tolist() == ["percent", "missing", "unit_interval", "ambiguous"]
    assert dataset["confidence_text"].values.tolist()[1] == "no idea"
    np.testing.assert_allclose(dataset["confidence"].values, [85, np.nan, 40, np.nan], rtol=1e-6)
    assert "2 without a value" in notes(dataset)
    literal = import_table(path, ImportOptions(columns={"confidence": "reply"}, scale=PERCENT, ambiguous="literal"))
    assert literal["confidence"].values[3] == 1
    with pytest.raises(DataError, match="scale is not declared"):
        import_table(path, ImportOptions(columns={"confidence": "reply"}))


def test_published_estimates(write):
    text = "model,auroc,ci_lo,ci_hi\na,0.75,0.65,0.85\n"
    options = ImportOptions(columns={"estimate": "auroc", "lower": "ci_lo", "upper": "ci_hi"})
    dataset = import_table(write("e.csv", text), options)
    assert dataset.attrs["hmeta_layout"] == "estimates"
    np.testing.assert_allclose(dataset["standard_error"].values, 0.2 / 3.919928, rtol=1e-6)


REFUSALS = [
    ("a.csv", "", {}, "the file is empty"),
    ("a.csv", "model,correct,confidence\n", {}, "no rows"),
    ("a.csv", "model,model,confidence\na,b,1\n", {}, "occurs twice"),
    ("a.csv", "model,correct,confidence\na,1\n", {}, "2 fields and the header 3"),
    ("a.csv", "model,correct,confidence\na,1,2,3\n", {}, "4 fields and the header 3"),
    ("a.csv", "correct,confidence\n1,2\n", {}, "no column for participant"),
    ("a.csv", "model,correct\na,1\n", {}, "no column for confidence"),
    ("a.csv", "model,confidence\na,1\n", {}, "no column for correct"),
    ("a.csv", "model,correct,confidence\na,0.5,1\na,1,2\n", {}, "neither right nor wrong"),
    ("a.csv", "model,correct,confidence\na,1,1\na,0,2\n", {"columns": {"model": "mdel"}}, '"mdel" is not in the file'),
    ("a.csv", "model,correct,confidence\na,1,1\na,0,2\n", {"task": "binary"}, "no column for stimulus"),
    ("a.csv", "model,correct,confidence\na,1,1\na,0,2\n", {"task": "mafc"}, "no column for n_options"),
    ("a.csv", "model,correct,confidence\na,1,1\na,0,2\n", {"missing": ((None, "-9"),)}, "occurs nowhere"),
    ("a.csv", "model,correct,confidence\na,1,1\na,0,2\n", {"only": {"model": ("z",)}}, "no row has model z"),
    ("a.csv", "model,correct,confidence\na,1,1\na,0,2\n", {"factors": ("domain",)}, "not among the further columns"),
    ("a.csv", "model,correct,confidence\na,1,3\na,0,2\na,1,99\na,0,99\n", {}, "looks like a code for missing"),
    (
        "a.csv",
        "model,correct,confidence\na,1,1\na,0,2\n",
        {"columns": {"stimulus": "correct", "correct": "correct"}},
        "cannot be both",
    ),
    ("a.jsonl", '{"model": "a"}\nnot json\n', {}, "this is not JSON"),
    ("a.jsonl", '{"model": "a"}\n[1]\n', {}, "not a JSON object"),
    ("a.json", '{"eval": {}, "samples": []}', {}, "no table"),
    ("a.parquet", "PAR1 and no more", {}, "truncated or damaged"),
    ("a.docx", "text", {}, "no importer recognises"),
]


@pytest.mark.parametrize(("name", "text", "options", "match"), REFUSALS)
def test_refusals(write, name, text, options, match):
    with pytest.raises(DataError, match=match):
        import_table(write(name, text), ImportOptions(**options))


def test_text_that_is_not_utf8(tmp_path):
    (tmp_path / "a.csv").write_bytes("model,correct,confidence\nå,1,2\n".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        import_table(tmp_path / "a.csv")


def test_missing_file_names_its_neighbour(write):
    path = write("answers.csv", ANSWERS)
    with pytest.raises(DataError, match=r"answers\.csv"):
        import_table(path.with_name("answer.csv"))


def test_unknown_importer_is_refused(write):
    with pytest.raises(DataError, match="delimited"):
        choose_importer(write("a.csv", ANSWERS), "delimitd")


# Counts of ratings


def assert_rating_counts(dataset, units=("1",)):
    table = count_table(dataset, ["participant"])
    assert table.cells["participant"].tolist() == list(units)
    expected = {
        (2 * s + r, k): array[i]
        for s, array in enumerate((S1, S2))
        for i, (r, k) in enumerate([(0, 4), (0, 3), (0, 2), (0, 1), (1, 1), (1, 2), (1, 3), (1, 4)])
    }
    for cell in range(len(units)):
        mine = table.cell == cell
        found = dict(zip(zip(table.outcome[mine], table.confidence[mine], strict=True), table.count[mine], strict=True))
        assert found == expected


RATING_COUNT_TEXTS = {
    "assignments.txt": f"nR_S1 = {S1}\nnR_S2 = {S2}\n",
    "matlab.m": f"nR_S1 = [{' '.join(map(str, S1))}];\nnR_S2 = [{' '.join(map(str, S2))}];\n",
    "columns.csv": "nR_S1,nR_S2\n" + "".join(f"{a},{b}\n" for a, b in zip(S1, S2, strict=True)),
    "numbered.csv": ",".join([f"nR_S1_{i}" for i in range(1, 9)] + [f"nR_S2_{i}" for i in range(1, 9)])
    + "\n"
    + ",".join(map(str, S1 + S2))
    + "\n",
    "lists.csv": f'nR_S1,nR_S2\n"{S1}","{S2}"\n',
    "object.json": json.dumps({"nR_S1": S1, "nR_S2": S2}),
    "objects.jsonl": json.dumps({"nR_S1": S1, "nR_S2": S2}),
}


@pytest.mark.parametrize("name", RATING_COUNT_TEXTS)
def test_rating_counts_of_one_participant(write, name):
    assert_rating_counts(import_table(write(name, RATING_COUNT_TEXTS[name])))


MANY = {
    "long.csv": "subject,nR_S1,nR_S2\n"
    + "".join(f"{s},{a},{b}\n" for s in ("u", "v") for a, b in zip(S1, S2, strict=True)),
    "lists.csv": "subject,nR_S1,nR_S2\n" + "".join(f'{s},"{S1}","{S2}"\n' for s in ("u", "v")),
    "nested.json": json.dumps({"participant": ["u", "v"], "nR_S1": [S1, S1], "nR_S2": [S2, S2]}),
    "list.json": json.dumps([{"participant": s, "nR_S1": S1, "nR_S2": S2} for s in ("u", "v")]),
    "keys.json": json.dumps({s: {"nR_S1": S1, "nR_S2": S2} for s in ("u", "v")}),
    "lines.jsonl": "\n".join(json.dumps({"subject": s, "nR_S1": S1, "nR_S2": S2}) for s in ("u", "v")),
}


@pytest.mark.parametrize("name", MANY)
def test_rating_counts_of_two_participants(write, name):
    assert_rating_counts(import_table(write(name, MANY[name])), units=("u", "v"))


def _cells(*arrays):
    cells = np.empty((1, len(arrays)), dtype=object)
    for i, array in enumerate(arrays):
        cells[0, i] = np.asarray(array, dtype=float)
    return cells


@pytest.mark.parametrize(
    ("variables", "units"),
    [
        ({"nR_S1": S1, "nR_S2": S2}, ("1",)),
        ({"nR_S1": np.array([S1]).T, "nR_S2": np.array([S2]).T}, ("1",)),
        ({"nR_S1": [S1, S1], "nR_S2": [S2, S2]}, ("1", "2")),
        ({"nR_S1": _cells(S1), "nR_S2": _cells(S2)}, ("1",)),
        ({"nR_S1": _cells(S1, S1), "nR_S2": _cells(S2, S2)}, ("1", "2")),
        ({"data": {"nR_S1": S1, "nR_S2": S2}}, ("1",)),
    ],
)
def test_rating_counts_in_matlab_files(tmp_path, variables, units):
    savemat(tmp_path / "c.mat", variables)
    assert_rating_counts(import_table(tmp_path / "c.mat"), units=units)


def test_matlab_refusals(tmp_path):
    savemat(tmp_path / "c.mat", {"nR_S1": S1, "other": S2})
    with pytest.raises(DataError, match="no variable nR_S2"):
        import_table(tmp_path / "c.mat")
    whole = (tmp_path / "c.mat").read_bytes()
    (tmp_path / "short.mat").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="damaged"):
        import_table(tmp_path / "short.mat")


def test_participants_with_other_numbers_of_levels_are_refused(write):
    text = json.dumps({"u": {"nR_S1": S1, "nR_S2": S2}, "v": {"nR_S1": S1[:6], "nR_S2": S2[:6]}})
    with pytest.raises(DataError, match="different numbers of rating levels"):
        import_table(write("c.json", text))


def test_the_caller_s_table_is_not_changed():
    from hmeta.trials.from_table import from_table

    frame = pd.DataFrame({"model": ["a", "a"], "correct": ["1", "0"], "confidence": ["4", "-9"]})
    before = frame.copy(deep=True)
    from_table(frame, ImportOptions(missing=((None, "-9"),), scale=ScaleDeclaration(1, 4)), path="t.csv")
    pd.testing.assert_frame_equal(frame, before)


def test_long_numbers_stay_names_of_their_own(write):
    ids = [1234567, 1234568, 123456789012345678, 12345678901234567890, 12345678901234567891]
    text = "participant,correct,confidence\n" + "".join(f"{i},1,{3 + i % 2}\n" for i in ids)
    assert import_table(write("a.csv", text))["participant"].values.tolist() == [str(i) for i in ids]
    rows = "\n".join(json.dumps({"participant": i, "correct": 1, "confidence": 3 + i % 2}) for i in ids)
    assert import_table(write("a.jsonl", rows))["participant"].values.tolist() == [str(i) for i in ids]


def test_numbers_as_labels_are_exact(tmp_path):
    frame = pd.DataFrame({"participant": [1000001, 1000002], "item": [0.1234567, 0.1234568], "correct": 1})
    frame.assign(confidence=[3, 4]).to_parquet(tmp_path / "a.parquet")
    dataset = import_table(tmp_path / "a.parquet")
    assert dataset["participant"].values.tolist() == ["1000001", "1000002"]
    assert dataset["item"].values.tolist() == ["0.1234567", "0.1234568"]


def test_a_unit_of_two_columns_is_missing_where_a_part_is(write):
    text = "agent,agent_id,correct,confidence\nhuman,1,1,3\ngpt,,0,2\n"
    assert import_table(write("a.csv", text))["participant"].values.tolist() == ["human/1", ""]


@pytest.mark.parametrize(
    ("content", "received"),
    [
        (ANSWERS.encode("utf-16"), "UTF-16 text"),
        (ANSWERS.replace("a,q1", "\u00e9,q1").encode("latin-1"), "byte 0xe9 at position 34"),
        (ANSWERS.replace("a,q1", "\0,q1").encode(), "a null byte at position 34"),
    ],
)
def test_other_encodings_are_named(tmp_path, content, received):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match="not UTF-8 text") as caught:
        import_table(tmp_path / "a.csv", scale="0-100")
    assert caught.value.received == received
    assert caught.value.mend


def test_an_open_quotation_mark_is_refused_with_its_line(write):
    with pytest.raises(DataError, match="line 5") as caught:
        import_table(write("a.csv", ANSWERS.replace("b,q1", '"b,q1')))
    assert caught.value.mend


def test_line_separators_inside_a_reply_end_no_row(write):
    reply = "one\u2028two\x85three"
    rows = "\n".join(
        json.dumps({"model": "a", "reply": reply, "correct": c, "confidence": 3 + c}, ensure_ascii=False)
        for c in (0, 1)
    )
    assert import_table(write("a.jsonl", rows))["reply"].values.tolist() == [reply] * 2
    text = f"model,reply,correct,confidence\na,{reply},1,3\na,{'x' * 200_000},0,4\n"
    assert import_table(write("a.csv", text))["reply"].values.tolist() == [reply, "x" * 200_000]


def test_a_code_for_missing_off_the_declared_scale_is_refused(write):
    text = "model,correct,confidence\n" + "a,1,90\na,0,50\na,1,-1\n" * 5
    with pytest.raises(DataError, match="looks like a code for missing") as caught:
        import_table(write("a.csv", text), scale="0-100")
    assert "--missing -1" in str(caught.value)
    assert np.isnan(import_table(write("a.csv", text), scale="0-100", missing=[-1])["confidence"].values).sum() == 5
    assert import_table(write("a.csv", text), scale="-1:100")["confidence"].values.min() == -1


@pytest.mark.parametrize("values", [("4.5", "4"), ("1", "4"), ("four", "4"), ("99999", "4")])
def test_impossible_numbers_of_options_are_refused(write, values):
    text = "model,correct,confidence,n_options\n" + "".join(f"a,1,{3 + i},{value}\n" for i, value in enumerate(values))
    with pytest.raises(DataError, match="number of options is impossible") as caught:
        import_table(write("a.csv", text))
    assert caught.value.received == values[0]
    assert "rows (from 0) 0" in str(caught.value)


def test_a_declared_number_of_options_may_not_contradict_the_file(write):
    text = "model,correct,confidence,n_options\na,1,3,4\na,0,2,\n"
    with pytest.raises(DataError, match="contradicts the file"):
        import_table(write("a.csv", text), n_options=5)
    assert import_table(write("a.csv", text), n_options=4)["n_options"].values.tolist() == [4, 4]


@pytest.mark.parametrize("step", [-1.0, float("nan"), 101.0])
def test_an_impossible_step_is_refused(step):
    with pytest.raises(DataError, match="step of the confidence scale"):
        ScaleDeclaration(0, 100, step)
    with pytest.raises(DataError, match="has no end"):
        ScaleDeclaration(0, float("inf"))


def test_declarations_as_arguments(write):
    path = write("a.csv", ANSWERS.replace("domain", "area"))
    plain = import_table(path, scale="0-100", task="mafc", n_options=4, columns={"dataset": "area"}, license="CC0")
    options = ImportOptions(scale=PERCENT, task="mafc", n_options=4, columns={"dataset": "area"}, license="CC0")
    assert plain.identical(import_table(path, options))
    assert plain.identical(import_table(path, options, scale=(0, 100)))
    assert declare(scale={"lower": 1, "upper": 7, "reversed": True}).scale == ScaleDeclaration(1, 7, None, True)
    assert declare(missing=[-1, ("conf", "x")]).missing == ((None, "-1"), ("conf", "x"))
    assert declare() == ImportOptions()


@pytest.mark.parametrize(
    ("declared", "match"),
    [
        ({"scal": "0-100"}, 'unknown declaration "scal"'),
        ({"n_options": 4.5}, "wrong kind"),
        ({"ungraded": "yes"}, "wrong kind"),
        ({"labels": "a,b"}, "wrong kind"),
        ({"scale": (1, 2, 3)}, "wrong kind"),
        ({"scale": "high"}, "scale cannot be read"),
    ],
)
def test_declarations_of_the_wrong_kind(declared, match):
    with pytest.raises(DataError, match=match):
        declare(**declared)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("n_options = 4.7\n", "wrong kind"),
        ('ungraded = "true"\n', "wrong kind"),
        ('[scale]\nlower = 0\nupper = 1\nreversed = "no"\n', "wrong kind"),
        ("[scale]\nlower = 1\nupper = 0\n", "map.toml: the confidence scale is empty"),
    ],
)
def test_a_mapping_is_never_taken_in_part(write, text, match):
    with pytest.raises(DataError, match=match):
        read_mapping(write("map.toml", text))


def test_counts_of_one_participant_twice_are_refused(write):
    twice = [{"participant": "p", "nR_S1": S1, "nR_S2": S2}, {"participant": "p", "nR_S1": S2, "nR_S2": S1}]
    with pytest.raises(DataError, match="a participant occurs twice"):
        import_table(write("c.json", json.dumps(twice)))
    head = "participant," + ",".join(f"nR_S{s}_{i}" for s in (1, 2) for i in range(1, 9))
    row = "p," + ",".join(map(str, S1 + S2))
    with pytest.raises(DataError, match="a participant occurs twice"):
        import_table(write("c.csv", f"{head}\n{row}\n{row}\n"))


def test_counts_by_condition_stay_apart(write):
    rows = [f"p,{c},{a},{b}" for c in ("easy", "hard") for a, b in zip(S1, S2, strict=True)]
    by_row = import_table(write("r.csv", "participant,condition,nR_S1,nR_S2\n" + "\n".join(rows) + "\n"))
    entries = [{"participant": "p", "condition": c, "nR_S1": S1, "nR_S2": S2} for c in ("easy", "hard")]
    by_entry = import_table(write("c.json", json.dumps(entries)))
    for dataset in (by_row, by_entry):
        assert dataset["condition"].values.tolist() == ["easy", "hard"]
        assert dataset["scale_upper"].values.tolist() == [4.0]
        assert dataset["count"].values.sum() == 2 * (sum(S1) + sum(S2))


def test_counts_without_an_owner_are_refused(write):
    with pytest.raises(DataError, match="does not say whose counts"):
        import_table(write("r.csv", "participant,nR_S1,nR_S2\np,3,1\n,2,2\np,1,3\np,0,4\n"))


def test_matlab_7_3_is_refused_with_the_way_to_save_it_again(tmp_path):
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    path = tmp_path / "counts.mat"
    path.write_bytes(head.ljust(512, b"\x00") + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(DataError, match=r"(?s)MATLAB format 7\.3.*'-v7'"):
        import_table(path)
