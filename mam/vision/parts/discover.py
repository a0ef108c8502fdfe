r"""Discover parts: max-product over placements, weights and pixels of many windows at once.

A part type t has a weight :math:`W_{tk}` for every pixel k of its patch; a placement
:math:`S_{ntp}` puts it at position p of window n. Together they light a pixel,

.. math::
    X_{ntpk} = S_{ntp} \wedge W_{tk}, \qquad Y_{ny} = \bigvee_{t,\; p + k = y} X_{ntpk},

and the weights are shared by all positions and windows (paper, "Learning object parts from binary
images"). The graph has millions of factors of two shapes, so the messages live in dense arrays
``windows x rows x cols x pixels x types`` instead of a wired graph; the messages are those of
:class:`~mam.factors.and_.AndBlock` and :class:`~mam.factors.or_.OrBlock`. A placement lies inside
its window.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from mam.core.pytree import pytree
from mam.factors.and_ import AndBlock
from mam.factors.base import Leaf
from mam.factors.numeric_limits import limit
from mam.factors.or_ import OrBlock
from mam.infer.loop import run

Dense = Float[Array, "windows rows cols pixels types"]


class DiscoveryMessages(NamedTuple):
    """Messages from factors to variables, one of each kind for every AND."""

    to_placement: Dense
    to_weight: Dense
    to_lit: Dense  # from the AND to its output
    to_lit_from_pixel: Dense  # from the OR to that output


class DiscoveryBeliefs(NamedTuple):
    """Score of ON less score of OFF."""

    placements: Float[Array, "windows rows cols types"]
    weights: Float[Array, "pixels types"]


@pytree
@dataclass(frozen=True)
class Discovery:
    """A solver for :func:`mam.infer.loop.run`; all windows share weights, so they are one graph."""

    evidence: Leaf  # windows x height x width: what a pixel gains when it is covered
    prior: Leaf  # of a placement
    weight_prior: Leaf  # pixels x types
    damping: Leaf
    tolerance: Leaf  # rest: no message moves by more
    side: int = field(metadata={"static": True})  # of a patch, px

    @property
    def instances(self) -> int:
        """One graph."""
        return 1

    def init(self) -> DiscoveryMessages:
        """Return messages that say nothing."""
        windows, height, width = self.evidence.shape
        positions = (height - self.side + 1, width - self.side + 1)
        nothing = jnp.zeros((windows, *positions, *self.weight_prior.shape), self.evidence.dtype)
        return DiscoveryMessages(nothing, nothing, nothing, nothing)

    def beliefs(self, messages: DiscoveryMessages) -> DiscoveryBeliefs:
        """Return prior plus messages of placements and weights."""
        return DiscoveryBeliefs(
            self.prior + jnp.sum(messages.to_placement, 3),
            self.weight_prior + jnp.sum(messages.to_weight, (0, 1, 2)),
        )

    def step(
        self, state: DiscoveryMessages, active: Bool[Array, " 1"], iteration: Int[Array, ""]
    ) -> tuple[DiscoveryMessages, Bool[Array, " 1"]]:
        """Update every factor at once; say whether a message still moves."""
        before = self.beliefs(state)
        potentials = jnp.zeros((1, 0), self.evidence.dtype)
        incoming = (
            before.placements[..., None, :] - state.to_placement,
            before.weights - state.to_weight,
            state.to_lit_from_pixel,
        )
        new = (*AndBlock().messages(potentials, incoming, 0), self._explain(state.to_lit))
        mixed = DiscoveryMessages(
            *(self.damping * a + (1 - self.damping) * b for a, b in zip(state, new, strict=True))
        )
        change = [jnp.max(jnp.abs(a - b)) for a, b in zip(mixed, state, strict=True)]
        return mixed, (jnp.max(jnp.stack(change)) > self.tolerance)[None]

    def _explain(self, to_lit: Dense) -> Dense:
        """Return the messages of the hard ORs, whose noise is the pixels' evidence."""
        parents = to_pixels(to_lit, self.side)
        rows = parents.reshape(self.evidence.size, -1)
        hard = jnp.full((1, 2), -jnp.inf, to_lit.dtype)
        block = OrBlock(jnp.zeros(0, jnp.int32))
        _, to_parents = block.messages(hard, (self.evidence.reshape(-1), rows), 0)
        return to_positions(to_parents.reshape(parents.shape), self.side)


def to_pixels(x: Dense, side: int) -> Float[Array, "windows height width pixels types"]:
    """Move what stands at a patch's position to the pixel it is about; a missing one is OFF.

    >>> to_pixels(jnp.arange(9.0).reshape(1, 1, 1, 9, 1), 3)[0, 2, 1].max().item()
    7.0
    """
    rim = side - 1
    height, width = x.shape[1] + rim, x.shape[2] + rim
    widths = ((0, 0), (rim, rim), (rim, rim), (0, 0), (0, 0))
    wide = jnp.pad(x, widths, constant_values=-limit(x.dtype))
    pieces = [
        wide[:, rim - a : rim - a + height, rim - b : rim - b + width, a * side + b]
        for a in range(side)
        for b in range(side)
    ]
    return jnp.stack(pieces, 3)


def to_positions(y: Float[Array, "windows height width pixels types"], side: int) -> Dense:
    """Undo :func:`to_pixels`."""
    rows, cols = y.shape[1] - side + 1, y.shape[2] - side + 1
    pieces = [
        y[:, a : a + rows, b : b + cols, a * side + b] for a in range(side) for b in range(side)
    ]
    return jnp.stack(pieces, 3)


@jax.jit
def discover(solver: Discovery, iterations: Array) -> tuple[DiscoveryBeliefs, Bool[Array, ""]]:
    """Run the solver; return its beliefs and whether they came to rest.

    Parameters
    ----------
    solver
        Windows, priors and damping. The prior of the weights must break the symmetry of the types.
    iterations
        At most.
    """
    messages, info = run(solver, solver.init(), iterations)
    return solver.beliefs(messages), info.converged[0]
