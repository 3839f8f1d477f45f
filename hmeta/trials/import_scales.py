"""The confidence scale of an imported file: declared by the user, or plain from the values observed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from hmeta.core.errors import DataError
from hmeta.trials.import_options import ImportOptions, ScaleDeclaration
from hmeta.trials.scales import infer_scale


def declared_scales(
    confidence: pd.Series, scale: pd.Series | None, options: ImportOptions, notes: list[str], *, where: str
) -> dict[str, ScaleDeclaration]:
    """Return the scales by name: those declared, or those that the values show beyond doubt, said so.

    Parameters
    ----------
    confidence : Series
        Confidence as reported.
    scale : Series, optional
        Which scale each row used.
    options : ImportOptions
        ``scale`` or ``scales``.
    notes : list of str
        Gets what was decided.
    where : str
        The file, for messages.

    Raises
    ------
    DataError
        Where the values contradict the declared scale, or nothing is declared and the values do not say.
    """
    if scale is None:
        declared = {options.scale.name: options.scale} if options.scale else {}
        if len(options.scales) == 1 and not declared:
            declared = dict(options.scales)
        elif options.scales and not declared:
            raise DataError(
                "several scales are declared and no column says which one a row used",
                where=where,
                received=", ".join(options.scales),
                mend="map the column: --column scale=NAME",
            )
        groups = dict.fromkeys(declared, confidence) or {"": confidence}
    else:
        declared = _named(scale, options, where)
        groups = {str(name): confidence[(scale == name).to_numpy(dtype=bool)] for name in scale.dropna().unique()}
    found: dict[str, ScaleDeclaration] = {}
    for name, values in groups.items():
        given = values.dropna().to_numpy(dtype=float)
        if name in declared:
            found[name] = _checked(declared[name], given, where)
        else:
            inferred = _inferred(given, name, where)
            if inferred is None:
                continue
            row = {key: float(inferred[f"scale_{key}"].iloc[0]) for key in ("lower", "upper", "step")}
            found[str(inferred["scale_id"].iloc[0])] = ScaleDeclaration(row["lower"], row["upper"], row["step"])
            notes.append(
                f"scale{f' {name}' if name else ''} not declared: taken as {row['lower']:g} to {row['upper']:g}, from "
                f"the {len(np.unique(given))} values observed; --scale LOWER-UPPER declares it"
            )
    return found


def _named(scale: pd.Series, options: ImportOptions, where: str) -> Mapping[str, ScaleDeclaration]:
    """Return the declared scales of a file with a scale column."""
    names = [str(name) for name in scale.dropna().unique()]
    if options.scales:
        unknown = [name for name in names if name not in options.scales]
        if unknown:
            raise DataError(
                "a scale is not declared", where=where, received=", ".join(unknown), allowed=", ".join(options.scales)
            )
        return options.scales
    if options.scale is None:
        return {}
    if len(names) > 1:
        raise DataError(
            "one scale is declared and the column scale names several",
            where=where,
            received=", ".join(names),
            mend="declare each in a mapping file: [scales.NAME] with lower and upper",
        )
    return dict.fromkeys(names, options.scale)


def _checked(scale: ScaleDeclaration, given: np.ndarray, where: str) -> ScaleDeclaration:
    """Refuse values that belong to another scale; fill in the step."""
    step = scale.step if scale.step is not None else _step(scale, given)
    full = ScaleDeclaration(scale.lower, scale.upper, step, scale.reversed)
    if not len(given):
        return full
    if scale.upper > 2 and given.max() <= 1 and given.min() >= 0 and (len(np.unique(given)) > 2 or scale.upper >= 10):
        raise DataError(
            f"every confidence is between 0 and 1, on a scale declared as {scale.name}",
            where=where,
            received=f"{given.min():g} to {given.max():g}",
            allowed=f"{scale.lower:g} to {scale.upper:g}",
            mend="pass --scale 0-1",
        )
    if scale.upper <= 1 and np.median(given) > 1:
        raise DataError(
            f"values above {scale.upper:g}, on a scale declared as {scale.name}",
            where=where,
            received=f"{given.min():g} to {given.max():g}, {int((given > scale.upper).sum())} of {len(given)} above",
            allowed=f"{scale.lower:g} to {scale.upper:g}",
            mend="pass the scale that was used, for example --scale 0-100",
        )
    outside = (given < scale.lower) | (given > scale.upper)
    if outside.all():
        raise DataError(
            f"every confidence lies outside the scale declared as {scale.name}",
            where=where,
            received=f"{given.min():g} to {given.max():g}",
            allowed=f"{scale.lower:g} to {scale.upper:g}",
            mend="pass the scale that was used: --scale LOWER-UPPER",
        )
    return full


def _inferred(given: np.ndarray, name: str, where: str) -> pd.DataFrame | None:
    """Return the scale that the values show, or refuse with the declaration that would help."""
    try:
        return infer_scale(given, name or None)
    except DataError as error:
        likely = "--scale 0-100" if 1 < given.max() <= 100 and given.min() >= 0 else "--scale=LOWER:UPPER"
        raise DataError(
            error.what,
            where=f"{where}, column confidence" + (f", scale {name}" if name else ""),
            received=error.received,
            allowed=error.allowed,
            mend=f"declare the scale, for example {likely}"
            if set(given) - {0, 1}
            else "declare the scale: --scale 0-1",
        ) from error


def _step(scale: ScaleDeclaration, given: np.ndarray) -> float:
    whole = float(scale.lower).is_integer() and float(scale.upper).is_integer() and scale.upper - scale.lower >= 2
    return 1.0 if whole and len(given) and np.all(given == np.round(given)) else 0.0


def scale_rows(scales: Mapping[str, ScaleDeclaration]) -> pd.DataFrame | None:
    """Return the scale table that the results file stores, or None for none."""
    if not scales:
        return None
    return pd.DataFrame(
        {
            "scale_id": list(scales),
            "scale_lower": [scale.lower for scale in scales.values()],
            "scale_upper": [scale.upper for scale in scales.values()],
            "scale_step": [scale.step or 0.0 for scale in scales.values()],
            "scale_reversed": [int(scale.reversed) for scale in scales.values()],
        }
    )
