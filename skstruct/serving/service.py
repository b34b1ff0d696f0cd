"""The service of models: its routes, its page, and how models are named.

What is wrong with a request is said with the sequence and the position.
"""

import contextlib
import os
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

from ..inspection import render
from ..inspection.html import Html, attribute, box, escaped
from ..interchange.kinds import load_model
from .answers import as_sequence, example, inputs_of, predicted, with_tuples
from .hosts import AllowedHosts
from .wsgi import LIMIT, Application, Refused, Route

_RESERVED = ("", "predict", "health", "models", "setup", "webhook", "metrics")
_OPTIONS = "offsets", "proba", "kbest", "sets"


def app(models: Any, *, max_bytes: int = LIMIT, allowed_hosts: Collection[str] | None = None) -> Application:
    """A WSGI application that answers with what models predict.

    Parameters
    ----------
    models : dict of str to fitted estimator, or a fitted estimator
        ``POST /NAME/predict`` asks a model by its name, ``POST /predict`` the first.
    max_bytes : int, default=1_000_000
        Larger requests are refused.
    allowed_hosts : collection of str, optional
        Names and addresses that the header Host may have, with a port or, for any port,
        without. By default any, which is right behind a proxy that looks at it.

    Returns
    -------
    Application
        A WSGI application, for any server of WSGI.

    Raises
    ------
    ValueError
        If a model has the name of a route, or a host is none.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.serving import app
    >>> application = app({"tags": StructuredPerceptron("word").fit([["the", "dog"]], [["D", "N"]])})
    """
    if not isinstance(models, dict):
        models = {"model": models}
    _check_names(models)
    if not models:
        raise ValueError("models must hold a model, got none")

    def page(request):
        body = request.body() if request.method == "POST" else ""
        form = parse_qs(body, keep_blank_values=True, errors="replace")
        name, text = (form.get(field, [""])[-1] for field in ("model", "text"))
        return _page(models, name, text.replace("\r\n", "\n")).encode()  # which forms send for a line's end

    def asks(model):
        return {"POST": Route(lambda request: predicted(model, request), _OPTIONS)}

    kinds = {name: type(model).__name__ for name, model in models.items()}
    health = {"status": "ok", "models": kinds}
    about = [
        {"name": name, "kind": kinds[name], "predict": quote(f"/{name}/predict"), "example": example(model)}
        for name, model in models.items()
    ]
    routes = {
        "/": {"GET": Route(page), "POST": Route(page)},
        "/health": {"GET": Route(lambda _: health)},
        "/models": {"GET": Route(lambda _: {"models": about})},
        "/predict": asks(next(iter(models.values()))),
        **{f"/{name}/predict": asks(model) for name, model in models.items()},
    }
    return Application(routes, max_bytes, allowed_hosts)


def from_environment() -> Application:
    """The application of the models that the environment names, for servers that start applications.

    ``SKSTRUCT_MODELS`` names files as ``skstruct serve`` does, with spaces between them;
    ``SKSTRUCT_MAX_BYTES`` and ``SKSTRUCT_ALLOWED_HOSTS`` are the parameters of `app`.
    """
    given = shlex.split(os.environ.get("SKSTRUCT_MODELS", ""))
    if not given:
        raise ValueError("SKSTRUCT_MODELS must name model files, as NAME=FILE NAME=FILE")
    hosts = os.environ.get("SKSTRUCT_ALLOWED_HOSTS", "").split() or None
    most = os.environ.get("SKSTRUCT_MAX_BYTES") or str(LIMIT)
    if not (most.isascii() and most.isdecimal() and int(most)):
        wrong = f"an int of at least 1, got {most!r}"
        raise ValueError(f"SKSTRUCT_MAX_BYTES must be {wrong}")
    try:
        AllowedHosts(hosts)  # before models are loaded
    except ValueError as error:
        raise ValueError(f"SKSTRUCT_ALLOWED_HOSTS: {error}") from None
    return app(loaded(named_files(given)), max_bytes=int(most), allowed_hosts=hosts)


def named_files(given):
    """Paths by the names of models; what is given is ``NAME=FILE``, or the file alone."""
    files = {}
    for each in given:
        name, equals, path = each.partition("=")
        if not equals or "/" in name:
            name, path = "model" if len(given) == 1 else Path(each).stem, each
        if name in files:
            raise ValueError(f"there are two models of the name {name!r}; write NAME=MODEL")
        files[name] = path
    _check_names(files)
    return files


def _check_names(names):
    for name in names:
        if name in _RESERVED or "/" in name:
            raise ValueError(f"a model cannot be called {name!r}: it is part of the addresses of the service")


def loaded(files):
    """The models in files, by name, with their kernels loaded or compiled before the first request."""
    models = {name: load_model(path) for name, path in files.items()}
    for model in models.values():
        if inputs_of(model) is not None:
            with contextlib.suppress(ValueError):  # rows of numbers, whose width is not known
                model.predict(with_tuples(model, example(model)))
    return models


def _page(models, name, text):
    """The page to try models at, with the prediction for a text if there is one."""
    name, shown = name or next(iter(models)), ""
    if name not in models:
        raise Refused(404, f"there is no model {name!r}; there are {', '.join(models)}")
    if text.strip():
        try:
            X = [as_sequence(inputs_of(models[name]), text)]
            shown = render(X, models[name].predict(X)).fragment
        except ValueError as error:
            shown = f"<p>{escaped(error, 500)}</p>"
    options = "".join(
        f'<option value="{attribute(each)}"{" selected" * (each == name)}>{escaped(each)}</option>'
        for each in models
    )
    value = text.replace("&", "&amp;").replace("<", "&lt;")
    form = (
        '<form method="post" style="display:grid;gap:.5em;max-width:45em">'
        f'<label>Model <select name="model">{options}</select></label>'
        f'<textarea name="text" dir="auto" rows="5" aria-label="text" required>\n{value}</textarea>'
        "<div><button>Predict</button></div></form>"
    )
    return Html(box(form) + shown)
