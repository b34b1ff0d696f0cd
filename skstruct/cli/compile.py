"""``skstruct compile``: compile ahead of the first use.

Compile kernels before their first use: by default for training and prediction of the
perceptron. Kernels in the cache are not compiled again. The last line, on standard
output, is the folder of the cache.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from numba import config

from .._core.brought_kernels import PORTABLE
from .._core.kernel_folders import cache_folder, clear_cache
from .._warming import warm_up
from .common import CommandError, tell

if TYPE_CHECKING:
    from .common import Arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add(
        "--all",
        action="store_true",
        help="compile every kind of model, which takes minutes",
    )
    what = (
        "compile for any processor of this architecture (such as x86-64): "
        "kernels may be slower"
    )
    add("--portable", action="store_true", help=what)
    what = (
        "remove the kernels of this installation, except in "
        "NUMBA_CACHE_DIR; alone, or before compiling"
    )
    add("--clear", action="store_true", help=what)


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    if arguments.clear:
        for folder in clear_cache():
            tell(f"removed {folder}")
        kept = config.CACHE_DIR  # type: ignore[attr-defined] # numba sets it by name
        if kept:
            tell(
                "left alone, since other installations may use it: "
                f"NUMBA_CACHE_DIR, {kept}"
            )
        if not (arguments.all or arguments.portable):
            return 0
    names = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
    if arguments.portable and tuple(map(os.environ.get, names)) != PORTABLE:
        # Numba reads these when it starts, so that another process has to compile.
        again = [
            sys.executable,
            "-m",
            "skstruct",
            "compile",
            "--portable",
            *(["--all"] * arguments.all),
        ]
        return subprocess.run(
            again, env={**os.environ, **dict(zip(names, PORTABLE))}
        ).returncode
    if cache_folder() is None:
        raise CommandError(
            "no folder for compiled kernels can be written to; set NUMBA_CACHE_DIR to "
            "one that can"
        )
    print(warm_up(all=arguments.all, progress=tell))
