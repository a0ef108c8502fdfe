"""What a grouping says about an image: which pieces are joined, and how sure that is."""

from abc import ABC, abstractmethod
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from mam.core.parcels import pack, unpack
from mam.core.svg import as_svg
from mam.core.words import counted
from mam.infer.solution import gap_between
from mam.vision.curves.chain_model import Links
from mam.vision.curves.chains import Chain, best_links, find_chains
from mam.vision.curves.curve_graph import as_network
from mam.vision.curves.facts import measured, table_of

if TYPE_CHECKING:
    import networkx
    import pandas

Point = Shaped[np.ndarray, "2"] | Sequence[float | int]  # row and column


class Same(NamedTuple):
    """Whether two points are on one curve, and by how much that answer is better."""

    same: bool
    margin: float
    proof: str | None = None  # how it is known that pieces and grouping are the best, or None


class AttentionPair(NamedTuple):
    """Two strokes of which one continues the other."""

    first: int
    second: int
    margin: float  # what parting them costs


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(ABC):
    """What attention between strokes says about one image. ``group`` numbers its curves from 0."""

    strokes: Sized
    group: Int[np.ndarray, " strokes"]  # -1: on no curve
    links: Links  # all attention variables
    on: Bool[np.ndarray, " links"]
    belief: Float[np.ndarray, " links"]  # above 0 where ON, below where OFF
    pixels: Bool[np.ndarray, "rows cols"]  # what was ON in the image
    score: float  # of the strokes and links, in the contour model
    bound: float | None = None  # no grouping of these strokes scores higher
    proof: str | None = None  # "exact" or "bound": none scores higher than this one
    pieces_proof: str | None = "exact"  # the same of the strokes: none explain the pixels better

    @property
    @abstractmethod
    def polylines(self) -> list[Float[np.ndarray, "points 2"]]:
        """Rows and columns along every curve: from tip to tip, or round to the first point."""

    @property
    @abstractmethod
    def labels(self) -> Int[np.ndarray, "rows cols"]:
        """The number of the curve, from 1, that owns each ON pixel; 0 elsewhere."""

    @property
    @abstractmethod
    def masks(self) -> Bool[np.ndarray, "curves rows cols"]:
        """The pixels of every curve. Where curves cross, a pixel belongs to all of them."""

    @property
    @abstractmethod
    def end_places(self) -> Float[np.ndarray, "ends 2"]:
        """Row and column of each end; side s of stroke k is end 2 k + s."""

    @property
    @abstractmethod
    def widths(self) -> Float[np.ndarray, " chains"]:
        """The mean width of what is seen of each chain, px."""

    @abstractmethod
    def stroke_at(self, point: Point, name: str = "the point") -> int:
        """The stroke that a point marks."""

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "pixels": pack(self.pixels)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, pixels=unpack(state["pixels"]))

    def __len__(self) -> int:
        return int(self.group.max(initial=-1)) + 1

    def __repr__(self) -> str:
        sure = proved_in_words(self.proof, self.pieces_proof)
        curves = f"{counted(len(self), 'curve')} of {counted(len(self.group), 'piece')}"
        return f"<{type(self).__name__}: {curves}, score {self.score:.4g}, {sure}>"

    def _repr_svg_(self) -> str:
        """What a notebook shows: every curve in its own colour."""
        rows, cols = self.pixels.shape
        return as_svg((rows, cols), self.polylines, repr(self))

    @property
    def gap(self) -> float | None:
        """Bound minus score: 0 proves the grouping of these pieces optimal."""
        return gap_between(self.score, self.bound)

    @property
    def whole_proof(self) -> str | None:
        """How it is known that pieces and grouping are the best of their models."""
        return self.proof if self.pieces_proof is not None else None

    @property
    def attentions(self) -> list[AttentionPair]:
        """Which strokes attend to which, with the margins."""
        both = zip(self.links.stroke[self.on].tolist(), self.belief[self.on], strict=True)
        return [AttentionPair(first, second, float(margin)) for (first, second), margin in both]

    def to_frame(self) -> "pandas.DataFrame":
        """A table with a row a curve: length, width, ends, crossings, margin, certificate."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame needs pandas: pip install pandas") from None
        lines = self.polylines
        return pandas.DataFrame(table_of(measured(self, lines, range(len(lines)))))

    @property
    def graph(self) -> "networkx.MultiGraph":
        """Tips and crossings as nodes, the stretches of curves between them as edges."""
        return as_network(self.polylines)

    @cached_property
    def chains(self) -> list[Chain]:
        """The strokes of every curve in order.

        Messages that did not settle can leave two links ON at one end: the curve is then cut at the
        weaker one, and is several chains.
        """
        links, count = self.links, len(self.group)
        kept = best_links(links.stroke, links.side, self.on, self.belief, count)
        found = find_chains(links.stroke[kept], links.side[kept], count)
        return [chain for chain in found if self.group[chain.strokes[0]] >= 0]

    def _inside(self, point: Point, name: str) -> Float[np.ndarray, "2"]:
        at = np.asarray(point, float)
        rows, cols = self.pixels.shape
        if at.shape != (2,) or not np.isfinite(at).all():
            raise ValueError(f"{name} should be a row and a column, not {point}")
        if not (0 <= at[0] < rows and 0 <= at[1] < cols):
            raise ValueError(f"{name} {_shown(at)} lies outside the image of {rows} x {cols} px")
        return at

    def same(self, p: Point, q: Point) -> Same:
        r"""Whether two points are on one curve.

        The margin is that of the weakest link on the strongest way from one to the other,

        .. math:: \max_{\text{ways}} \; \min_{\text{links on the way}} \text{belief}:

        above 0 exactly when they are joined; its absolute value is returned.
        """
        first, second = self.stroke_at(p, "the first point"), self.stroke_at(q, "the second point")
        if first == second:
            return Same(True, np.inf, self.whole_proof)
        joined = bool(self.group[first] == self.group[second])
        return Same(joined, abs(self._weakest_link(first, second)), self.whole_proof)

    def _weakest_link(self, first: int, second: int) -> float:
        """The belief of the weakest link on the strongest way; -inf without any way."""
        # Links are laid from the strongest on: the one that first joins the two is the weakest.
        # (The DisjointSet of scipy takes twice as long.)
        root = list(range(len(self.group)))

        def find(stroke: int) -> int:
            while root[stroke] != stroke:
                root[stroke] = stroke = root[root[stroke]]
            return stroke

        order = np.argsort(-self.belief, kind="stable")
        if self.group[first] == self.group[second]:
            order = order[self.on[order]]  # what is ON joins them
        for (one, other), belief in zip(
            self.links.stroke[order].tolist(), self.belief[order].tolist(), strict=True
        ):
            root[find(one)] = find(other)
            if find(first) == find(second):
                return belief
        return -np.inf

    def end_at(self, point: Point, name: str = "the point") -> int:
        """The end of a piece that is nearest to a point."""
        at = self._inside(point, name)
        if not len(self.group):
            raise self._no_curve(at, name, None)
        return int(np.hypot(*(self.end_places - at).T).argmin())

    def _no_curve(self, at: np.ndarray, name: str, far: float | None) -> ValueError:
        """What to say about a point on no curve; ``far`` is None in an image without any."""
        why = "the image has none" if far is None else f"the nearest is {far:.0f} px away"
        return ValueError(f"{name} {_shown(at)} is on no curve: {why}")


def proved_in_words(proof: str | None, pieces_proof: str | None) -> str:
    """What is proved of a grouping.

    >>> proved_in_words("exact", None)
    'proved the best of these pieces'
    """
    if proof is None:
        return "not proved optimal"
    return "proved optimal" if pieces_proof else "proved the best of these pieces"


def _shown(at: np.ndarray) -> str:
    return f"({at[0]:g}, {at[1]:g})"
