"""Options of the sampler: what is refused before anything is sampled."""

from __future__ import annotations

import pytest

from hmeta.core.errors import HmetaError
from hmeta.infer.options import SamplerOptions


@pytest.mark.parametrize(
    ("option", "value", "match"),
    [("seed", -1, "too small"), ("seed", 2**63, "too large"), ("chains", 0, "too small"), ("draws", 3, "too small")],
)
def test_impossible_options_are_refused(option, value, match):
    with pytest.raises(HmetaError, match=f"{option} is {match}"):
        SamplerOptions(**{option: value})
    assert SamplerOptions(seed=2**63 - 1).seed == 2**63 - 1
