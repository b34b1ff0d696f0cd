"""Real source files joined to one: relative imports are left out, the constant of the model is put in."""

import ast
from importlib.resources import files

from ..._version import __version__

_PYTHON, _JAVASCRIPT = files(__package__) / "python", files(__package__) / "javascript"

_HEAD = '"""A model of skstruct {version} in one file, for Python 3.8 and later; needs nothing else."""\n'

_LICENCE = """
# The code of this file, not the model, is under the licence 0BSD: do with it what you like.
# The model is the constant DATA, which holds no code. From the command line: python TAGGER.py [FILE]
"""

_JAVASCRIPT_HEAD = """\
// A model of skstruct {version} in one file; needs nothing else.
// The code of this file, not the model, is under the licence 0BSD: do with it what you like.
// The model is the constant DATA, which holds no code."""


def python_file(block, parts):
    """The text of a ``.py`` file.

    Parameters
    ----------
    block : str
        The constant.
    parts : list of str
        Names of modules, in an order in which none needs a later one while it is read.
    """
    imports, sources = set(), []
    for name in (*parts, "command", "tagger"):
        text = (_PYTHON / f"{name}.py").read_text(encoding="utf-8")
        lines = text.splitlines()
        tree = ast.parse(text)
        for node in reversed(tree.body):
            part = lines[node.lineno - 1 : node.end_lineno]
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                if not getattr(node, "level", 0):
                    imports.add("\n".join(part))
                del lines[node.lineno - 1 : node.end_lineno]
            elif isinstance(node, ast.Expr) and node is tree.body[0]:
                said = ast.get_docstring(tree).splitlines()
                lines[node.lineno - 1 : node.end_lineno] = [f"# {line}".rstrip() for line in said]
            elif name == "tagger" and isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DATA":
                lines[node.lineno - 1] = f'DATA = "{block}"'
        sources.append(f"# {'-' * 98}\n" + _without_gaps("\n".join(lines).strip("\n")))
    head = _HEAD.format(version=__version__) + _LICENCE
    plain = sorted(line for line in imports if line.startswith("import "))
    rest = sorted(imports.difference(plain))
    return head + "\n" + "\n".join(plain + rest) + "\n\n" + "\n\n\n".join(sources) + "\n"


def javascript_file(block, parts, ending):
    """The text of a ``.js`` file, which is a script or a module of Node, or of a ``.mjs`` file.

    Parameters
    ----------
    block, parts
        As of :func:`python_file`.
    ending : {".js", ".mjs"}
    """
    sources = [(_JAVASCRIPT / f"{part}.js").read_text(encoding="utf-8").strip() for part in parts]
    last = (_JAVASCRIPT / f"tagger{ending}").read_text(encoding="utf-8").strip()
    sources.append(last.replace('const DATA = "";', f'const DATA = "{block}";'))
    if "spans" in parts:
        sources.append((_JAVASCRIPT / f"tagger_spans{ending}").read_text(encoding="utf-8").strip())
    text = "\n\n".join([_JAVASCRIPT_HEAD.format(version=__version__), *sources])
    return (
        f'"use strict";\n\n{text}\n'
        if ending == ".mjs"
        else f'(function () {{\n"use strict";\n\n{text}\n}})();\n'
    )


def _without_gaps(text):
    """At most two blank lines in a row."""
    while "\n\n\n\n" in text:
        text = text.replace("\n\n\n\n", "\n\n\n")
    return text
