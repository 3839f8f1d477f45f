"""Readers of foreign files, one module each, found by a listing of this folder.

A module has ``SUMMARY`` (one line), ``matches(path, head) -> bool`` (whether it reads the file, judged by
name and first bytes), ``read(path, options) -> xarray.Dataset``, and where several match, ``RANK``: the
highest is taken (default 0).
"""
