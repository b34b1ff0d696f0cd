"""How kernels are compiled: by numba's own compiler, which is not asked the same thing twice.

Numba finds out what each call of a function returns, operators included: it tries one declaration after the
other, at each place and in each round of inference. That was a fifth of the time of a compilation, and nine
in ten of these questions had been asked before. So answers are kept here.

Kernels are loops over arrays and numbers. Passes that look for what they never have are left out. The classes
extended here are internal ones of numba, the same in 0.60 and 0.68.
"""

from numba.core import types, typing
from numba.core.compiler import Compiler

LEFT_OUT = {
    "with_lifting", "inline_closure_likes", "make_function_op_code_to_jit_function", "find_literally",
    "literal_unroll", "LiteralPropagation", "inline_overloads", "nopython_rewrites",
    "nopython_supported_feature_validation", "dump_parfor_diagnostics",
}  # fmt: skip
"""The passes, by name, that do nothing for kernels: they are for closures, array expressions and the like."""


class _RememberingContext(typing.Context):
    """Numba's typing context, with what it answered so far about builtin functions.

    All state but the answers is that of the context given. The answers depend on how sums may be reordered,
    which overloads of numba inherit from the kernel that calls them: so there is a context for each way.
    """

    def __init__(self, context):
        self.__dict__ = context.__dict__
        _ANSWERS[self] = {}

    def resolve_function_type(self, func, args, kws):
        builtin = isinstance(func, types.Function) or not isinstance(func, (types.Type, str))
        if not builtin:  # a helper, or a name whose arguments are no types
            return super().resolve_function_type(func, args, kws)
        key = func, args, tuple(kws.items())
        answers = _ANSWERS[self]
        if key in answers:
            signature, function, implementation = answers[key]
            function._impl_keys[signature.args] = implementation  # as numba does with each answer
            return signature
        signature = super().resolve_function_type(func, args, kws)
        function = func if isinstance(func, types.Function) else self._lookup_global(func)
        if signature is not None and isinstance(function, types.Function):
            answers[key] = signature, function, function._impl_keys[signature.args]
        return signature


_ANSWERS = {}
_CONTEXTS = {}


def _remembering(context, flags):
    key = context, str(flags.fastmath)
    if key not in _CONTEXTS:
        _CONTEXTS[key] = _RememberingContext(context)
    return _CONTEXTS[key]


class ResolvingCompiler(Compiler):
    """Numba's compiler, which keeps what it has found out."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)
        self.state.typingctx = _remembering(typingctx, flags)

    def define_pipelines(self):
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes[:] = [each for each in pipeline.passes if each[0].name() not in LEFT_OUT]
            pipeline.finalize()
        return pipelines
