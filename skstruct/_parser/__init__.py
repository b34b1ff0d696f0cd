"""Dependency parsing by shift-reduce beam search."""
