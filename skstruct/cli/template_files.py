"""Template files on the command line: our own syntax, and patterns of CRF++ or Wapiti.

A file is ours if our templates can be made of it. One that gives an identifier to
several columns, which CRF++ and Wapiti let share their features, and one in Wapiti's
syntax are patterns of these tools.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..features.patterns import WAPITI, Patterns
from ..features.templates import FeatureTemplates
from .common import tell

if TYPE_CHECKING:
    from .common import Arguments


def template_features(arguments: Arguments, lexicons: Mapping[str, list[str]]) -> Any:
    """Return what ``--template`` says, as the value of an estimator's ``features``.

    Raises
    ------
    ValueError
        If the file holds neither templates nor patterns; the message names its line.
    """
    path = arguments.template
    try:
        templates = FeatureTemplates.from_file(path, lexicons)
        templates.compile()
    except ValueError as error:
        patterns = _patterns(arguments)
        if patterns is None:
            raise _placed(error, path) from None
        if lexicons:
            arguments.usage_error(
                f"--lexicon is for templates; {path} holds patterns of another tool, "
                f"for {error}"
            )
        tool = "Wapiti" if patterns.syntax == WAPITI else "CRF++"
        tell(
            f"{path}: read as patterns of {tool}: patterns that write one string share "
            "a feature"
        )
        return patterns
    # No path goes into the model.
    return templates if lexicons else list(templates.lines)


def _patterns(arguments: Arguments) -> Patterns | None:
    """Return the patterns in the file, or None if there are none."""
    try:
        return Patterns.from_file(arguments.template, encoding=arguments.encoding)
    except ValueError:
        return None


def _placed(error: ValueError, path: str) -> ValueError:
    """Return the error, which names the file."""
    named = str(error).startswith(os.fspath(path))
    return error if named else ValueError(f"{path}: {error}")
