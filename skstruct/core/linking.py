"""How the helpers of kernels are compiled: once, for linking alone.

Numba optimises each function, turns it into machine code, and links it into the functions that call it, where
it is optimised again. A helper that only kernels call needs none of the former: its code is translated, kept
as it is, and optimised as a part of each kernel. The classes extended here are internal ones of numba, the
same in 0.60 and 0.68.
"""

import functools
import gc

from numba.core.codegen import JITCodeLibrary, ll

from .resolving import KernelCompiler


class _CodegenOfHelpers:
    """Numba's, without environments: they are for functions that raise errors or hold objects."""

    def __init__(self, codegen):
        self._codegen = codegen

    def __getattr__(self, name):
        return getattr(self._codegen, name)

    def set_env(self, name, environment):
        pass


class _HelperLibrary(JITCodeLibrary):
    """The code of a helper; nothing of it can be called."""

    @property
    def codegen(self):
        return _CodegenOfHelpers(self._codegen)

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalized = True

    def serialize_using_object_code(self):
        return self.serialize_using_bitcode()


class HelperContext:
    """Numba's target context, for which a saved library is that of a helper."""

    def __init__(self, context):
        self._context = context

    def __getattr__(self, name):
        return getattr(self._context, name)

    def codegen(self):
        return self

    def unserialize_library(self, saved):
        name, _, bitcode = saved
        library = _HelperLibrary(self._context.codegen(), name)
        library._final_module = ll.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class HelperCompiler(KernelCompiler):
    """The compiler of kernels, into a :class:`_HelperLibrary`."""

    def compile_extra(self, func):
        self.state.library = _HelperLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


def without_collector(function):
    """``function`` with Python's cyclic collector off.

    A compilation makes millions of objects, few of which are garbage: to walk over them again and again takes
    a tenth of the time.
    """

    @functools.wraps(function)
    def call(*arguments, **options):
        enabled = gc.isenabled()
        gc.disable()
        try:
            return function(*arguments, **options)
        finally:
            if enabled:
                gc.enable()

    return call
