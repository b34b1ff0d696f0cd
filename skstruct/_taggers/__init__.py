"""Sequence taggers as users call them; the algorithms are in ``chain``."""
