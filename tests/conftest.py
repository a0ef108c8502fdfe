"""Strictness shared by all tests: checked shapes and no silent dtype promotion."""

import os
import platform
from collections.abc import Iterator
from importlib.util import find_spec
from mmap import ACCESS_READ, mmap
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# The tests compile far more than they run: unoptimised code is ready several times sooner.
_QUICK = ["--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true"]
# The older emitters write it in half the time of those that go by MLIR. Unoptimised, they fuse
# a product and a sum into one rounding here and not there, and two copies of one number differ;
# instructions of before AVX2 have no such fusion, and those are named for x86 alone.
_QUICKER = [
    "--xla_cpu_use_fusion_emitters=false",
    "--xla_cpu_parallel_codegen_split_count=1",
    "--xla_cpu_max_isa=AVX",
]


def _known(flags: list[str]) -> bool:
    """Whether the library names them all: a flag that it does not know ends the process."""
    found = find_spec("jaxlib")
    for folder in (found and found.submodule_search_locations) or ():
        for path in Path(folder).glob("libjax_common.*"):
            with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as text:
                return all(text.find(flag[2:].split("=")[0].encode()) >= 0 for flag in flags)
    return False


if platform.machine() in ("x86_64", "AMD64") and _known(_QUICKER):
    _QUICK += _QUICKER
os.environ.setdefault("XLA_FLAGS", " ".join(_QUICK))
# Both workers, the processes that tests start, and the next run share what was compiled.
_KEPT = Path(__file__).parent.parent / ".pytest_cache" / "xla"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_KEPT))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.05")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

from jaxtyping import install_import_hook

install_import_hook("mam", "beartype.beartype")

import jax
import pytest
from hypothesis import HealthCheck, settings

jax.config.update("jax_numpy_dtype_promotion", "strict")

# Compilations make first examples slow and timings meaningless.
settings.register_profile(
    "mam",
    deadline=None,
    max_examples=20,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("mam"), max_examples=10)
settings.load_profile("mam")


def pytest_configure(config: pytest.Config) -> None:
    """Fewer examples where the longer checks are left out."""
    if config.option.markexpr == "not slow":
        settings.load_profile("quick")


_MAPS = Path("/proc/self/maps")
_MANY = 20_000  # memory maps; Linux grants a process 65,530, and then compiling crashes


@pytest.fixture(autouse=True, scope="module")
def _few_memory_maps() -> Iterator[None]:
    """Forget compiled programs before they take all memory maps that a process may have."""
    yield
    if _MAPS.exists() and _MAPS.read_text().count("\n") > _MANY:
        jax.clear_caches()


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs over shards do all in this process: a cluster costs seconds, and has other disks."""
    import mam.scale

    held = mam.scale.held_run
    monkeypatch.setattr(
        mam.scale, "held_run", lambda *given, cluster, **known: held(*given, **known)
    )
