"""Models behind a web server: a WSGI application, which ``skstruct serve`` runs on
waitress.

`app` makes the application of models, `from_environment` of the files that environment
variables name, for other servers: ``SKSTRUCT_MODELS="ner=ner.skstruct" gunicorn
"skstruct.serving:from_environment()"``. All requests share the models: prediction never
changes one, and compiled code lets other threads run.
"""

from .service import app as app
from .service import from_environment as from_environment
