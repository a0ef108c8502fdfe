r"""Elastic constraints between two positions on a grid.

.. math::
    f(u, v) = 0 \text{ if } \lVert v - u - \delta \rVert_\infty \le \gamma,
    \quad -\infty \text{ otherwise}

On either axis the allowed offsets between two positions of the grid are a run, from ``first`` on
and ``width`` long. A message is a maximum over the run that starts at each position, along rows,
then along columns, in log2(width) steps each; pairs are never listed. Runs are data: windows of all
radii and offsets share one block, and one compilation. Where all runs are centred, maxima are those
within a radius, see ``reach.py``.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from mam.core.pytree import pytree
from mam.factors.base import (
    Block,
    Factors,
    Leaf,
    Listing,
    Messages,
    Plan,
    Temperature,
    column_ports,
    pad_rows,
    padded,
    rows_of,
)
from mam.factors.network import NetworkBuilder, demand
from mam.factors.numeric_limits import limit
from mam.factors.padding import Padding
from mam.factors.ragged import Ragged, as_ids
from mam.factors.reach import reach
from mam.factors.reduce import (
    as_message,
    as_scores,
    every_configuration,
    is_zero,
    soft_maximum,
    soft_pair,
)

# Radii and offsets up to here add up without overflow; they are the same beyond it.
_FAR = 1 << 61


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
        cost = self.grid[0] * self.grid[1]
        rows = pad_rows(len(self), padding.rows(label, len(self), cost=cost))
        first, width = self._runs()
        levels = int(width.max(initial=1)).bit_length()
        block = WindowBlock(
            padded(first, rows, 0).astype(np.int32),
            padded(width, rows, 1).astype(np.int32),
            self.grid,
            levels,
            not self.offset.any(),
        )
        return [Plan(block, column_ports(self.variables, rows), rows)]

    def _runs(self) -> tuple[np.ndarray, np.ndarray]:
        """The allowed offsets on both axes that the grid has: the first, and how many."""
        most = np.array(self.grid) - 1
        far = np.clip(self.offset, -_FAR, _FAR)
        reach = np.minimum(self.radius, _FAR)[:, None]
        first, last = np.maximum(far - reach, -most), np.minimum(far + reach, most)
        width = np.maximum(last - first + 1, 0)
        return np.where(width > 0, first, 0), width

    def held(self, states: np.ndarray) -> float:
        # Both positions, padded to three times their rows and columns, twice.
        return 36.0 * len(self) * self.grid[0] * self.grid[1]

    def table(self, factor: int, states: np.ndarray) -> Listing:
        place = every_configuration(self.grid)
        cases = every_configuration((len(place), len(place)))
        away = place[cases[:, 1]] - place[cases[:, 0]] - self.offset[factor]
        cases = cases[np.abs(away).max(1) <= self.radius[factor]]
        return Listing(self.variables[factor], cases, np.zeros(len(cases)))

    def scores(self, values: np.ndarray) -> np.ndarray:
        first, second = np.stack(np.divmod(values[self.variables], self.grid[1]), -1).swapaxes(0, 1)
        start, width = self._runs()
        place = second - first - start
        return demand(np.all((place >= 0) & (place < width), 1))

    def entries(self, states: np.ndarray) -> float:
        return float(len(self)) * (self.grid[0] * self.grid[1]) ** 2

    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        start, width = self._runs()
        kinds, which = np.unique(np.concatenate([start, width], 1), axis=0, return_inverse=True)
        for kind, runs in enumerate(kinds):
            # Allowed rows times allowed columns, then (row, column) pairs as positions.
            near = [
                np.subtract.outer(-np.arange(n), -np.arange(n)) - first
                for n, first in zip(self.grid, runs[:2], strict=True)
            ]
            rows, columns = (
                (away >= 0) & (away < n) for away, n in zip(near, runs[2:], strict=True)
            )
            network.add(self.variables[which.ravel() == kind], demand(np.kron(rows, columns)))

    def take(self, which: np.ndarray, number: np.ndarray) -> "Window":
        return replace(
            self,
            row=self.row[which],
            variables=number[self.variables[which]],
            radius=self.radius[which],
            offset=self.offset[which],
        )


@pytree
@dataclass(frozen=True)
class WindowBlock(Block):
    """Padded elastic constraints on one grid; ports: first position, second position."""

    first: Leaf  # (rows, 2): the least allowed offset on either axis
    width: Leaf  # (rows, 2): the number of allowed offsets, 0 where nothing is allowed
    grid: tuple[int, int] = field(metadata={"static": True})
    levels: int = field(metadata={"static": True})  # bits of the largest width
    centred: bool = field(metadata={"static": True}, default=False)  # every offset is 0

    @classmethod
    def around(cls, radius: Int[Array, " rows"], grid: tuple[int, int]) -> "WindowBlock":
        """Return windows around the same place, for code that has the radii on a device."""
        near = jnp.minimum(radius[:, None], jnp.asarray(grid, radius.dtype) - 1)
        return cls(-near, 2 * near + 1, grid, (2 * max(grid)).bit_length(), True)

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """Slide a window over the other side's message."""
        size = self.grid[0] * self.grid[1]
        first, second = (as_scores(message, size) for message in incoming)
        back = 1 - self.first - self.width  # seen from the second position
        to_first = as_message(self._reach(second, self.first, temperature), size)
        to_second = as_message(self._reach(first, back, temperature), size)
        return to_first, to_second

    def score(self, potentials: Array, states: Messages) -> Array:
        """0 where the offset is allowed."""
        away = [states[1] // self.grid[1] - states[0] // self.grid[1]]
        away += [states[1] % self.grid[1] - states[0] % self.grid[1]]
        place = jnp.stack(away, -1) - self.first
        near = jnp.all((place >= 0) & (place < self.width), -1)
        return jnp.where(near, jnp.zeros(near.shape, potentials.dtype), -jnp.inf)

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """The best allowed pair."""
        size = self.grid[0] * self.grid[1]
        first, second = (as_scores(message, size) for message in incoming)
        scores = first + self._reach(second, self.first, temperature)
        possible = jnp.all(self.width > 0, -1)
        return jnp.where(possible, soft_maximum(scores, -1, temperature), -jnp.inf)

    def take(self, rows: Array) -> tuple["WindowBlock", Messages]:
        """One row of either port a factor."""
        first, width = (rows_of(values, rows) for values in (self.first, self.width))
        return replace(self, first=first, width=width), (rows,) * 2

    def _reach(self, scores: Array, start: Array, temperature: Temperature) -> Array:
        """Return for each position the soft maximum over the run of the other's positions."""
        height, width = self.grid
        image = scores.reshape(-1, height, width)
        if self.centred and is_zero(temperature):
            near = jnp.max(self.width // 2, -1)  # the other axis has been cut to the grid
            return reach(image, near).reshape(scores.shape)
        for axis in (0, 1):
            image = self._slid(image, start[:, axis], axis, temperature)
        return image.reshape(-1, height * width)

    def _slid(self, image: Array, start: Array, axis: int, temperature: Temperature) -> Array:
        """Join the run of neighbours from ``start`` on along one axis; outside lies nothing.

        A run is cut into blocks of 2^k entries, one for each bit of its width.
        """
        size, along = self.grid[axis], axis + 1
        floor = jnp.asarray(-limit(image.dtype), image.dtype)
        margins = [(0, 0)] * 3
        margins[along] = (size - 1, size - 1)  # a run may start before the grid or end behind it
        blocks = jnp.pad(image, margins, constant_values=floor)
        place = start + jnp.asarray(size - 1, start.dtype)
        result = jnp.full(image.shape, floor)
        cut = jax.vmap(partial(jax.lax.dynamic_slice_in_dim, slice_size=size, axis=axis))
        for bit in range(self.levels):
            taken = (self.width[:, axis] >> bit) & 1
            joined = soft_pair(result, cut(blocks, place), temperature)
            result = jnp.where(taken[:, None, None] > 0, joined, result)
            place = place + (taken << bit)
            if bit + 1 < self.levels:
                later = jnp.roll(blocks, -(1 << bit), along)
                blocks = soft_pair(blocks, later, temperature)
        return jnp.maximum(result, floor)
