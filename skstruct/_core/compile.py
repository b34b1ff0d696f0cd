"""The decorators that compile kernels, and numba's cache of them.

Every kernel of the package is a module-level function over arrays, numbers and
``NamedTuple`` s of both. Kernels release the interpreter lock: prediction and averaging
run them from ordinary threads.

Kernels never allocate; all arrays, scratch included, are the caller's. So they are
compiled without reference counting (``_nrt=False``), which otherwise costs more than
the arithmetic: a ``NamedTuple`` of twenty arrays passed to a helper is forty atomic
operations (measured on a perceptron epoch: 2.0 s with, 0.3 s without). The price is
that a kernel cannot return an array.

Compiled kernels are kept in files (:mod:`.kernel_folders`), one for each kernel,
signature and kind of processor. Those compiled for any processor (``PORTABLE``, if
numba was told so by ``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES``) serve where there
are none for this one, and then those that a wheel brings with it
(:mod:`.brought_kernels`). Numba's own settings, and its cache of other packages, stay as
they are. What is used here of numba's insides may change with any version: if so, the
kernels are the same, and compilation takes longer or is repeated by each process.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import io
import multiprocessing
import os
import pickle
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numba import njit
from numba.extending import is_jitted

try:
    from numba.core.compiler import CompileResult
    from numba.core.cpu import CPUTargetOptions
    from numba.core.serialize import dumps
except ImportError:
    CompileResult = CPUTargetOptions = dumps = None  # type: ignore[assignment,misc]

from .brought_kernels import (
    PORTABLE,
    brought_folder,
    plain_triple,
    processor_of_brought,
)
from .kernel_folders import folders, make_folder, read_file, warn_once
from .kernel_lock import KernelLock
from .linking import HELPER, KERNEL, HelperContext, is_of_helper
from .sources import HASH, are_edited, hash_file

TEXT = (
    "skstruct: compiling kernels for this machine: three to fifteen seconds a kind "
    "of model; they are kept"
)
"""What is said before the first compilation of a process."""


@functools.cache
def _tell() -> None:
    """Say, once and in the main process only, what takes so long at a first use."""
    if multiprocessing.parent_process() is None and sys.stderr is not None:
        with suppress(OSError, ValueError):  # it is closed
            print(TEXT, file=sys.stderr, flush=True)


DIGEST = hashlib.sha256().digest_size
"""Bytes at the start of a file."""

_COUNTS = {"loaded": 0, "compiled": 0}


def cache_counts() -> tuple[int, int]:
    """(loaded, compiled): kernels that this process took from the cache, and those it
    compiled.
    """
    return _COUNTS["loaded"], _COUNTS["compiled"]


def _processor(codegen: Any) -> tuple[str, str, str]:
    """Return the kind of system, and name and features of the processor."""
    triple, name, features = codegen.magic_tuple()
    return plain_triple(triple), name, features


class _Cache:
    """The compiled versions of one kernel, in files; what numba asks of a cache, under
    its compiler lock.

    The name of a file has a digest of the key in it. The file begins with a digest of
    all that follows: nothing is unpickled that is not as it was written. Then comes the
    key, which is compared. So whatever processes write at once, no key ever leads to
    the code of another one.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        path = inspect.getfile(function)
        code = function.__code__
        name = f"{function.__module__}.{function.__qualname__}".replace(
            "<", ""
        ).replace(">", "")
        self._name = f"{name}-{code.co_firstlineno}.{sys.implementation.cache_tag}"
        # The sources of the package have a hash in the name of the folder; a kernel of
        # somebody else has not.
        cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
        self._content = hash_file(path), code.co_code, dumps(cells) if cells else b""
        self.cache_path = next(folders())
        self._lock = KernelLock()

    def enable(self) -> None:
        """Numba's; this cache cannot be switched off."""

    disable = flush = enable

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel of a signature; None if it has to be compiled,
        which other processes then wait for.
        """
        found = self._find(sig, target_context)
        if found is None and self._has_waited(sig, target_context):
            found = self._find(sig, target_context)
        if found is None:
            _tell()
        else:
            self._lock.release()
        _COUNTS["loaded"] += found is not None
        return found

    def guarded(self, compile: Callable[..., Any]) -> Callable[..., Any]:
        """Return numba's function that compiles the kernel, made to give up the right
        to do so where it fails or is interrupted: nobody waits for what will not come.
        """

        @functools.wraps(compile)
        def attempt(*args: Any, **options: Any) -> Any:
            try:
                return compile(*args, **options)
            except BaseException:
                self._lock.release()
                raise

        return attempt

    def _find(self, sig: Any, target_context: Any) -> Any:
        """Look for the kernel of a signature, for this processor or for any.

        Whatever a file holds, and whatever numba makes of it: what cannot be loaded is
        compiled again.
        """
        with suppress(Exception):
            processor = _processor(target_context.codegen())
            portable = (processor[0], *PORTABLE)
            return (
                self._load(sig, processor, target_context)
                or self._load(sig, portable, target_context)
                or self._load_brought(sig, processor, target_context)
            )
        return None

    def _has_waited(self, sig: Any, target_context: Any) -> bool:
        """Take the right to compile a kernel; return whether another process had it."""
        if are_edited():  # what it compiles is not saved
            return False
        with suppress(Exception):  # of numba's: there is nothing to wait for
            processor = _processor(target_context.codegen())
            for self.cache_path in folders():
                with suppress(OSError):
                    make_folder(self.cache_path)
                    return self._lock.acquire(self._path(sig, processor))
        return False

    def _load(self, sig: Any, processor: tuple[str, ...], context: Any) -> Any:
        """Look into the folders, up to the first that can be written to: there it would
        have been saved.
        """
        for self.cache_path in folders():
            with suppress(OSError):
                found = self._rebuild(sig, processor, context)
                if found is None:
                    make_folder(self.cache_path)
                return found
        return None

    def _load_brought(self, sig: Any, processor: tuple[str, ...], context: Any) -> Any:
        """Look into the folder that came with the package."""
        level = processor_of_brought(processor[0], processor[2])
        folder = brought_folder()
        if level is None or not os.path.isdir(folder):
            return None
        self.cache_path = folder
        return self._rebuild(sig, level, context)

    def _rebuild(self, sig: Any, processor: tuple[str, ...], context: Any) -> Any:
        """Return the compiled kernel that a file of the folder holds; None if there is
        none.
        """
        payload = self._payload(sig, processor)
        if payload is None:
            return None
        context.refresh()
        found = CompileResult._rebuild(
            HelperContext(context) if is_of_helper(payload) else context, *payload
        )
        return found._replace(target_context=context)

    def _payload(self, sig: Any, processor: tuple[str, ...]) -> Any:
        """Return what the file of a kernel holds; None if there is none, or it is
        damaged or for another key.
        """
        try:
            content = read_file(self._path(sig, processor))
        except FileNotFoundError:
            return None
        if content[:DIGEST] != self._digest(memoryview(content)[DIGEST:]):
            return None
        file = io.BytesIO(content)
        file.seek(DIGEST)
        key = pickle.load(file)
        return pickle.load(file) if key == (sig, processor, *self._content) else None

    def _digest(self, *parts: bytes | memoryview) -> bytes:
        """Of what a file holds, and of the name of its folder: kernels of other sources
        are none of these.
        """
        digest = hashlib.sha256(os.path.basename(self.cache_path).encode())
        for part in parts:
            digest.update(part)
        return digest.digest()

    def _path(self, sig: Any, processor: tuple[str, ...]) -> str:
        digest = hashlib.sha256(repr((sig, processor)).encode()).hexdigest()[:32]
        return os.path.join(self.cache_path, f"{self._name}.{digest}.nbc")

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save what was compiled for a signature, and let other processes have it."""
        _COUNTS["compiled"] += 1
        try:
            self._save(sig, data)
        finally:
            self._lock.release()

    def _save(self, sig: Any, data: Any) -> None:
        """Save a compiled kernel in the first folder that can be written to."""
        if are_edited():  # what was compiled may mix old and new
            return
        try:
            if data.library.has_dynamic_globals:  # addresses of this process
                return
            processor = _processor(data.codegen)
            key = dumps((sig, processor, *self._content))
            # Without the text of the kernel with all its types.
            payload = dumps(data._replace(type_annotation="")._reduce())
        except Exception as error:
            warn_once(
                f"cannot save kernels that this version of numba compiled ({error!r})"
            )
            return
        for self.cache_path in folders():
            with suppress(OSError):
                make_folder(self.cache_path)
                _write(
                    self._path(sig, processor), self._digest(key, payload), key, payload
                )
                return
        warn_once(
            "finds no folder to save kernels in (set NUMBA_CACHE_DIR to one that "
            "can be written to)"
        )


def _write(path: str, *parts: bytes) -> None:
    """Write a file that others see complete or not at all, and that no other user can
    write to.
    """
    temporary = f"{path}.{uuid.uuid4().hex[:16]}"
    try:
        with open(
            temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o644)
        ) as file:
            file.writelines(parts)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _known(**options: Any) -> dict[str, Any]:
    """Options that are not among numba's documented ones, without those that it does
    not have.
    """
    return {
        name: value
        for name, value in options.items()
        if hasattr(CPUTargetOptions, name)
    }


def _compiler(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    decorate = njit(
        **options,
        nogil=True,
        error_model="numpy",
        **_known(_nrt=False, no_cfunc_wrapper=True)
    )  # fmt: skip

    def compile(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = decorate(function)
        # Neither with NUMBA_DISABLE_JIT=1, nor in an archive, nor where numba keeps its
        # cache elsewhere.
        if is_jitted(compiled) and HASH and hasattr(compiled, "_cache"):
            cache = compiled._cache = _Cache(function)
            with suppress(AttributeError):
                compiler = compiled._compiler
                compiler.compile = cache.guarded(compiler.compile)
        return compiled

    return compile


kernel = _compiler(**KERNEL)
"""Compile a function that Python calls."""

_HELPER = {**_known(no_cpython_wrapper=True), **HELPER}

inline = _compiler(**_HELPER)
"""Compile a helper that only kernels call.

Unlike with numba's option ``inline``, which is `spliced` here, it is compiled by itself;
LLVM may inline it.
"""

spliced = _compiler(inline="always")
"""A helper whose lines numba puts into each kernel that calls it, before types are
known.

It is never compiled by itself, which saves most of the time of a helper with one or two
callers.
"""

# Without one order of summation that must be kept, a sum vectorises.
kernel_any_order = _compiler(**KERNEL, fastmath={"contract", "reassoc"})
"""As `kernel`; sums in any order."""

inline_any_order = _compiler(**_HELPER, fastmath={"contract", "reassoc"})
"""As `inline`; sums in any order."""

inline_fused = _compiler(**_HELPER, fastmath={"contract"})
"""As `inline`; a product and a sum may be rounded once instead of twice, but keep their
order.
"""

ZERO = np.int64(0)
ONE = np.int64(1)
"""Arguments of helpers: for literals numba would compile them once more."""
