"""The service of models: its routes, its page, and how models are named.

What is wrong with a request is said with the sequence and the position.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote

from .._saving.origin import digest_of, origin_of
from .._taggers.abilities import inputs_of
from ..inspection import render
from ..inspection.html import Html, attribute, box, escaped
from ..interchange.kinds import load_model
from .answers import OPTIONS, as_sequence, example, predicted, warm
from .hosts import AllowedHosts, AllowedOrigins
from .log import FORMATS, LOG, log_as_json
from .measures import Measures
from .wsgi import LIMIT, Application, Refused, Route, numbers

if TYPE_CHECKING:
    from .wsgi import Request


_RESERVED = (
    "",
    "predict",
    "health",
    "models",
    "setup",
    "webhook",
    "metrics",
    "ping",
    "invocations",
)


def app(
    models: Any,
    *,
    max_bytes: int = LIMIT,
    allowed_hosts: Collection[str] | None = None,
    allowed_origins: Collection[str] = (),
    files: Mapping[str, str | Path] | None = None,
) -> Application:
    """Make a WSGI application that answers with what models predict.

    Parameters
    ----------
    models : dict of str to fitted estimator, or a fitted estimator
        ``POST /NAME/predict`` asks a model by its name, ``POST /predict`` the first.
    max_bytes : int, default=1_000_000
        Larger requests are refused.
    allowed_hosts : collection of str, optional
        Names and addresses that the header Host may have, with a port or, for any port,
        without. By default any, which is right behind a proxy that looks at it.
    allowed_origins : collection of str, default=()
        Sites whose pages a browser lets read answers (CORS), as
        ``"https://example.com"``; ``"*"`` is any.
    files : dict of str to path, optional
        The file of each model: ``/models`` and ``/health`` then say its digest.

    Returns
    -------
    Application
        A WSGI application, for any server of WSGI.

    Raises
    ------
    ValueError
        If a model has the name of a route, or a host or an origin is none.

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

    def page(request: Request) -> bytes:
        body = request.body() if request.method == "POST" else ""
        form = parse_qs(body, keep_blank_values=True, errors="replace")
        name = form.get("model", [""])[-1]
        text = form.get("text", [""])[-1]
        # forms send \r\n for the end of a line
        return _page(models, name, text.replace("\r\n", "\n")).encode()

    of_models = {
        name: about_model(model, (files or {}).get(name))
        for name, model in models.items()
    }
    measures = Measures(models, of_models)

    def asks(name: str) -> dict[str, Route]:
        def answer(request: Request) -> Any:
            return predicted(models[name], request, measures, name)

        return {"POST": Route(answer, OPTIONS)}

    kinds = {name: type(model).__name__ for name, model in models.items()}
    health = {"status": "ok", "models": kinds, "about": of_models}
    about = [
        {
            "name": name,
            "kind": kinds[name],
            "predict": quote(f"/{name}/predict"),
            "example": example(model),
            **of_models[name],
        }
        for name, model in models.items()
    ]
    routes = {
        "/": {"GET": Route(page), "POST": Route(page)},
        "/health": {"GET": Route(lambda _: health)},
        "/models": {"GET": Route(lambda _: {"models": about})},
        "/metrics": {"GET": Route(lambda _: numbers(measures))},
        "/predict": asks(next(iter(models))),
        # what SageMaker asks of a container
        "/ping": {"GET": Route(lambda _: {"status": "ok"})},
        "/invocations": asks(next(iter(models))),
        **{f"/{name}/predict": asks(name) for name in models},
    }
    return Application(routes, max_bytes, allowed_hosts, measures, allowed_origins)


def about_model(model: Any, path: str | Path | None = None) -> dict[str, Any]:
    """Say which model it is: what its card tells, and the digest of its file."""
    card = origin_of(model).card
    found: dict[str, Any] = {}
    if card is not None:
        found = {"version": card.version, "date": card.date}
    if path is not None:
        found["sha256"] = digest_of(path)
    return found


def from_environment() -> Application:
    """Make the application of the models that the environment names.

    Servers that start applications by their name call it.

    ``SKSTRUCT_MODELS`` names files as ``skstruct serve`` does, with spaces between
    them; ``SKSTRUCT_MAX_BYTES``, ``SKSTRUCT_ALLOWED_HOSTS`` and
    ``SKSTRUCT_ALLOWED_ORIGINS`` are the parameters of `app`. With
    ``SKSTRUCT_LOG_FORMAT=json`` the log goes to standard error as JSON.
    """
    log_format = os.environ.get("SKSTRUCT_LOG_FORMAT") or "text"
    if log_format not in FORMATS:
        listed = ", ".join(FORMATS)
        wrong = f"one of {listed}, got {log_format!r}"
        raise ValueError(f"SKSTRUCT_LOG_FORMAT must be {wrong}")
    given = shlex.split(os.environ.get("SKSTRUCT_MODELS", ""))
    if not given:
        raise ValueError(
            "SKSTRUCT_MODELS must name model files, as NAME=FILE NAME=FILE"
        )
    hosts = os.environ.get("SKSTRUCT_ALLOWED_HOSTS", "").split() or None
    most = os.environ.get("SKSTRUCT_MAX_BYTES") or str(LIMIT)
    if not (most.isascii() and most.isdecimal() and int(most)):
        wrong = f"an int of at least 1, got {most!r}"
        raise ValueError(f"SKSTRUCT_MAX_BYTES must be {wrong}")
    try:
        AllowedHosts(hosts)  # before models are loaded
    except ValueError as error:
        raise ValueError(f"SKSTRUCT_ALLOWED_HOSTS: {error}") from None
    origins = os.environ.get("SKSTRUCT_ALLOWED_ORIGINS", "").split()
    try:
        AllowedOrigins(origins)
    except ValueError as error:
        raise ValueError(f"SKSTRUCT_ALLOWED_ORIGINS: {error}") from None
    files = named_files(given)
    if log_format == "json":
        log_as_json("skstruct")
    options: dict[str, Any] = {"max_bytes": int(most), "allowed_hosts": hosts}
    options["allowed_origins"] = origins
    return app(loaded(files), files=files, **options)


def named_files(given: Collection[str]) -> dict[str, str]:
    """Sort paths by the names of models; each is ``NAME=FILE``, or the file alone."""
    files = {}
    for each in given:
        name, equals, path = each.partition("=")
        if not equals or "/" in name:
            name = "model" if len(given) == 1 else Path(each).stem
            path = each
        if name in files:
            raise ValueError(
                f"there are two models of the name {name!r}; write NAME=MODEL"
            )
        files[name] = path
    _check_names(files)
    return files


def _check_names(names: Iterable[str]) -> None:
    for name in names:
        if name in _RESERVED or "/" in name:
            raise ValueError(
                f"a model cannot be called {name!r}: it is part of the addresses of the service"
            )


def loaded(files: Mapping[str, str | Path]) -> dict[str, Any]:
    """Load the models in files, by name, and their kernels before the first request."""
    models = {}
    for name, path in files.items():
        LOG.info("loading %s: %s (%.1f MB)", name, path, os.path.getsize(path) / 1e6)
        models[name] = load_model(path)
        warm(models[name])
    return models


def _page(models: dict[str, Any], name: str, text: str) -> Html:
    """Draw the page to try models at, with the prediction for a text if there is
    one.
    """
    name = name or next(iter(models))
    shown = ""
    if name not in models:
        raise Refused(
            404, f"there is no model {name!r}; choose one of {', '.join(models)}"
        )
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
