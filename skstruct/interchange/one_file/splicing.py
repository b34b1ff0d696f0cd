"""Real source files joined to one: relative imports are left out, the constant of the model is put in."""

import ast
import base64
import hashlib
import html
import json
import re
from importlib.resources import files

from ..._version import __version__
from ...formats.span_records import SPAN_KEYS

_PYTHON, _JAVASCRIPT, _PAGE = (files(__package__) / name for name in ("python", "javascript", "page"))

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
    last = [f"tagger{ending}", *([f"tagger_spans{ending}"] if "spans" in parts else [])]
    text = _joined(block, [_JAVASCRIPT / name for name in (*(f"{part}.js" for part in parts), *last)])
    return (
        f'"use strict";\n\n{text}\n'
        if ending == ".mjs"
        else f'(function () {{\n"use strict";\n\n{text}\n}})();\n'
    )


def page_file(block, parts, title):
    """The text of a page.

    Its policy allows its one script and its one style, by their hashes, and nothing else.

    Parameters
    ----------
    block, parts
        As of :func:`python_file`.
    title : str
    """
    last = ["page.js", *(["records.js", "spans.js"] if "spans" in parts else [])]
    text = _joined(block, [*(_JAVASCRIPT / f"{part}.js" for part in parts), *(_PAGE / name for name in last)])
    script = f'\n(function () {{\n"use strict";\n\n{text}\n}})();\n'
    style = "\n" + "".join((_PAGE / name).read_text(encoding="utf-8") for name in ("page.css", "marks.css"))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    shown = html.escape(title.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8"))
    values = {"policy": policy, "title": shown, "style": style, "script": script}
    page = (_PAGE / "page.html").read_text(encoding="utf-8")
    return re.sub("@([a-z]+)@", lambda name: values[name[1]], page)


def _joined(block, sources):
    """Sources of JavaScript as one, with the constant in its place."""
    texts = [source.read_text(encoding="utf-8").strip() for source in sources]
    text = "\n\n".join([_JAVASCRIPT_HEAD.format(version=__version__), *texts])
    text = text.replace("const SPAN_KEYS = [];", f"const SPAN_KEYS = {json.dumps(SPAN_KEYS)};")
    return text.replace('const DATA = "";', f'const DATA = "{block}";')


def _hash(text):
    """What a content security policy calls the hash of a script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _without_gaps(text):
    """At most two blank lines in a row."""
    while "\n\n\n\n" in text:
        text = text.replace("\n\n\n\n", "\n\n\n")
    return text
