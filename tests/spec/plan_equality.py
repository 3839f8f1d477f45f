"""Equality of plans by value, array by array."""

from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd


def assert_same(a: object, b: object, path: str = "plan") -> None:
    """Fail where two plans differ, naming the field."""
    assert type(a) is type(b), path
    if is_dataclass(a):
        for field in fields(a):
            assert_same(getattr(a, field.name), getattr(b, field.name), f"{path}.{field.name}")
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, err_msg=path)
    elif isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b)
    elif isinstance(a, tuple | list):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{path}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), path
        for key in a:
            assert_same(a[key], b[key], f"{path}[{key}]")
    else:
        assert a == b, path
