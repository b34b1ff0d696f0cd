"""Models behind a web server: a WSGI application.

``skstruct serve`` runs it on waitress.

`app` makes the application of models, `from_environment` of the files that environment
variables name, for other servers: ``SKSTRUCT_MODELS="ner=ner.skstruct" gunicorn
"skstruct.serving:from_environment()"``. All requests share the models: prediction never
changes one, and compiled code lets other threads run.

`JsonFormatter` writes the log as JSON. `trusted_types` and `signature` are for those
who keep models by skops or MLflow.
"""

from .log import JsonFormatter as JsonFormatter
from .server import addresses_of as addresses_of
from .server import new_server as new_server
from .server import stop as stop
from .service import app as app
from .service import from_environment as from_environment
from .skops_mlflow import signature as signature
from .skops_mlflow import trusted_types as trusted_types

__all__ = [
    "JsonFormatter",
    "addresses_of",
    "app",
    "from_environment",
    "new_server",
    "signature",
    "stop",
    "trusted_types",
]
