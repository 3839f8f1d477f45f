"""The posterior with the labels of its cells and criteria.

They are kept in ``constant_data``: ArviZ's tables refuse variables of which only some have further coordinates.
"""

from __future__ import annotations

import xarray as xr

LABELLED = ("cell", "criterion")


def labelled_posterior(tree: xr.DataTree) -> xr.Dataset:
    """Return the posterior with the factors of its cells and the places of its criteria as coordinates."""
    posterior = tree["posterior"].to_dataset()
    if "constant_data" not in tree.children:
        return posterior
    constant = tree["constant_data"].to_dataset()
    labels = {k: v.variable for k, v in constant.coords.items() if v.dims in [(d,) for d in LABELLED]}
    return posterior.assign_coords({k: v for k, v in labels.items() if v.dims[0] in posterior.dims})
