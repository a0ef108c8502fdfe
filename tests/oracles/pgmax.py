"""PGMax, where it can be installed, behind three functions."""

import numpy as np
import pytest


def load() -> object:
    """Import PGMax on a current JAX, or skip the test."""
    # Version 0.6.1 asks for a function that newer versions of JAX keep elsewhere.
    import jax.extend.backend
    import jax.lib

    if not hasattr(jax.lib, "xla_bridge"):
        shim = type("xla_bridge", (), {"get_backend": staticmethod(jax.extend.backend.get_backend)})
        jax.lib.xla_bridge = shim
    return pytest.importorskip("pgmax", exc_type=ImportError)


def run(fg: object, variables: object, evidence: np.ndarray, iterations: int) -> np.ndarray:
    """Return beliefs (ON - OFF, or per state) after some undamped iterations of max-product."""
    from pgmax import infer

    inferer = infer.build_inferer(fg.bp_state, backend="bp")
    arrays = inferer.init(evidence_updates={variables: evidence})
    arrays = inferer.run(arrays, num_iters=iterations, damping=0.0, temperature=0.0)
    return np.asarray(inferer.get_beliefs(arrays)[variables])
