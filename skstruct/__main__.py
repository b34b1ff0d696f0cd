"""``python -m skstruct``: the command line; see `skstruct.cli`."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main(prog="python -m skstruct"))
