"""The decorators that compile kernels, and where compiled kernels are kept.

Every kernel of the package is a module-level function over arrays, numbers and ``NamedTuple`` s of
both, so that numba's on-disk cache serves it at the next start of a process. Kernels release the
interpreter lock: prediction and averaging run them from ordinary threads.

Kernels never allocate; all arrays, scratch included, are the caller's. So they are compiled without
reference counting (``_nrt=False``), which otherwise costs more than the arithmetic: a ``NamedTuple``
of twenty arrays passed to a helper is forty atomic operations (measured on a perceptron epoch: 2.0 s
with, 0.3 s without). The price is that a kernel cannot return an array.

Numba optimises a helper in every kernel that calls it (``core.linking``). It is asked once what a call
returns (``core.resolving``), and variables of kernels are values (``core.lowering``). What keeps compilation
short besides is to pass few arrays, and to leave out of a kernel what few users need.

The cache. Numba notices when the file of a kernel changes, but not when a helper in another file does,
so that the machine code of an older version of the package could run. Here the cache's folder is named
after a hash of all files with kernels and of what these import. Numba also insists on a folder it can
write to. Here a kernel is looked for in each of the places that :func:`_folders` lists, up to the first
that can be written to, which is where a kernel that was not found is saved. Compiled kernels are for the
processor that compiled them, or for any of its kind (``PORTABLE``), if numba was told so by
``NUMBA_CPU_NAME`` and ``NUMBA_CPU_FEATURES``: these serve where there are none for this processor. All this
concerns the kernels of this package alone: numba's settings stay as they are.
"""

import functools
import glob
import hashlib
import inspect
import os
import re
import shutil
import stat
import sys
import tempfile
import warnings
from contextlib import suppress

import numba
from numba import config, njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.extending import is_jitted
from numba.misc.appdirs import AppDirs

from .linking import APART, HELPER, KERNEL, HelperContext, is_of_helper, without_collector

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@functools.cache
def _read_hash(path, time, size):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


def _hash_file(path):
    """Return the SHA-256 of a file; it is read again only after a change."""
    status = os.stat(path)
    return _read_hash(path, status.st_mtime_ns, status.st_size)


_KERNEL = re.compile(rb"^@(kernel|inline)", re.MULTILINE)
_IMPORT = re.compile(rb"^from (\.+)([\w.]*) import ([\w, ]*)", re.MULTILINE)


def _imported(path, source):
    """Yield the paths that the relative imports at the top of a source file may name."""
    for dots, module, names in _IMPORT.findall(source):
        folder = path
        for _ in dots:
            folder = os.path.dirname(folder)
        base = os.path.join(folder, *module.decode().split("."))
        yield f"{base}.py"
        for name in names.decode().replace(",", " ").split():
            yield os.path.join(base, f"{name}.py")


def kernel_sources():
    """Return the paths of the files with kernels, and of all files of the package that these import.

    The latter because kernels have helpers, constants and the fields of tuples from there built in.
    """
    sources = {}
    for folder, subfolders, files in os.walk(PACKAGE):
        if "__pycache__" in subfolders:
            subfolders.remove("__pycache__")
        for name in files:
            # Editors leave links that lead nowhere, whose names start with a dot.
            if name.endswith(".py") and not name.startswith("."):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    sources[path] = file.read()
    found = set()
    waiting = [path for path, source in sources.items() if _KERNEL.search(source)]
    while waiting:
        path = waiting.pop()
        if path in sources and path not in found:
            found.add(path)
            waiting.extend(_imported(path, sources[path]))
    return sorted(found)


def hash_sources():
    """Return a hash of all sources of kernels, or None where there are none (in an archive)."""
    digest = hashlib.sha256()
    sources = kernel_sources()
    for path in sources:
        digest.update(os.path.relpath(path, PACKAGE).encode() + b"\0" + _hash_file(path))
    return digest.hexdigest()[:16] if sources else None


PORTABLE = "generic", ""
"""Name and features of a processor of which nothing is known but its kind, as numba's settings have them."""

_HASH = hash_sources()
_NAME = f"{os.path.basename(PACKAGE)}-{{}}-numba-{numba.__version__}"


def _make_private_folder():
    """Return a folder for temporary files that nobody else can write to.

    A cache is code, and the name can be guessed: a folder prepared by somebody else is refused.
    """
    user = os.geteuid() if hasattr(os, "geteuid") else None  # None on Windows: temporary files are private
    path = os.path.join(tempfile.gettempdir(), f"{os.path.basename(PACKAGE)}-kernels-{user}")
    with suppress(FileExistsError):
        os.mkdir(path, 0o700)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(path)
    if user is not None and (status.st_uid != user or stat.S_IMODE(status.st_mode) != 0o700):
        raise PermissionError(path)
    return path


def _folders():
    """Yield the folders that may hold compiled kernels, the preferred ones first."""
    name = _NAME.format(_HASH)
    if config.CACHE_DIR:
        yield os.path.join(config.CACHE_DIR, name)
    yield os.path.join(PACKAGE, "__pycache__", name)
    home = AppDirs(appname="numba", appauthor=False).user_cache_dir
    if os.path.isabs(home):  # "~/.cache" where the user has no home
        yield os.path.join(home, name)
    with suppress(OSError):
        yield os.path.join(_make_private_folder(), name)


@functools.cache
def _warn():
    """Say, once in a process, that no kernel can be saved."""
    warnings.warn(
        f"{os.path.basename(PACKAGE)} finds no folder to save compiled kernels in, so each process compiles "
        "them again, for ten seconds and more; set the environment variable NUMBA_CACHE_DIR to a folder that "
        "can be written to",
        RuntimeWarning,
    )


_LISTENERS = []


def before_compiling(listener):
    """Have a function without arguments called before each compilation, which takes seconds.

    Kernels that are found in a cache are not compiled. The function is called under numba's compiler lock;
    given again, it is still called once.
    """
    if listener not in _LISTENERS:
        _LISTENERS.append(listener)


def _announce():
    for listener in _LISTENERS:
        listener()


class _Locator(_CacheLocator):
    """What tells numba where the code of one kernel is and whether it is up to date."""

    def __init__(self, function):
        self._py_file = inspect.getfile(function)  # the name that numba's warnings use
        self._line = function.__code__.co_firstlineno
        self._stamp = _hash_file(self._py_file)
        self.folder = next(_folders())

    def get_cache_path(self):
        return self.folder

    def get_source_stamp(self):
        return self._stamp

    def get_disambiguator(self):
        return str(self._line)

    def ensure_cache_path(self):
        """Make the folder; raise OSError if that fails or it cannot be written to."""
        new = not os.path.isdir(self.folder)
        super().ensure_cache_path()
        parent = os.path.dirname(self.folder)
        # Elsewhere others may belong to other installations. A process older than an edit removes nothing.
        if new and parent == os.path.join(PACKAGE, "__pycache__") and hash_sources() == _HASH:
            for other in glob.glob(os.path.join(glob.escape(parent), _NAME.format("*"))):
                if other != self.folder:
                    shutil.rmtree(other, ignore_errors=True)


class _Implementation(CompileResultCacheImpl):
    """Numba's, but for the choice of a folder."""

    def __init__(self, function):
        # Numba's own would refuse the function unless it found a folder to write to.
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(function)
        name = f"{function.__module__}.{function.__qualname__}"
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))

    def rebuild(self, target_context, payload):
        if not is_of_helper(payload):
            return super().rebuild(target_context, payload)
        found = super().rebuild(HelperContext(target_context), payload)
        return found._replace(target_context=target_context)


class _Cache(FunctionCache):
    """Numba's cache of one kernel, over several folders. Numba calls it under its compiler lock."""

    _impl_class = _Implementation

    _portable = False
    """Whether kernels for any processor of this kind are looked for, not those for this one."""

    def _index_key(self, sig, codegen):
        signature, (triple, *processor), code = super()._index_key(sig, codegen)
        return signature, (triple, *(PORTABLE if self._portable else processor)), code

    def _turn_to(self, folder):
        locator = self._impl.locator
        locator.folder = self._cache_path = folder
        self._cache_file = IndexDataCacheFile(folder, self._impl.filename_base, locator.get_source_stamp())

    def load_overload(self, sig, target_context):
        found = self._load(sig, target_context)
        if found is None:
            self._portable = True
            try:
                found = self._load(sig, target_context)
            finally:
                self._portable = False
        if found is None:
            _announce()
        _COUNTS["loaded"] += found is not None
        return found

    def _load(self, sig, target_context):
        for folder in _folders():
            self._turn_to(folder)
            with suppress(OSError):
                found = super().load_overload(sig, target_context)
                if found is None:
                    self._impl.locator.ensure_cache_path()
                return found
        return None

    def save_overload(self, sig, data):
        _COUNTS["compiled"] += 1
        for folder in _folders():
            self._turn_to(folder)
            with suppress(OSError):
                self._impl.locator.ensure_cache_path()  # numba's own call hides errors on Windows
                return super().save_overload(sig, data)
        _warn()


_COUNTS = {"loaded": 0, "compiled": 0}


def cache_counts():
    """(loaded, compiled): kernels that this process took from the cache, and those it compiled."""
    return _COUNTS["loaded"], _COUNTS["compiled"]


def cache_folder():
    """The folder that a kernel would be saved in now; None if there is none."""
    for folder in _folders() if _HASH else ():
        with suppress(OSError):
            os.makedirs(folder, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


def clear_cache():
    """Remove the compiled kernels of this version from all folders that can be written to.

    Returns
    -------
    list of str
        The folders that were removed.
    """
    found = [folder for folder in _folders() if os.path.isdir(folder)]
    for folder in found:
        shutil.rmtree(folder, ignore_errors=True)
    return [folder for folder in found if not os.path.isdir(folder)]


def _compiler(**options):
    decorate = njit(**options, nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)

    def compile(function):
        compiled = decorate(function)
        if is_jitted(compiled):  # not with NUMBA_DISABLE_JIT=1
            if _HASH:
                compiled._cache = _Cache(function)
            else:
                compiled.enable_caching()
            compiled._compiler.compile = without_collector(compiled._compiler.compile)
        return compiled

    return compile


kernel = _compiler(**KERNEL)
"""Compile a function that Python calls."""

_HELPER = {"no_cpython_wrapper": True, **HELPER}

inline = _compiler(**_HELPER)
"""Compile a helper that only kernels call."""

spliced = _compiler(inline="always")
"""A helper whose lines numba puts into each kernel that calls it, before types are known.

It is never compiled by itself, which saves most of the time of a helper with one or two callers.
"""

# Without one order of summation that must be kept, a sum vectorises.
kernel_any_order = _compiler(**KERNEL, fastmath={"contract", "reassoc"})
"""As `kernel`; sums in any order."""

apart = _compiler(**{**_HELPER, **APART})
"""Compile a large helper that is called from several places, though rarely: it is not copied there."""

inline_any_order = _compiler(**_HELPER, fastmath={"contract", "reassoc"})
"""As `inline`; sums in any order."""

inline_fused = _compiler(**_HELPER, fastmath={"contract"})
"""As `inline`; a product and a sum may be rounded once instead of twice, but keep their order."""
