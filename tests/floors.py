"""The rooms of the package: the core from the ground up, and its guests above it."""

import pathlib

import skstruct

PACKAGE = pathlib.Path(skstruct.__file__).resolve().parent

CORE = (
    ("_version", "_names", "_core"),
    ("_data",),
    ("_sklearn", "schemes"),
    ("_saving", "metrics"),
    ("features", "_training"),
    ("_shards",),
    ("_chain", "_parser"),
    ("_taggers", "_crf.solver"),
    ("_crf", "_shards.mixing", "_words"),
    ("_warming",),
)
"""Folders and top-level modules of the core from the ground up."""

GUESTS = (
    ("datasets.formats",),
    ("_one_file",),
    ("interchange",),
    ("inspection",),
    ("datasets",),
    ("serving",),
    ("cli", "compat"),
)
"""Folders above the core, which needs none of them: `tests/test_guests.py` deletes each."""

FLOORS = CORE + GUESTS


def _folders(floors):
    names = {room.partition(".")[0] for rooms in floors for room in rooms}
    return {name for name in names if (PACKAGE / name / "__init__.py").exists()}


CORE_ROOMS = _folders(CORE)
GUEST_ROOMS = _folders(GUESTS)
