"""Kernels that a wheel brings: who loads them, and who compiles as if there were none."""

import importlib.util
import shutil
from pathlib import Path

import llvmlite
import numba
import pytest
from toy_package import place, read_only, run_kernels, run_python

import skstruct
from skstruct._core.brought_kernels import (
    NAME,
    PORTABLE,
    brought_folder,
    level_of,
    plain_triple,
    processor_of_brought,
)

__all__ = ["place", "read_only"]  # fixtures

ROOT = Path(skstruct.__file__).resolve().parent.parent
TRIPLE = llvmlite.binding.get_process_triple()
POOR = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "-avx2"}
"""A processor that lacks what the kernels of a wheel need."""


@pytest.fixture(scope="module")
def compiled():
    """Name and files of a folder of kernels of `toy`, compiled as those of a wheel."""
    return {}


@pytest.fixture
def wheel(place, compiled):
    """A folder with kernels in the package `toy`, as a wheel brings them; no cache holds any."""
    brought = place / "code/toy" / NAME / Path(brought_folder()).parent.name
    if not compiled:
        settings = dict(
            zip(("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"), level_of(TRIPLE)[0])
        )
        folder = Path(run_kernels(place, "add", **settings)["folders"][0])
        compiled.update(name=folder.name, files=content(folder))
        shutil.rmtree(folder.parent)
    folder = brought / compiled["name"]
    folder.mkdir(parents=True)
    for name, code in compiled["files"].items():
        (folder / name).write_bytes(code)
    return folder


def is_able():
    """Whether this processor has what the kernels of a wheel need."""
    from numba.core.registry import cpu_target

    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    return processor_of_brought(triple, features) is not None


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


needs_level = pytest.mark.skipif(
    numba.config.DISABLE_JIT or not is_able(), reason="no kernels for this processor"
)


@needs_level
def test_nothing_is_compiled_and_nothing_written(wheel, place, read_only):
    before = content(wheel)
    for close in (lambda: None, read_only):
        close()
        done = run_kernels(place, "add")
        assert done["values"] == [41] and done["compiled"] == []
        assert done["folders"] == [str(wheel)] and done["warnings"] == []
    assert content(wheel) == before


@needs_level
def test_what_the_wheel_lacks_is_compiled_and_kept_elsewhere(wheel, place):
    before = content(wheel)
    done = run_kernels(place, "add", "double")
    assert done["values"] == [41, 80] and done["compiled"] == ["double"]
    assert Path(done["folders"][1]).parent == place / "code/toy/__pycache__"
    assert content(wheel) == before
    assert run_kernels(place, "add", "double")["compiled"] == []


@needs_level
def test_kernels_for_the_very_processor_come_first(wheel, place):
    aside = wheel.rename(wheel.with_name("aside"))
    own = run_kernels(place, "add")
    assert own["compiled"] == ["add"]
    aside.rename(wheel)
    assert run_kernels(place, "add") == {**own, "compiled": []}


@needs_level
@pytest.mark.parametrize("change", [-1, 0, 200], ids=["end", "digest", "key"])
def test_a_damaged_file_is_compiled_again(wheel, place, change):
    (path,) = (one for one in wheel.iterdir() if ".add-" in one.name)
    code = bytearray(path.read_bytes())
    code[change] ^= 1
    path.write_bytes(code)
    done = run_kernels(place, "add")
    assert done["values"] == [41] and done["compiled"] == ["add"]


@needs_level
def test_a_file_of_another_kernel_is_not_taken(wheel, place):
    """Whoever renames a file gets no other function."""
    add, other = sorted(wheel.iterdir(), key=lambda path: ".add-" not in path.name)
    shutil.copyfile(other, add)
    done = run_kernels(place, "add")
    assert done["values"] == [41] and done["compiled"] == ["add"]


@needs_level
@pytest.mark.parametrize(
    "change",
    [
        "import numba; numba.__version__ += '.1'",
        "from importlib import metadata; metadata.version = lambda name: '0.99.1'",
        "import numpy; numpy.__version__ = '3.0.0'",
        "import sysconfig; sysconfig.get_config_var = lambda name: '.cpython-399.so'",
    ],
    ids=["numba", "llvmlite", "numpy", "python"],
)
def test_other_versions_compile(wheel, place, change):
    script = f"{change}\nfrom toy import caller\nprint(caller.add(40), caller.add.stats.cache_misses)"
    assert run_python(place, script).startswith("41 Counter({(int64,): 1})")


@needs_level
def test_other_sources_compile(wheel, place):
    helper = place / "code/toy/core/helper.py"
    helper.write_text(helper.read_text().replace("return 1", "return 2"))
    done = run_kernels(place, "add")
    assert done["values"] == [42] and done["compiled"] == ["add"]


@needs_level
@pytest.mark.skipif(level_of(TRIPLE)[0] == PORTABLE, reason="nothing is needed")
def test_a_processor_without_the_features_compiles(wheel, place):
    done = run_kernels(place, "add", **POOR)
    assert done["values"] == [41] and done["compiled"] == ["add"]


def test_the_level_is_asked_for_by_its_features():
    triple = "x86_64-unknown-linux-gnu"
    processor, needed = level_of(triple)
    have = ",".join(f"+{name}" for name in sorted(needed))
    assert processor_of_brought(triple, have) == (triple, *processor)
    for name in needed:
        others = have.replace(f"+{name},", f"-{name},")
        if others != have:  # the last one has no comma
            assert processor_of_brought(triple, others) is None
    assert processor_of_brought(triple, "") is None
    arm = "aarch64-unknown-linux-gnu"
    assert processor_of_brought(arm, "+neon") == (arm, *PORTABLE)


@pytest.mark.parametrize(
    "triple, plain",
    [
        ("arm64-apple-darwin23.6.0", "arm64-apple-darwin"),
        ("x86_64-unknown-linux-gnu", "x86_64-unknown-linux-gnu"),
        ("x86_64-pc-windows-msvc", "x86_64-pc-windows-msvc"),
    ],
)
def test_the_release_of_macos_tells_no_kernels_apart(triple, plain):
    assert plain_triple(triple) == plain


# -- the hook of the build ---------------------------------------------------------------------
@pytest.fixture
def hook(monkeypatch):
    """The module ``hatch_build.py``, whose kernels are an empty file."""
    pytest.importorskip("hatchling", reason="hatchling builds wheels")
    path = ROOT / "hatch_build.py"
    if not path.is_file():
        pytest.skip("the sources are not here")
    spec = importlib.util.spec_from_file_location("hatch_build", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def compile_kernels(root, target):
        Path(target).mkdir()
        Path(target, "kernel.nbc").touch()

    monkeypatch.setattr(module, "compile_kernels", compile_kernels)
    return module


def test_a_wheel_with_kernels_is_for_one_python_and_one_platform(hook):
    built = hook.KernelsHook(str(ROOT), {}, None, None, "", "wheel")
    data = {"force_include": {}, "pure_python": True}
    built.initialize("standard", data)
    ((folder, inside),) = data["force_include"].items()
    assert inside == f"skstruct/{NAME}" and Path(folder, "kernel.nbc").is_file()
    python, _, platform = data["tag"].split("-")
    assert not data["pure_python"] and python.startswith("cp") and platform != "any"
    built.finalize("standard", data, "")
    assert not Path(folder).exists()


@pytest.mark.parametrize(
    "machine, tag", [("arm64", "11_0_arm64"), ("x86_64", "10_13_x86_64")]
)
def test_a_wheel_of_macos_is_for_the_architecture_of_its_kernels(
    hook, monkeypatch, machine, tag
):
    """Python may have both; numba compiles for the one that runs."""
    monkeypatch.setattr(hook.sys, "platform", "darwin")
    monkeypatch.setattr(hook, "machine", lambda: machine)
    assert hook.platform_tag().endswith(f"-macosx_{tag}")


def test_an_editable_install_compiles_nothing(hook):
    built = hook.KernelsHook(str(ROOT), {}, None, None, "", "wheel")
    data = {"force_include": {}, "pure_python": True}
    built.initialize("editable", data)
    built.finalize("editable", data, "")
    assert data == {"force_include": {}, "pure_python": True}
