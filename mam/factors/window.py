r"""Elastic constraints between two positions on a grid.

.. math::
    f(u, v) = 0 \text{ if } \lVert v - u - \delta \rVert_\infty \le \gamma,
    \quad -\infty \text{ otherwise}

A message is a sliding maximum of radius gamma, first along rows, then along columns, in
log2(gamma) steps each; the (2 gamma + 1)^2 pairs are never listed.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from mam.factors.base import (
    Block,
    Factors,
    Leaf,
    Listing,
    Messages,
    Plan,
    Temperature,
    column_ports,
    padded,
)
from mam.factors.limits import limit
from mam.factors.padding import Padding
from mam.factors.ragged import Ragged, as_ids
from mam.factors.reduce import (
    as_message,
    as_scores,
    every_configuration,
    sliding,
    soft_maximum,
    soft_pair,
)


@dataclass(frozen=True)
class Window(Factors):
    """Pairs of grid positions (state = row * width + column) whose offset is nearly the reference.

    >>> factors = Window.of([[0, 1]], grid=(5, 5), radius=1)
    >>> len(factors.table(0, np.array([25, 25])).configurations)
    169
    """

    variables: Int[np.ndarray, "factors 2"]
    grid: tuple[int, int]
    radius: Int[np.ndarray, " factors"]
    offset: Int[np.ndarray, "factors 2"]

    kind: ClassVar[str] = "window"

    @classmethod
    def of(
        cls,
        variables: "np.ndarray | Sequence",
        *,
        grid: tuple[int, int],
        radius: "int | np.ndarray | Sequence",
        offset: "np.ndarray | Sequence" = (0, 0),
    ) -> "Window":
        """Make elastic constraints; radius and offset are given once or for each pair."""
        pairs = as_ids(variables).reshape(-1, 2)
        if len(grid) != 2 or min(grid) < 1:
            raise ValueError(f"a grid has a height and a width of at least 1, not {grid}")
        radii = np.broadcast_to(as_ids(radius), (len(pairs),))
        if np.any(radii < 0):
            raise ValueError(f"the radius of a window is negative: {radii.min()}")
        offsets = np.broadcast_to(as_ids(offset), (len(pairs), 2))
        nothing = np.zeros((1, 0)), np.zeros(len(pairs), np.int64)
        return cls(*nothing, pairs, (int(grid[0]), int(grid[1])), radii, offsets)

    def scopes(self) -> Ragged:
        return Ragged.of(self.variables)

    def moved(self, offset: int) -> "Window":
        return replace(self, variables=self.variables + offset)

    def key(self, states: np.ndarray) -> Hashable:
        size = self.grid[0] * self.grid[1]
        wrong = self.variables[states[self.variables] != size]
        if wrong.size:
            raise ValueError(
                f"variable {wrong[0]} has {states[wrong[0]]} states, "
                f"a grid of {self.grid[0]} x {self.grid[1]} needs {size}"
            )
        return self.grid

    @classmethod
    def stack(cls, parts: Sequence["Window"]) -> "Window":
        variables = np.concatenate([part.variables for part in parts])
        radius = np.concatenate([part.radius for part in parts])
        offset = np.concatenate([part.offset for part in parts])
        nothing = np.zeros((1, 0)), np.zeros(len(variables), np.int64)
        return cls(*nothing, variables, parts[0].grid, radius, offset)

    def plans(self, states: np.ndarray, padding: Padding, label: str) -> list[Plan]:
        # Beyond this radius nothing is forbidden, whatever the factor.
        widest = max(self.grid) - 1 + int(np.abs(self.offset).max(initial=0))
        radii = np.minimum(self.radius, widest)
        moved = bool(self.offset.any())
        plans = []
        for radius in np.unique(radii):
            members = np.flatnonzero(radii == radius)
            name = f"{label}/radius {radius}"
            capacity = padding.rows(name, len(members), cost=self.grid[0] * self.grid[1])
            rows = np.pad(members, (0, capacity - len(members)), constant_values=-1)
            ports = column_ports(self.variables, rows)
            offset = padded(self.offset, rows, 0).astype(np.int32) if moved else None
            plans.append(Plan(WindowBlock(offset, self.grid, int(radius)), ports, rows))
        return plans

    def table(self, factor: int, states: np.ndarray) -> Listing:
        place = every_configuration(self.grid)
        cases = every_configuration((len(place), len(place)))
        away = place[cases[:, 1]] - place[cases[:, 0]] - self.offset[factor]
        cases = cases[np.abs(away).max(1) <= self.radius[factor]]
        return Listing(self.variables[factor], cases, np.zeros(len(cases)))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class WindowBlock(Block):
    """Padded elastic constraints of one radius; ports: first position, second position."""

    offset: Leaf
    grid: tuple[int, int] = field(metadata={"static": True})
    radius: int = field(metadata={"static": True})

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """Slide a window over the other side's message."""
        size = self.grid[0] * self.grid[1]
        first, second = (as_scores(message, size) for message in incoming)
        to_first = as_message(self._reach(second, 1, temperature), size)
        to_second = as_message(self._reach(first, -1, temperature), size)
        return to_first, to_second

    def score(self, potentials: Array, states: Messages) -> Array:
        """0 where the offset is allowed."""
        away = [states[1] // self.grid[1] - states[0] // self.grid[1]]
        away += [states[1] % self.grid[1] - states[0] % self.grid[1]]
        distance = jnp.stack(away, -1) - (0 if self.offset is None else self.offset)
        near = jnp.max(jnp.abs(distance), -1) <= self.radius
        return jnp.where(near, jnp.zeros(near.shape, potentials.dtype), -jnp.inf)

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """The best allowed pair."""
        size = self.grid[0] * self.grid[1]
        first, second = (as_scores(message, size) for message in incoming)
        scores = first + self._reach(second, 1, temperature)
        return soft_maximum(scores, -1, temperature)

    def _reach(self, scores: Array, sign: int, temperature: Temperature) -> Array:
        """Return for each position the soft maximum over the other's allowed positions."""
        height, width = self.grid
        if self.offset is None and self.radius >= max(height, width) - 1:
            best = soft_maximum(scores, -1, temperature)
            return jnp.broadcast_to(best[:, None], scores.shape)
        image = scores.reshape(-1, height, width)
        # With an offset, the centre of a window may lie outside the grid.
        reach = self.radius + (0 if self.offset is None else max(height, width))
        image = jnp.pad(
            image, ((0, 0), (reach, reach), (reach, reach)), constant_values=-limit(scores.dtype)
        )
        for axis in (1, 2):
            image = sliding(
                image, axis, 2 * self.radius + 1, lambda a, b: soft_pair(a, b, temperature)
            )
        if self.offset is None:
            return image.reshape(-1, height * width)
        return self._shifted(image, sign, max(height, width))

    def _shifted(self, image: Array, sign: int, margin: int) -> Array:
        """Read each factor's windows at its own offset; far outside lies nothing."""
        height, width = self.grid
        assert self.offset is not None
        shift = jnp.clip(sign * self.offset, -margin, margin) + margin
        rows = shift[:, 0, None] + jnp.arange(height, dtype=shift.dtype)
        columns = shift[:, 1, None] + jnp.arange(width, dtype=shift.dtype)
        factor = jnp.arange(len(shift))[:, None, None]
        return image[factor, rows[:, :, None], columns[:, None, :]].reshape(-1, height * width)
