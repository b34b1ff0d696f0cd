"""Shards of a corpus on threads or on Dask."""
