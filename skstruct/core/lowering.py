"""How the variables of kernels are translated: as values, not as places in memory.

Numba keeps a variable that is used in more than one block of code on the stack: it stores the whole tuple of
arrays there, loads the whole tuple to read one array, and overwrites it where it is last used, so that
nothing is freed twice. LLVM then takes all this apart again, field by field, which took longer than anything
else for kernels whose arguments have fifty arrays. Here a variable that is assigned once, in a block that all
its uses come after, is the value itself; and as kernels count no references, nothing is overwritten.

The classes extended here are internal ones of numba, the same in 0.60 and 0.68.
"""

from collections import Counter

from numba.core import cgutils, ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.compiler import Flags
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from .resolving import ResolvingCompiler
from .wrapping import Wrapper


class _Lower(Lower):
    """Numba's, but for variables."""

    _apart = False
    """Whether the machine code of the function is not copied into what calls it."""

    def lower_function_body(self):
        if self._apart:
            self.function.attributes.add("noinline")
        return super().lower_function_body()

    @property
    def _counts_references(self):
        return self.context.enable_nrt or self._disable_sroa_like_opt

    def _find_singly_assigned_variable(self):
        super()._find_singly_assigned_variable()
        if not self._counts_references:
            self._singly_assigned_vars |= _values(self.func_ir.blocks)

    def storevar(self, value, name, argidx=None):
        if self._counts_references:
            super().storevar(value, name, argidx)
            return
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name):
        if self._counts_references:
            super().delvar(name)

    def create_cpython_wrapper(self, release_gil=False):
        if self._counts_references:
            super().create_cpython_wrapper(release_gil)
            return
        module = self.context.create_module("wrapper")
        kind = self.call_conv.get_function_type(self.fndesc.restype, self.fndesc.argtypes)
        kernel = cgutils.ir.Function(module, kind, self.fndesc.llvm_func_name)
        Wrapper(
            self.context, module, kernel, self.fndesc, self.env, self.call_helper, release_gil
        ).build()  # fmt: skip
        self.library.add_ir_module(module)


def _values(blocks):
    """Names of the variables that are assigned once, before all their uses; numba lowers blocks by label."""
    used, on_stack = compute_use_defs(blocks).usemap, must_use_alloca(blocks)
    dominators = compute_cfg_from_blocks(blocks).dominators()
    assigned, block_of = Counter(), {}
    for label, block in blocks.items():
        for statement in block.find_insts(ir.Assign):
            assigned[statement.target.name] += 1
            block_of[statement.target.name] = label
    once = {name for name, times in assigned.items() if times == 1 and name not in on_stack}
    for label, names in used.items():
        for name in once.intersection(names):
            if not block_of[name] < label or block_of[name] not in dominators[label]:
                once.discard(name)
    return once


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "lowering_of_kernels"

    @property
    def lowering_class(self):
        return _Lower


class _LowerApart(_Lower):
    _apart = True


@register_pass(mutates_CFG=True, analysis_only=False)
class ApartLowering(NativeLowering):
    """For helpers that are not copied into what calls them."""

    _name = "lowering_of_helpers_apart"

    @property
    def lowering_class(self):
        return _LowerApart


class _Flags(Flags):
    """Numba's, which compares them, all forty, each time it looks for the type of an operation."""

    __slots__ = ()

    def __hash__(self):
        return _HASH

    def values(self):
        return {**_DEFAULTS, **self._values}


_DEFAULTS = {name: option.default for name, option in Flags.options.items()}
_HASH = hash(Flags())


class KernelCompiler(ResolvingCompiler):
    """The compiler of kernels: numba's, with :class:`_Lower`."""

    lowering = _Lowering

    def compile_extra(self, func):
        self.state.flags = _Flags(self.state.flags)
        return super().compile_extra(func)

    def define_pipelines(self):
        pipelines = super().define_pipelines()
        for manager in pipelines:
            manager.passes = [
                (self.lowering if each is NativeLowering else each, text) for each, text in manager.passes
            ]
            manager.finalize()
        return pipelines
