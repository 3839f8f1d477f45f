"""The nearest valid word."""

from __future__ import annotations

import pytest

from hmeta.core.registry import did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "allowed", "found"),
    [
        ("ECE", ["mce", "ece", "rmsce"], "ece"),
        ("Auroc2", ["auroc2_ratio", "auroc2"], "auroc2"),
        ("BINS", ["bins", "mass"], "bins"),
        ("m", ["M", "d"], "M"),
        ("M", ["m", "M"], "M"),
        ("m", ["M", "m"], "m"),
        ("scal", ["scale", "model"], "scale"),
        ("zzz", ["scale", "model"], None),
        ("x", [], None),
    ],
)
def test_case_does_not_count_unless_it_decides(word, allowed, found):
    assert nearest(word, allowed) == found
    assert did_you_mean(word, allowed) == (f'Did you mean "{found}"?' if found else None)
