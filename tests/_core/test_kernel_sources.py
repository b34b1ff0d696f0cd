"""The files of tuples that kernels take are sources of kernels; `test_house.py` finds the others."""

import gc

import pytest
from numba import config, types
from numba.extending import is_jitted

import skstruct
from skstruct._core.sources import SOURCES


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_each_file_with_a_tuple_that_kernels_take_is_in_the_list():
    skstruct.warm_up(all=True)
    files = set()

    def visit(kind):
        if isinstance(kind, types.BaseNamedTuple):
            files.add(kind.instance_class.__module__)
        for part in kind if isinstance(kind, types.BaseTuple) else ():
            visit(part)

    for each in gc.get_objects():
        if is_jitted(each) and each.__module__.startswith("skstruct."):
            for signature in each.signatures:
                for kind in signature:
                    visit(kind)
    paths = {"/".join(name.split(".")[1:]) + ".py" for name in files}
    assert len(paths) > 15
    missing = sorted(paths - set(SOURCES))
    assert missing == [], f"add to SOURCES in core/sources.py: {' '.join(missing)}"
