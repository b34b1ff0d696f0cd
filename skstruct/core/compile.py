"""The decorators that compile kernels.

Every kernel of the package is a module-level function over arrays, numbers and ``NamedTuple`` s of
both, so that numba's on-disk cache serves it at the next start of a process. Kernels release the
interpreter lock: prediction and averaging run them from ordinary threads.

Kernels never allocate; all arrays, scratch included, are the caller's. So they are compiled without
reference counting (``_nrt=False``), which otherwise costs more than the arithmetic: a ``NamedTuple``
of twenty arrays passed to a helper is forty atomic operations (measured on a perceptron epoch: 2.0 s
with, 0.3 s without). The price is that a kernel cannot return an array.

Numba optimises a helper again in every kernel that calls it. What keeps compilation short is to pass
few arrays and to nest few levels deep.
"""

from numba import njit

_OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "_nrt": False}

kernel = njit(**_OPTIONS, no_cfunc_wrapper=True)
"""Compile a function that Python calls."""

inline = njit(**_OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compile a helper that only kernels call."""
