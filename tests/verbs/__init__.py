"""The verbs of the table *every model x every verb*, by what they do; `test_table.py`
runs them.
"""

from . import commands, keeping, learning, looking, predicting

__all__ = ["commands", "keeping", "learning", "looking", "predicting"]
