"""Shards of a corpus on threads or on Dask.

``shards`` tells what the driver does in a round and what a shard does; ``weights`` has
the functions of both sides.
"""
