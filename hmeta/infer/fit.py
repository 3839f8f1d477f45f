"""From a results file to a fit: validate, plan, sample, describe, judge."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from hmeta.core.errors import HmetaError
from hmeta.core.files import read_dataset
from hmeta.core.provenance import versions
from hmeta.core.registry import did_you_mean
from hmeta.core.schema import SCHEMA_VERSION
from hmeta.infer.data import model_data, model_shape
from hmeta.infer.device import computing, find_device, keep_compiled
from hmeta.infer.diagnose import diagnose
from hmeta.infer.nuts import run_nuts
from hmeta.infer.options import Report, SamplerOptions, silent
from hmeta.infer.result import Parts, build_tree, describe_terms
from hmeta.infer.run import Run
from hmeta.spec import ModelSpec, choose_model, load_model, with_formulas
from hmeta.spec import plan as make_plan
from hmeta.spec.likelihoods import FAMILIES
from hmeta.spec.plan import ModelPlan
from hmeta.trials import Validated, validate
from hmeta.trials.tables import scale_frame

if TYPE_CHECKING:
    from jaxlib._jax import Device

BACKENDS = ("numpyro", "pymc")


def fit(
    data: xr.Dataset | Validated | str | Path,
    model: str | Path | ModelSpec | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    formulas: Mapping[str, str] | None = None,
    backend: str = "numpyro",
    device: str = "cpu",
    sampler: SamplerOptions | None = None,
    progress: Report = silent,
    **settings: float,
) -> xr.DataTree:
    """Fit a hierarchical model and judge its convergence.

    Meta-d′ where the task has a type-1 table, the type-2 ROC of right against wrong answers where it is `open`.

    Parameters
    ----------
    data : Dataset, Validated, str or Path
        Results in the layout ``trials`` or ``counts``, or the file that holds them. What has not been
        validated is validated with the default rules.
    model : str, Path or ModelSpec, optional
        A shipped model's name or a model file. Default: chosen by the task and the factors present.
    columns : mapping, optional
        Which column plays each word of the model, for example ``{"dataset": "domain"}``.
    formulas : mapping, optional
        Formulas that replace the model's, by parameter.
    backend : {"numpyro", "pymc"}
    device : {"cpu", "gpu"}
    sampler : SamplerOptions, optional
    progress : callable, optional
        Receives `hmeta.infer.options.Progress`.
    **settings
        Fields of `SamplerOptions` that replace the sampler's: ``chains``, ``draws``, ``seed`` ...

    Returns
    -------
    DataTree
        The fit (docs/data-format.md). ``fit["hmeta"].attrs["converged"]`` is 0 where the draws cannot
        be trusted, with the reasons beside it.

    Raises
    ------
    HmetaError
        For data, models or options that cannot be used; the message says how to mend them.

    Examples
    --------
    >>> import hmeta
    >>> from hmeta.core.share import share
    >>> fit = hmeta.fit(share("data", "mmlu_atlas.nc"), chains=2, warmup=50, draws=50)  # doctest: +SKIP
    """
    began = time.perf_counter()
    options = _sampler(sampler or SamplerOptions(), settings)
    if backend not in BACKENDS:
        raise HmetaError("unknown backend", received=backend, allowed=BACKENDS, mend=did_you_mean(backend, BACKENDS))
    place = find_device(device)
    validated = validated_data(data)
    spec, chosen = _model(validated.dataset, model, columns)
    plan = make_plan(with_formulas(spec, dict(formulas or {})), validated.dataset, columns=dict(chosen))
    keep_compiled()
    run = _run(plan, options, backend, place, progress)
    with computing(place):
        parts = Parts(plan, model_shape(plan), model_data(plan, run.centring), options.seed)
        tree = build_tree(parts, run.draws, run.stats)
    facts = {
        "columns": json.dumps(dict(chosen)),
        "backend": backend,
        "device": f"{place.platform}: {place.device_kind}",
        "validation": validated.report.to_json(),
        "scales": _scales(validated.dataset),
        "source": Path(data).name if isinstance(data, str | Path) else str(validated.dataset.attrs.get("title", "")),
    }
    tree["hmeta"] = xr.DataTree(xr.Dataset(attrs={**_attributes(plan, run, options), **facts}))
    verdict = diagnose(tree)
    tree["hmeta"].attrs |= {"converged": int(verdict.converged), "reasons": json.dumps(list(verdict.reasons))}
    tree["hmeta"].attrs["wall_time_s"] = time.perf_counter() - began
    return tree


def validated_data(data: xr.Dataset | Validated | str | Path) -> Validated:
    """Return validated data from a file, a dataset, or what is validated already."""
    if isinstance(data, Validated):
        return data
    return validate(read_dataset(data) if isinstance(data, str | Path) else data)


def _scales(ds: xr.Dataset) -> str:
    """Return the scales of the study as JSON: scale, lower, upper, step (0 where it is continuous)."""
    scales = scale_frame(ds)
    if scales is None:
        return "[]"
    named = scales.rename(columns=lambda name: "scale" if name == "scale_id" else name.removeprefix("scale_"))
    return json.dumps(named[["scale", "lower", "upper", "step"]].to_dict("records"), ensure_ascii=False)


def _sampler(sampler: SamplerOptions, settings: Mapping[str, float]) -> SamplerOptions:
    allowed = list(asdict(sampler))
    for name in settings:
        if name not in allowed:
            raise HmetaError("unknown setting", received=name, allowed=allowed, mend=did_you_mean(name, allowed))
    return replace(sampler, **settings)  # type: ignore[arg-type]


def _model(
    ds: xr.Dataset, model: str | Path | ModelSpec | None, columns: Mapping[str, str] | None
) -> tuple[ModelSpec, Mapping[str, str]]:
    if model is None:
        choice = choose_model(ds)
        return load_model(choice.name), {**choice.columns, **(columns or {})}
    return model if isinstance(model, ModelSpec) else load_model(model), columns or {}


def _run(plan: ModelPlan, options: SamplerOptions, backend: str, device: Device, progress: Report) -> Run:
    if backend == "numpyro":
        return run_nuts(plan, options, device, progress)
    from hmeta.infer.pymc_run import run_pymc  # PyMC is optional

    return run_pymc(plan, options, device, progress)


def _attributes(plan: ModelPlan, run: Run, options: SamplerOptions) -> dict[str, Any]:
    return {
        "hmeta_schema": SCHEMA_VERSION,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "method": "nuts",
        "task": plan.task,
        "likelihood": plan.likelihood,
        "headline": FAMILIES[plan.likelihood].headline,
        "from_ratings": json.dumps(sorted(FAMILIES[plan.likelihood].from_ratings)),
        "criteria_above": plan.criteria.lowest,
        "options": json.dumps(plan.options),
        "spec": plan.spec_text,
        "terms": json.dumps(describe_terms(plan)),
        "notes": json.dumps(list(plan.notes)),
        "versions": json.dumps(versions()),
        "centring": json.dumps(run.centring),
        "chain_method": run.chain_method,
        "compile_time_s": run.compile_time_s,
        "warmup_time_s": run.warmup_time_s,
        "sampling_time_s": run.sampling_time_s,
        **asdict(options),
    }
