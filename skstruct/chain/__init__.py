"""Sequence labelling on the linear chain."""
