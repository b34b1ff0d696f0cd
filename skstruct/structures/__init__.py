"""Structures: how to decode one task item, and what feature difference it teaches. One file each."""
