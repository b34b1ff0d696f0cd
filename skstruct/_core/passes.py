"""What numba does to a kernel before LLVM: the same, in less time.

Half of a compilation is numba's work in Python. Three things in it are done again and
again without need, and are left out for kernels, with the same code for LLVM:

* Two passes look for what kernels do not have, closures and expressions over arrays,
  and list the lives of all variables anew.
* A function that is spliced into its caller is copied twice, statement by statement,
  although it was made for this one caller.
* Settings are compared and hashed at each call of a function that is overloaded, by
  forty properties.

The classes extended here are internal ones of numba, the same in 0.61 and 0.68. Where
one lacks what is used of it, kernels go through numba's own passes.
"""

from __future__ import annotations

from typing import Any

try:
    from numba.core.compiler import Flags as NumbaFlags
    from numba.core.compiler_machinery import register_pass
    from numba.core.inline_closurecall import InlineWorker, callee_ir_validator
    from numba.core.ir import Block
    from numba.core.typed_passes import NopythonRewrites
    from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables
except ImportError:
    NumbaFlags = InlineWorker = Block = InlineInlinables = object  # type: ignore[assignment,misc]
    NopythonRewrites = InlineClosureLikes = register_pass = None  # type: ignore[assignment,misc]

_EXTENDED = (
    (NumbaFlags, "options"),
    (NumbaFlags, "values"),
    (Block, "copy"),
    (InlineWorker, "inline_function"),
    (InlineWorker, "run_untyped_passes"),
    (InlineInlinables, "_do_work"),
    (NopythonRewrites, "run_pass"),
    (InlineClosureLikes, "run_pass"),
)
"""What is replaced here, or called."""

ARE_KNOWN = all(hasattr(*one) for one in _EXTENDED)
"""Whether numba has all of it; else kernels go through its own passes."""

_NEEDLESS = InlineClosureLikes, NopythonRewrites


class Flags(NumbaFlags):
    """Numba's settings of a compilation.

    The name of the class is part of the names of functions in machine code.
    """

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        given = self._values
        return {
            name: given.get(name, option.default)
            for name, option in self.options.items()
        }


class _OwnBlock(Block):
    """A block of statements that nobody else has, so that a copy is itself."""

    def __deepcopy__(self, memo: dict[int, Any]) -> _OwnBlock:
        return self


class _Splicer(InlineWorker):
    """Numba's, which copies what it splices; here it is not copied."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        define = self._compiler_pipeline
        self._compiler_pipeline = lambda state: lean(define(state))

    def run_untyped_passes(self, *given: Any, **options: Any) -> Any:
        function = super().run_untyped_passes(*given, **options)
        for block in function.blocks.values():
            block.__class__ = _OwnBlock
        return function

    def inline_function(self, *given: Any, **options: Any) -> Any:
        spliced = super().inline_function(*given, **options)
        for _, block in spliced[-1]:
            block.__class__ = Block
        return spliced


class _Splice(InlineInlinables):
    """Numba's pass that splices helpers into a kernel, by :class:`_Splicer`."""

    _name = "splice_helpers"

    def _do_work(self, state: Any, *given: Any) -> Any:
        splicer = _Splicer(
            state.typingctx,
            state.targetctx,
            state.locals,
            state.pipeline,
            state.flags,
            validator=callee_ir_validator,
        )
        return super()._do_work(state, *given[:-1], splicer)


if register_pass is not None:
    register_pass(mutates_CFG=True, analysis_only=False)(_Splice)


def lean(pipeline: Any) -> Any:
    """Return a pipeline of numba without the passes that kernels do not need."""
    pipeline.passes = [
        (_Splice if step is InlineInlinables else step, text)
        for step, text in pipeline.passes
        if step not in _NEEDLESS
    ]
    pipeline.finalize()
    return pipeline
