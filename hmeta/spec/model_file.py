"""Model files: TOML text to a frozen `ModelSpec`, where every unknown word is an error.

No includes and no inheritance: a file says everything about its model.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hmeta.core.errors import SpecError
from hmeta.core.registry import did_you_mean
from hmeta.core.share import share
from hmeta.spec.formula_parts import parse_criteria, parse_formula
from hmeta.spec.likelihoods import FAMILIES, option_conflict
from hmeta.spec.plan import Prior
from hmeta.spec.priors import CRITERIA_DEFAULTS, read_prior

SCHEMA = "1"
POOLING = ("none", "partial")
KEYS = ("schema", "summary", "likelihood", "parameters", "priors")
MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class ParameterSpec:
    """The formula of one parameter and its link; `where` is file and key, for messages.

    `pooling` is of the criteria only: "partial" lets log gaps share a mean for each response and step.
    """

    formula: str
    link: str = "identity"
    pooling: str = "none"
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class ModelSpec:
    """A model file in words."""

    schema: str
    summary: str
    likelihood: str
    options: dict[str, str]  # every option of the likelihood, defaults written out
    parameters: dict[str, ParameterSpec]
    criteria: ParameterSpec
    priors: dict[str, Prior]
    text: str = field(compare=False, repr=False)
    where: str = field(compare=False)


def load_model(name_or_path: str | Path) -> ModelSpec:
    """Return a shipped model by name, or a model file by path.

    Parameters
    ----------
    name_or_path : str or Path
        ``"mafc_pooled"`` (with or without ``.toml``), or the path of a file.

    Returns
    -------
    ModelSpec

    Raises
    ------
    SpecError
        Where there is no such model, or its text is refused.
    """
    path = Path(name_or_path)
    named = str(name_or_path) == path.name
    if named and path.suffix != ".toml" and path.name in shipped_models():
        return _load_shipped(path.name)
    if path.exists():
        return parse_model(_read_text(path), str(name_or_path))
    if named and path.stem in shipped_models() and path.suffix == ".toml":
        return _load_shipped(path.stem)
    shipped = shipped_models()
    raise SpecError(
        f'there is no model "{name_or_path}"',
        allowed=f"a TOML file, or one of {', '.join(shipped)}",
        mend=did_you_mean(path.stem, shipped),
    )


def shipped_models() -> tuple[str, ...]:
    """Return the names of the models that come with hmeta."""
    return tuple(sorted(path.stem for path in share("models").glob("*.toml")))


def _load_shipped(name: str) -> ModelSpec:
    return parse_model(_read_text(share("models", f"{name}.toml")), f"models/{name}.toml")


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise SpecError(f"a model file has at most {MAX_BYTES} bytes", where=str(path))
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SpecError("this is not a text file in UTF-8", where=str(path)) from error
    except OSError as error:
        raise SpecError(f"the file cannot be read: {error.strerror}", where=str(path)) from error


def parse_model(text: str, where: str = "model") -> ModelSpec:
    """Read the text of a model file.

    Parameters
    ----------
    text : str
        TOML.
    where : str
        What to call it in messages, usually its path.

    Returns
    -------
    ModelSpec

    Raises
    ------
    SpecError
        For text that is not TOML, unknown or missing keys, unknown values, formulas that are refused.

    Examples
    --------
    >>> text = '''
    ... schema = "1"
    ... [likelihood]
    ... name = "mafc"
    ... [parameters.d]
    ... formula = "1"
    ... [parameters.M]
    ... formula = "1"
    ... [parameters.criteria]
    ... formula = "1"
    ... '''
    >>> parse_model(text).options
    {'noise': 'gumbel', 'rule': 'gap'}
    """
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SpecError(f"this is not TOML: {error}", where=where) from error
    _check_keys(table, KEYS, where, required=("schema", "likelihood", "parameters"))
    if table["schema"] != SCHEMA:
        raise SpecError(
            "unknown schema", where=f"{where}, schema", received=repr(table["schema"]), allowed=f'"{SCHEMA}"'
        )
    likelihood, options = _read_likelihood(_table(table, "likelihood", where), f"{where}, likelihood")
    parameters, criteria = _read_parameters(_table(table, "parameters", where), likelihood, where)
    return ModelSpec(
        schema=SCHEMA,
        summary=_text(table.get("summary", ""), f"{where}, summary"),
        likelihood=likelihood,
        options=options,
        parameters=parameters,
        criteria=criteria,
        priors=_read_priors(_table(table, "priors", where), parameters, where),
        text=text,
        where=where,
    )


def with_formulas(spec: ModelSpec, formulas: Mapping[str, str]) -> ModelSpec:
    """Return the model with some formulas replaced, as the command's ``--formula`` asks.

    Parameters
    ----------
    spec : ModelSpec
    formulas : mapping
        Parameter (or ``criteria``) to formula, for example ``{"M": "1 + age + (1 | participant)"}``.

    Raises
    ------
    SpecError
        For a parameter that the likelihood lacks, or a formula that is refused.
    """
    links = FAMILIES[spec.likelihood].links
    parameters, criteria = dict(spec.parameters), spec.criteria
    for name, formula in formulas.items():
        where = f"--formula {name}"
        _known(name, (*links, "criteria"), "parameter", where)
        if name == "criteria":
            parse_criteria(formula, where)
            criteria = replace(criteria, formula=formula, where=where)
        else:
            parse_formula(formula, where)
            old = parameters.get(name, ParameterSpec(formula, links[name][0]))
            parameters[name] = replace(old, formula=formula, where=where)
    return replace(spec, parameters=parameters, criteria=criteria)


def _read_likelihood(table: dict[str, Any], where: str) -> tuple[str, dict[str, str]]:
    if "name" not in table:
        raise SpecError('key "name" is missing', where=where, allowed=tuple(FAMILIES))
    name = _choice(table["name"], tuple(FAMILIES), f"{where}.name")
    allowed = FAMILIES[name].options
    _check_keys(table, ("name", *allowed), where)
    options = {key: _choice(table.get(key, v[0]), v, f"{where}.{key}") for key, v in allowed.items()}
    conflict = option_conflict(name, options)
    if conflict:
        raise SpecError(conflict, where=where)
    return name, options


def _read_parameters(
    table: dict[str, Any], likelihood: str, where: str
) -> tuple[dict[str, ParameterSpec], ParameterSpec]:
    family = FAMILIES[likelihood]
    where = f"{where}, parameters"
    _check_keys(table, (*family.links, "criteria"), where, required=(*family.required, "criteria"))
    found = {
        name: _read_parameter(_table(table, name, where), links, f"{where}.{name}")
        for name, links in family.links.items()
        if name in table
    }
    criteria = _table(table, "criteria", where)
    _check_keys(criteria, ("formula", "pooling"), f"{where}.criteria", required=("formula",))
    key = f"{where}.criteria.formula"
    parse_criteria(criteria["formula"], key)
    pooling = _choice(criteria.get("pooling", POOLING[0]), POOLING, f"{where}.criteria.pooling")
    return found, ParameterSpec(criteria["formula"], pooling=pooling, where=key)


def _read_parameter(table: dict[str, Any], links: tuple[str, ...], where: str) -> ParameterSpec:
    _check_keys(table, ("formula", "link"), where, required=("formula",))
    link = _choice(table.get("link", links[0]), links, f"{where}.link")
    parse_formula(table["formula"], f"{where}.formula")
    return ParameterSpec(table["formula"], link, where=f"{where}.formula")


def _read_priors(table: dict[str, Any], parameters: Iterable[str], where: str) -> dict[str, Prior]:
    """Read the priors; names of terms are checked later, when the data say which terms there are."""
    found = {}
    for name, value in table.items():
        key = f'{where}, priors."{name}"'
        head = name.split(".")[0]
        if name not in CRITERIA_DEFAULTS and (head not in parameters or name == head):
            allowed = [f"{p}.TERM" for p in parameters] + list(CRITERIA_DEFAULTS)
            near = [p + name[len(head) :] for p in parameters if p.lower() == head.lower()]
            mend = did_you_mean(name, near or CRITERIA_DEFAULTS)
            if isinstance(value, dict) and "family" not in value:
                mend = f"""write the dotted name in quotes: "{name}.{next(iter(value), "TERM")}" = {{ ... }}"""
            raise SpecError("unknown prior", where=key, received=name, allowed=allowed, mend=mend)
        found[name] = read_prior(name, value, key)
    return found


def _check_keys(table: dict[str, Any], allowed: Iterable[str], where: str, *, required: Iterable[str] = ()) -> None:
    for key in table:
        _known(key, tuple(allowed), "key", where)
    for key in required:
        if key not in table:
            raise SpecError(f'key "{key}" is missing', where=where, allowed=tuple(allowed))


def _known(word: str, allowed: tuple[str, ...], kind: str, where: str) -> None:
    if word not in allowed:
        raise SpecError(
            f'unknown {kind} "{word}"', where=where, received=word, allowed=allowed, mend=did_you_mean(word, allowed)
        )


def _table(parent: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    value = parent.get(key, {})
    if not isinstance(value, dict):
        raise SpecError("this must be a table", where=f"{where}, {key}", received=repr(value))
    return value


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise SpecError("this must be a text", where=where, received=repr(value))
    return value


def _choice(value: Any, allowed: tuple[str, ...], where: str) -> str:
    if value not in allowed:
        mend = did_you_mean(value, allowed) if isinstance(value, str) else None
        raise SpecError("unknown value", where=where, received=repr(value), allowed=allowed, mend=mend)
    return str(value)
