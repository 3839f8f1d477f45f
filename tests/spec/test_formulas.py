"""Formulas: design numbers against hand-written matrices, and hostile formulas that must run nothing."""

import builtins
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmeta.core.errors import SpecError
from hmeta.spec.formula_parts import parse_criteria, parse_formula
from hmeta.spec.formulas import ENVIRONMENT, evaluate

DATA = pd.DataFrame(
    {
        "scale": ["a", "b", "c", "a"],
        "log": [10.0, 20.0, 30.0, 40.0],
        "x": [1, 2, 3, 4],
        "g": ["u", "u", "v", "v"],
        "step": [5, 10, 10, 5],
    }
)


def design(formula: str) -> dict[str, tuple[tuple[str, ...], list[list[float]]]]:
    parsed = parse_formula(formula, "m.toml, parameters.M.formula")
    return {t.name: (t.levels, t.matrix.tolist()) for t in evaluate(parsed.common, DATA, parsed.where)}


ONES = (("",), [[1.0]] * 4)
CELL_MEANS = (("a", "b", "c"), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
CONTRASTS = (("b", "c"), [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("1", {"Intercept": ONES}),
        ("(1 | g)", {"Intercept": ONES}),
        ("0 + (1 | g)", {}),
        ("0 + scale", {"scale": CELL_MEANS}),
        ("scale - 1", {"scale": CELL_MEANS}),
        ("1 + scale", {"Intercept": ONES, "scale": CONTRASTS}),
        ("0 + (x + scale)", {"x": (("",), [[1.0], [2.0], [3.0], [4.0]]), "scale": CELL_MEANS}),
        ("0 + x:g", {"x:g": (("u", "v"), [[1.0, 0.0], [2.0, 0.0], [0.0, 3.0], [0.0, 4.0]])}),
        ("1 + C(step)", {"Intercept": ONES, "step": (("10",), [[0.0], [1.0], [1.0], [0.0]])}),
        (
            "0 + step + C(step)",
            {
                "step": (("",), [[5.0], [10.0], [10.0], [5.0]]),
                "C(step)": (("5", "10"), [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]),
            },
        ),
        (
            'T(scale, ref="b")',
            {
                "Intercept": ONES,
                'T(scale, ref="b")': (("a", "c"), [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]),
            },
        ),
        (
            "S(scale)",
            {"Intercept": ONES, "S(scale)": (("a", "b"), [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [1.0, 0.0]])},
        ),
        ("center(x)", {"Intercept": ONES, "center(x)": (("",), [[-1.5], [-0.5], [0.5], [1.5]])}),
        ("0 + I(x**2 - x/2)", {"I(x ** 2 - x / 2)": (("",), [[0.5], [3.0], [7.5], [14.0]])}),
    ],
)
def test_design_equals_the_hand_written_matrix(formula, expected):
    assert design(formula) == expected


def test_transforms_equal_their_definition():
    z = np.array([-3.0, -1.0, 1.0, 3.0]) / np.sqrt(5.0)
    for formula, name in (("scale(x)", "scale(x)"), ("standardize(x)", "standardize(x)")):
        np.testing.assert_allclose(np.ravel(design(formula)[name][1]), z, atol=1e-12)
    np.testing.assert_allclose(
        np.ravel(design("log2(step)")["log2(step)"][1]),
        [2.321928094887362, 3.321928094887362] * 1 + [3.321928094887362, 2.321928094887362],
        atol=1e-12,
    )
    quadratic = np.array(design("poly(x, 2)")["poly(x, 2)"][1])
    np.testing.assert_allclose(quadratic, np.array([[-3, 1], [-1, -1], [1, -1], [3, 1]]) / [np.sqrt(20), 2], atol=1e-12)


def test_a_column_named_as_a_function_is_a_column():
    assert design("0 + log")["log"] == (("",), [[10.0], [20.0], [30.0], [40.0]])
    np.testing.assert_allclose(np.ravel(design("0 + log(log)")["log(log)"][1]), np.log([10, 20, 30, 40]), atol=1e-15)
    assert design("0 + scale")["scale"] == CELL_MEANS
    assert parse_formula("1 + (1 | scale)", "w").groups[0].factor == ("scale",)


@pytest.mark.parametrize(
    ("formula", "groups"),
    [
        ("1 + (1 | g)", [(("g",), True)]),
        ("1 + (x || g)", [(("g",), False)]),
        ("1 + (1 | a:b)", [(("a", "b"), True)]),
        ("1 + (1 | a/b)", [(("a",), True), (("a", "b"), True)]),
        ("1 + (1 | a*b)", [(("a",), True), (("b",), True), (("a", "b"), True)]),
        ("1 + (1 | a + b)", [(("a",), True), (("b",), True)]),
        ("1 + ((1 | a) + (1 | b))", [(("a",), True), (("b",), True)]),
    ],
)
def test_group_terms_expand_as_in_lme4(formula, groups):
    assert [(g.factor, g.correlated) for g in parse_formula(formula, "w").groups] == groups


def test_criteria_name_their_columns():
    assert parse_criteria("1", "w") == ()
    assert parse_criteria("1 | model:scale", "w") == ("model", "scale")
    assert parse_criteria("(1 | model)", "w") == ("model",)


@pytest.mark.parametrize("formula", ["0", "x", "1 + x", "x | g", "1 | a + b", "1 | a/b", "1 + (1 | g)"])
def test_criteria_refuse_more_than_one_grouping(formula):
    with pytest.raises(SpecError, match="criteria"):
        parse_criteria(formula, "criteria")


HOSTILE = [
    "os.system('touch pwned')",
    "1 + os.system('touch pwned')",
    "__import__('os').system('touch pwned')",
    "x.__class__",
    "scale.values.tofile('pwned')",
    "I(x.values)",
    "I(__import__('os'))",
    "log(os.getcwd())",
    "np.log(x)",
    "eval('1')",
    "exec('import os')",
    "open('pwned', 'w')",
    "getattr(x, 'values')",
    "{x + 1}",
    "`x`",
    "`x",
    "x[0]",
    "x['a']",
    "[x for x in y]",
    "lambda: 1",
    "(lambda x: x)(1)",
    "x if x else x",
    "x; import os",
    "x\nimport os",
    "x := 1",
    "x == 1",
    "x > 1",
    "x @ g",
    "x % 2",
    "f'{x}'",
    "log(x)(x)",
    "log(x)[0]",
    "I(log)(x)",
    "x(1)",
    "(x)(1)",
    "1(x)",
    "'a'(x)",
    "exp",
    "log()",
    "log(x, g)",
    "log(x, base=2)",
    "log(x=x)",
    "log('x')",
    "log(scale)",
    "offset(x)",
    "prop(x, g)",
    "B(x)",
    "bs(x, df=4)",
    "hsgp(x)",
    "poly(x, 1000000000)",
    "poly(x, degree=True)",
    "poly(x, degree=x)",
    "poly(poly(x, 2), 2)",
    "C(x + 1)",
    "C(C(x))",
    "C(x, Treatment('a'))",
    "C(x, levels=[1])",
    "T(scale, ref=g)",
    "T(scale, ref='nothing')",
    "I(9**9**9**9)",
    "I(x**9**9**9)",
    "I(x**g)",
    "I((9**9)**9 + x)",
    "I(-x**2)",
    "I(x:g)",
    "I(True + x)",
    "x**2",
    "(x + g)**50",
    "2 + x",
    "True",
    "None",
    "'text'",
    "y ~ x",
    "~ x",
    "x +",
    "+",
    "()",
    "(",
    "x)",
    "x y",
    "",
    "   ",
    "1 | g",
    "x + 1 | g",
    "(1 | g | x)",
    "(1 | g):x",
    "x * (1 | g)",
    "1 - (1 | g)",
    "x - (x + (1 | g))",
    "(1 | log(x))",
    "(1 | 1)",
    "(os.system('touch pwned') | g)",
    "(1 | os.system('touch pwned'))",
    "(1 | g) + (0 + x | g)",
    "(0 | g)",
    "(1 ||| g)",
    "(" * 500 + "x" + ")" * 500,
    "-" * 400 + "1",
    "+".join(["x"] * 400),
    "x" * 5000,
    "*".join(f"c{i}" for i in range(12)),
    "x\x00",
    "x\\",
    "𝐱 + \u202e1",
    "1e9",
    "0x10",
    "1_000",
    "...",
    "x=1",
    "*x",
    "**x",
]


@pytest.mark.parametrize("formula", HOSTILE)
def test_hostile_formulas_are_refused_and_run_nothing(formula, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _forbid_running(monkeypatch)
    with pytest.raises(SpecError) as refusal:
        _through(formula)
    assert "m.toml, parameters.M.formula" in str(refusal.value)
    assert not list(tmp_path.iterdir())


def _forbid_running(monkeypatch):
    def ran(*_args, **_kwargs):
        raise AssertionError("a formula ran code")

    for module, name in ((os, "system"), (os, "popen"), (subprocess, "Popen"), (builtins, "exec")):
        monkeypatch.setattr(module, name, ran)


def _through(formula: str) -> None:
    parsed = parse_formula(formula, "m.toml, parameters.M.formula")
    for name in parsed.columns:
        if name not in DATA:
            raise SpecError(f"no column {name}", where=parsed.where)
    evaluate(parsed.common, DATA, parsed.where)
    for group in parsed.groups:
        if not evaluate(group.expression, DATA, parsed.where):
            raise SpecError("no coefficient", where=parsed.where)


NAMES = "x scale g log os np eval I C poly 1 0 2 __class__ lambda system import"
MARKS = ". , ( ) | : + - * / ** = ' \" [ ] { } ` ~"
PIECES = st.sampled_from([*NAMES.split(), *MARKS.split(), " "])


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, min_size=1, max_size=14).map("".join) | st.text(max_size=30))
def test_any_text_is_a_design_or_a_refusal(formula):
    before = set(os.listdir())
    try:
        parsed = parse_formula(formula, "w")
        _through(formula)
    except SpecError:
        parsed = None
    assert parsed is None or set(parsed.columns) <= set(DATA)
    assert set(os.listdir()) - before <= {".hypothesis"}


def test_the_environment_holds_numerical_functions_only():
    assert set(ENVIRONMENT) == {"log", "log2", "log10", "exp", "sqrt", "abs"}
    assert all(isinstance(f, np.ufunc) for f in ENVIRONMENT.values())


def test_a_value_that_is_not_finite_is_refused():
    with pytest.raises(SpecError, match="not finite"):
        design("log(center(x))")


def test_only_one_file_imports_formulae():
    from pathlib import Path

    root = Path(__file__).resolve().parents[2] / "hmeta"
    users = [
        p.name for p in root.rglob("*.py") if "from formulae" in p.read_text() or "import formulae" in p.read_text()
    ]
    assert users == ["formulas.py"]
