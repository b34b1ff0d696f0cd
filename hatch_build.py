"""Put compiled kernels into a wheel: ``HATCH_BUILD_HOOK_ENABLE_CUSTOM=true``.

Such a wheel is for one version of Python and one platform. Its kernels are used where
numba, llvmlite and the processor are as well what they were compiled for
(``skstruct/_core/brought_kernels.py``), and it is an ordinary wheel elsewhere. Without
the variable nothing here is run, and the wheel is for all.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
from platform import machine
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILE = """
import pathlib, shutil, sys
root, cache, target = sys.argv[1:]
sys.path.insert(0, root)
from skstruct._core.kernel_folders import folders
from skstruct._core.brought_kernels import NAME, brought_folder
import skstruct
skstruct.warm_up(all=True, progress=lambda line: print(line, file=sys.stderr))
package = pathlib.Path(skstruct.__file__).parent
assert package.parent == pathlib.Path(root), package
inside = pathlib.Path(brought_folder()).relative_to(package / NAME)
shutil.copytree(next(folders()), pathlib.Path(target, inside))
"""
"""A program: the root of the sources, an empty cache, where the kernels shall lie."""

PROCESSOR = """
import sys
import llvmlite.binding
sys.path.insert(0, sys.argv[1])
from skstruct._core.brought_kernels import level_of
print(*level_of(llvmlite.binding.get_process_triple())[0], sep=",")
"""
"""A program that prints the settings of numba, which reads them when it is imported."""


def compile_kernels(root: str, target: str) -> None:
    """Compile the kernels of all kinds of models, for a level of processors.

    Parameters
    ----------
    root : str
        The folder of the sources.
    target : str
        A folder that is made, for those of ``skstruct/_kernels``.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("NUMBA_")
    }

    def run(program: str, *arguments: str) -> str:
        command = [sys.executable, "-c", program, root, *arguments]
        return subprocess.run(
            command, env=environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    name, features = run(PROCESSOR).strip().split(",")
    with tempfile.TemporaryDirectory() as cache:
        environment |= {
            "NUMBA_CPU_NAME": name,
            "NUMBA_CPU_FEATURES": features,
            "NUMBA_CACHE_DIR": cache,
        }
        run(COMPILE, cache, target)
    if not any(pathlib.Path(target).rglob("*.nbc")):
        raise RuntimeError("no kernel was compiled: is there a numba for this Python?")


def platform_tag() -> str:
    """Return the tag of the wheel: Python, its binary interface, and the platform.

    Machine code of kernels calls Python, numba and the mathematical functions of C
    alone, by names, so that no version of the C library is needed but numba's.
    """
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    binary = python + getattr(sys, "abiflags", "")
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ""
    if sys.platform == "darwin":  # whatever other architecture Python has, too
        oldest = "11_0" if machine() == "arm64" else "10_13"
        platform = f"macosx_{oldest}_{machine()}"
    if platform.startswith("linux_") and "musl" not in suffix:
        platform = platform.replace("linux_", "manylinux_2_17_", 1)
    return f"{python}-{binary}-{platform}"


class KernelsHook(BuildHookInterface):
    """What hatchling calls before and after it writes a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels and have them included."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        target = os.path.join(self._folder.name, "_kernels")
        compile_kernels(self.root, target)
        build_data["force_include"][target] = "skstruct/_kernels"
        build_data["pure_python"] = False
        build_data["tag"] = platform_tag()

    def finalize(
        self, version: str, build_data: dict[str, Any], artifact_path: str
    ) -> None:
        """Remove what was compiled, which is in the wheel now."""
        if version != "editable":
            self._folder.cleanup()
