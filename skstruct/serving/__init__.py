"""Models behind a web server: a WSGI application.

``skstruct serve`` runs it on waitress.

`app` makes the application of models, `from_environment` of the files that environment
variables name, for other servers: ``SKSTRUCT_MODELS="ner=ner.skstruct" gunicorn
"skstruct.serving:from_environment()"``. All requests share the models: prediction never
changes one, and compiled code lets other threads run.
"""

from .server import addresses_of as addresses_of
from .server import new_server as new_server
from .server import stop as stop
from .service import app as app
from .service import from_environment as from_environment

__all__ = ["addresses_of", "app", "from_environment", "new_server", "stop"]
