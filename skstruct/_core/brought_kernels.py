"""Kernels that a wheel brings with it, compiled when the wheel was built.

They lie in a folder of the package, in a file each, as a cache has them; nothing is
ever written there. Its path says for which versions they were compiled: where one is
another, there is no such folder, and kernels are compiled as without it. What is not in
the path stands in the key of each file, the processor as well.

Kernels of a wheel are for a level of processors: x86-64-v3 is what those of 2013 and
later have, a vector unit of 256 bits and fused products above all. Others do not load
them. ``hatch_build.py`` in the sources builds such wheels.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
from importlib import metadata

import numpy as np

from .kernel_folders import folder_name
from .sources import PACKAGE

PORTABLE = "generic", ""
"""Name and features of a processor of which nothing is known but its kind, as numba's
settings have them.
"""

_X86_64_V3 = frozenset(
    "avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 "
    "sse3 sse4.1 sse4.2 ssse3 xsave".split()
)
"""The features of the level, by their names in LLVM."""

NAME = "_kernels"
"""The folder in the package."""


def plain_triple(triple: str) -> str:
    """Return architecture, vendor and system without the release of the system, which
    macOS has there and which changes no machine code.
    """
    return re.sub(r"(?<=-darwin)[0-9.]+", "", triple)


def level_of(triple: str) -> tuple[tuple[str, str], frozenset[str]]:
    """Return for which processors a wheel has kernels.

    Parameters
    ----------
    triple : str
        Architecture, vendor and system, as LLVM has them.

    Returns
    -------
    processor : tuple of (str, str)
        Name and features, as numba's settings have them.
    needed : frozenset of str
        The features without which a processor cannot run such kernels.
    """
    if triple.startswith("x86_64-"):
        return ("x86-64-v3", ""), _X86_64_V3
    return PORTABLE, frozenset()


def processor_of_brought(
    triple: str,
    features: str,
) -> tuple[str, str, str] | None:
    """Return the processor whose kernels this one may load; None if there is none.

    Parameters
    ----------
    triple, features : str
        The processor of this process, as numba has it: features with a sign in front,
        separated by commas.
    """
    processor, needed = level_of(triple)
    known = {one[1:] for one in features.split(",") if one.startswith("+")}
    return (triple, *processor) if needed <= known else None


@functools.cache
def _versions() -> str:
    """Return the versions that numba's does not imply, as the name of a folder.

    That of llvmlite, which is numba's to import, is read from its installed metadata.
    """
    # The suffix of extension modules names Python's version, build, system and machine.
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or sys.implementation.cache_tag
    python = suffix.strip(".").partition(".")[0]
    numbers = np.__version__.partition(".")[0]
    return f"{python}-llvmlite-{metadata.version('llvmlite')}-numpy-{numbers}"


def brought_folder() -> str:
    """Return the folder that holds the kernels for these versions, if there are any."""
    return os.path.join(PACKAGE, NAME, _versions(), folder_name())
