"""How kernels and their helpers are compiled: helpers once, for linking alone.

Numba optimises each function, turns it into machine code, and links it into the
functions that call it, where it is optimised again. A helper that only kernels call
needs none of the former: its code is translated, kept as it is, and optimised as a part
of each kernel.

The classes extended here are internal ones of numba, the same in 0.61 and 0.68. With a
later version, or where one has others, kernels are compiled as numba compiles any
function: results are the same, and compilation takes longer.
"""

from __future__ import annotations

import gc
from typing import Any

from numba import version_info

try:
    from numba.core.codegen import JITCodeLibrary, ll
    from numba.core.compiler import Compiler
except ImportError:
    JITCodeLibrary = Compiler = ll = object  # type: ignore[assignment,misc]

NEWEST = (0, 68)
"""The newest numba whose insides are known."""

_EXTENDED = (
    (JITCodeLibrary, "_optimize_final_module"),
    (JITCodeLibrary, "_finalize_final_module"),
    (JITCodeLibrary, "serialize_using_object_code"),
    (JITCodeLibrary, "serialize_using_bitcode"),
    (Compiler, "compile_extra"),
    (Compiler, "define_pipelines"),
    (ll, "parse_bitcode"),
)
"""What is replaced here, or called."""


class _CodegenOfHelpers:
    """Numba's, without environments: they are for functions that raise errors or hold
    objects.
    """

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _HelperLibrary(JITCodeLibrary):
    """The code of a helper; nothing of it can be called."""

    @property
    def codegen(self) -> Any:
        return _CodegenOfHelpers(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()

    def is_as_known(self) -> bool:
        """Tell whether it has the attributes, set when it is made, that the methods
        here use.
        """
        return (
            hasattr(self, "_final_module")
            and getattr(self, "_finalized", None) is False
        )


class HelperContext:
    """Numba's target context, for which a saved library is that of a helper."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> HelperContext:
        return self

    def unserialize_library(self, saved: tuple[Any, ...]) -> Any:
        name, _, bitcode = saved
        library = _HelperLibrary(self._context.codegen(), name)
        library._final_module = ll.parse_bitcode(bitcode)
        library._finalize_final_module()
        return library


class _KernelCompiler(Compiler):
    """Numba's, with fewer passes (:mod:`.passes`), and Python's cyclic collector off.

    A compilation makes millions of objects, few of which are garbage: to walk over them
    again and again takes a tenth of the time.
    """

    def define_pipelines(self) -> list[Any]:
        # Where nothing is compiled, nobody waits for what this imports of numba.
        from . import passes

        pipelines = super().define_pipelines()
        return [*map(passes.lean, pipelines)] if passes.ARE_KNOWN else pipelines

    def compile_extra(self, func: Any) -> Any:
        from . import passes

        if passes.ARE_KNOWN:
            self.state.flags = passes.Flags(self.state.flags)
        enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if enabled:
                gc.enable()


class _HelperCompiler(_KernelCompiler):
    """That of kernels, into a :class:`_HelperLibrary`."""

    def compile_extra(self, func: Any) -> Any:
        library = _HelperLibrary(self.state.targetctx.codegen(), func.__qualname__)
        if library.is_as_known():
            self.state.library = library
        return super().compile_extra(func)


_KNOWN = version_info.short <= NEWEST and all(hasattr(*one) for one in _EXTENDED)
KERNEL, HELPER = (
    {"pipeline_class": compiler} if _KNOWN else {}
    for compiler in (_KernelCompiler, _HelperCompiler)
)
"""Options of ``numba.njit`` for kernels and for helpers."""


def is_of_helper(payload: Any) -> bool:
    """Tell whether numba's cache holds the code of a helper there."""
    try:
        return (
            payload[0][1] == "bitcode"
        )  # name, kind and code of the library; numba itself writes "object"
    except (TypeError, LookupError):
        return False
