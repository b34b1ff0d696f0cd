"""How kernels take their arguments from Python: one function for each type of argument.

Between Python and a kernel numba puts a function that turns objects into native values. It lists the lines
for an array as often as there are arrays among the arguments: for a model and the scratch of a search a third
of the machine code. Here each type of array, and of tuple, is read by a function of its own.

The classes extended here are internal ones of numba, the same in 0.60 and 0.68.
"""

from numba.core import cgutils, types
from numba.core.callwrapper import PyCallWrapper
from numba.core.cgutils import ir
from numba.core.pythonapi import NativeValue, PythonAPI


class _Api(PythonAPI):
    """Numba's, but for how arrays and tuples are read."""

    def __init__(self, context, builder, readers):
        super().__init__(context, builder)
        self.readers = readers

    def to_native_value(self, typ, obj):
        if not isinstance(typ, types.Array | types.BaseTuple):
            return super().to_native_value(typ, obj)
        place = cgutils.alloca_once(self.builder, self.context.get_value_type(typ))
        failed = self.read(typ, obj, place)
        return NativeValue(self.builder.load(place), is_error=failed)

    def read(self, typ, obj, place):
        """Write the native value of an object to a place in memory; returns whether that failed."""
        if not isinstance(typ, types.Array | types.BaseTuple):
            native = super().to_native_value(typ, obj)
            self.builder.store(native.value, place)
            return native.is_error
        if typ not in self.readers:
            self.readers[typ] = self._reader(typ)
        return self.builder.call(self.readers[typ], [obj, place])

    def _reader(self, typ):
        kind = ir.FunctionType(ir.IntType(1), [self.pyobj, self.context.get_value_type(typ).as_pointer()])
        function = ir.Function(self.module, kind, f"read.{len(self.readers)}.{id(typ)}")
        function.linkage = "internal"
        function.attributes.add("noinline")
        api = _Api(self.context, ir.IRBuilder(function.append_basic_block("entry")), self.readers)
        builder, (obj, place), failed = api.builder, function.args, cgutils.false_bit
        if isinstance(typ, types.Array):
            native = super(_Api, api).to_native_value(typ, obj)
            builder.store(native.value, place)
            failed = native.is_error
        else:
            for k, element in enumerate(typ):
                to = cgutils.gep_inbounds(builder, place, 0, k)
                failed = builder.or_(failed, api.read(element, api.tuple_getitem(obj, k), to))
        builder.ret(failed)
        return function


class Wrapper(PyCallWrapper):
    """Numba's, with :class:`_Api`; for kernels, which count no references."""

    def build_wrapper(self, api, builder, closure, args, kws):
        return super().build_wrapper(_Api(self.context, builder, {}), builder, closure, args, kws)
