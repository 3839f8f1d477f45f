"""Model files: what is read, and that every unknown word is named with the nearest valid one."""

import pytest

from hmeta.core.errors import SpecError
from hmeta.spec import load_model, parse_model, render_model, shipped_models, with_formulas

TEXT = """
schema = "1"
summary = "S"
[likelihood]
name = "mafc"
noise = "normal"
rule = "max"
[parameters.d]
formula = "1 + (1 | model)"
[parameters.M]
link = "log"
formula = "0 + scale"
[parameters.criteria]
formula = "1 | model:scale"
pooling = "partial"
[priors]
"M.scale" = { family = "normal", loc = 0.8, scale = 0.5 }
"criteria.sd" = { family = "half_normal", scale = 1 }
"""


def test_a_model_file_is_read_as_written():
    spec = parse_model(TEXT, "m.toml")
    assert (spec.schema, spec.summary, spec.likelihood) == ("1", "S", "mafc")
    assert spec.options == {"noise": "normal", "rule": "max"}
    assert {n: (p.formula, p.link) for n, p in spec.parameters.items()} == {
        "d": ("1 + (1 | model)", "identity"),
        "M": ("0 + scale", "log"),
    }
    assert (spec.criteria.formula, spec.criteria.pooling) == ("1 | model:scale", "partial")
    assert spec.priors["M.scale"].arguments == {"loc": 0.8, "scale": 0.5}
    assert spec.parameters["M"].where == "m.toml, parameters.M.formula"


def test_rendered_text_reads_back_equal():
    spec = parse_model(TEXT, "m.toml")
    assert parse_model(render_model(spec)) == spec
    odd = parse_model(TEXT.replace('"S"', r'"é \" \\ \n \u007f 🙂"'))
    assert odd.summary == 'é " \\ \n \x7f 🙂'
    assert parse_model(render_model(odd)).summary == odd.summary


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("summary", "sumary", ["m.toml", "sumary", 'Did you mean "summary"?']),
        ('schema = "1"', 'schema = "2"', ["m.toml, schema", "'2'", '"1"']),
        ('schema = "1"', "", ["schema", "missing"]),
        ('name = "mafc"', 'name = "mafcc"', ["m.toml, likelihood.name", "mafcc", "binary, mafc", 'mean "mafc"']),
        ('name = "mafc"', "", ["m.toml, likelihood", "name"]),
        ('noise = "normal"', 'noise = "gumble"', ["likelihood.noise", "gumble", 'mean "gumbel"']),
        ('noise = "normal"', 'noise = "gumbel"', ["likelihood", "rule", "normal"]),
        ('noise = "normal"', "noise = 1", ["likelihood.noise", "1"]),
        ('rule = "max"', 'meta_c = "absolute"', ["m.toml, likelihood", "meta_c", "noise, rule"]),
        ("[parameters.M]", "[parameters.m]", ["m.toml, parameters", '"m"', "d, M, criteria"]),
        ("[parameters.M]", "[parameters.c]", ["m.toml, parameters", '"c"']),
        ('link = "log"', 'link = "logit"', ["parameters.M.link", "logit", 'mean "log"']),
        ('link = "log"', 'pooling = "none"', ["parameters.M", "pooling"]),
        ('pooling = "partial"', "pooling = true", ["parameters.criteria.pooling", "True", "none, partial"]),
        ('formula = "0 + scale"', "formula = 1", ["parameters.M.formula"]),
        ('formula = "0 + scale"', "", ["parameters.M", "formula", "missing"]),
        ('formula = "0 + scale"', "formula = \"os.system('ls')\"", ["parameters.M.formula", "os.system"]),
        ('formula = "1 | model:scale"', 'formula = "1 + model"', ["parameters.criteria.formula"]),
        ('"M.scale"', '"m.scale"', ["m.toml, priors", "m.scale", 'Did you mean "M.scale"?']),
        ('"M.scale"', "M.scale", ["priors", "in quotes", '"M.scale"']),
        ('"M.scale"', '"M"', ["priors", "M.TERM"]),
        ('"normal", loc', '"norml", loc', ["M.scale", "norml", 'mean "normal"']),
        ('"normal", loc', '"half_normal", loc', ["M.scale", "half_normal", "normal, student_t"]),
        ("loc = 0.8", "lok = 0.8", ["M.scale", "lok", 'mean "loc"']),
        ("loc = 0.8, ", "", ["M.scale", '"loc" is missing']),
        ("scale = 0.5", "scale = 0", ["M.scale", "positive", "0"]),
        ("scale = 0.5", "scale = nan", ["M.scale", "finite"]),
        ("scale = 0.5", "scale = true", ["M.scale", "finite"]),
        ("scale = 0.5", 'scale = "a"', ["M.scale", "finite"]),
        ("[likelihood]", "[likelihood", ["m.toml", "not TOML"]),
        ("[priors]", "priors = 1\n[x]", ["m.toml"]),
    ],
)
def test_what_is_unknown_is_named(old, new, parts):
    assert old in TEXT
    with pytest.raises(SpecError) as refusal:
        parse_model(TEXT.replace(old, new), "m.toml")
    for part in parts:
        assert part in str(refusal.value)


def test_formulas_are_replaced_by_name():
    spec = with_formulas(parse_model(TEXT, "m.toml"), {"M": "1 + age + (1 | model)", "criteria": "1 | model"})
    assert (spec.parameters["M"].formula, spec.parameters["M"].link) == ("1 + age + (1 | model)", "log")
    assert spec.parameters["M"].where == "--formula M"
    assert (spec.criteria.formula, spec.criteria.pooling) == ("1 | model", "partial")
    with pytest.raises(SpecError, match='unknown parameter "c"'):
        with_formulas(spec, {"c": "1"})
    with pytest.raises(SpecError, match="--formula d"):
        with_formulas(spec, {"d": "os.system('ls')"})


def test_an_optional_parameter_is_added_by_a_formula():
    spec = with_formulas(load_model("binary_single"), {"sd_ratio": "1"})
    assert list(spec.parameters) == ["d", "c", "M", "sd_ratio"]
    assert spec.parameters["sd_ratio"].link == "log"


def test_models_are_found_by_name_and_by_path(tmp_path, monkeypatch):
    assert load_model("mafc_single") == load_model("mafc_single.toml")
    assert load_model("mafc_single").where == "models/mafc_single.toml"
    path = tmp_path / "mine.toml"
    path.write_text(TEXT)
    assert load_model(path).where == str(path)
    monkeypatch.chdir(tmp_path)
    assert load_model("mine.toml").summary == "S"


def test_models_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(SpecError, match='Did you mean "mafc_pooled"'):
        load_model("mafc_poled")
    with pytest.raises(SpecError, match="there is no model"):
        load_model(tmp_path / "absent.toml")
    with pytest.raises(SpecError, match="cannot be read"):
        load_model(tmp_path)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="UTF-8"):
        load_model(tmp_path / "binary.toml")
    (tmp_path / "big.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(SpecError, match="at most"):
        load_model(tmp_path / "big.toml")


def test_every_shipped_model_says_what_it_is_for():
    assert all(load_model(name).summary for name in shipped_models())
