"""Strictness shared by all tests: checked shapes and no silent dtype promotion."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# The tests compile far more than they run: unoptimised code is ready several times sooner.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

from jaxtyping import install_import_hook

install_import_hook("mam", "beartype.beartype")

import jax
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
settings.load_profile("mam")
