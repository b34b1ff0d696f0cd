"""What the tests of files share."""

import pickle

import pytest

import skstruct
from skstruct._core.hashing import empty_table, rehash


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skstruct"


@pytest.fixture
def reload(path):
    """A function that saves an estimator and loads it, without any pickle."""
    rehash(
        empty_table(), empty_table()
    )  # numba reads compiled code from its cache by pickle

    def reload(estimator, **options):
        with pytest.MonkeyPatch.context() as patch:
            for name in ("load", "loads", "dump", "dumps", "Unpickler", "Pickler"):
                patch.setattr(
                    pickle, name, lambda *_, **__: pytest.fail("pickle was used")
                )
            estimator.save(path, **options)
            assert (
                path.read_bytes()[:8] == b"\x89STR\r\n\x1a\n"
            )  # 0x89 is no opcode to begin with
            return skstruct.load(path)

    return reload
