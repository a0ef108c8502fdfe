"""A tree of vessels: curves that branch, among pieces that belong to nothing.

A stretch of vessel has two ends, a fork has three. Which ends continue which is a Markov Attention
Model with one pattern set for each kind of piece; that of the forks is all that curves which branch
need beyond curves which do not. Given the name of a picture, this draws the answer.
"""

import sys
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mam.factors import PatternSet
from mam.infer import Solution, solve
from mam.models import MarkovAttentionModel, PartKind, part_attention_model

STRETCH, FORK = 0, 1
TIP = -1.6  # a vessel that ends here
STUB = -1.0  # an arm of a fork that leads nowhere
# Alone, the first or second end joined, both joined.
STRETCHES = PartKind(PatternSet.of([[0, 0], [1, 0], [0, 1], [1, 1]]), [0, TIP, TIP, 0])
# Alone, a vessel that passes through two of the arms, a vessel that branches.
FORKS = PartKind(
    PatternSet.of([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]]), [0, STUB, STUB, STUB, 0]
)
ARM = 3.0  # px from the centre of a piece to each of its ends
STEP = 10.0  # px from piece to piece of a vessel
CURL = np.radians(4)  # by which a vessel turns from piece to piece
REACH = 9.0  # px that a link may span
BEND = np.cos(np.radians(40))  # a link may turn by so much at either end
# Directions of a fork's arms, from that which leads back to the root.
ARMS = np.radians([180, 35, -35])


@dataclass(frozen=True)
class Pieces:
    """Stretches and forks: what was seen, before anyone knows what belongs together."""

    centre: np.ndarray  # (pieces, 2): row and column
    angle: np.ndarray  # of each piece, in radians; 0 is to the right, a quarter turn is down
    kind: np.ndarray  # STRETCH or FORK

    def ends(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the piece and the group of every end, and which way it points."""
        piece = np.repeat(np.arange(len(self.kind)), np.where(self.kind == FORK, 3, 2))
        group = np.arange(len(piece)) - np.searchsorted(piece, piece)
        back = np.radians([180, 0, 0])
        turn = np.where(self.kind[piece] == FORK, ARMS[group], back[group])
        way = self.angle[piece] + turn
        return piece, group, np.stack([np.sin(way), np.cos(way)], axis=1)


def tree() -> Pieces:
    """Return the pieces of one tree: two of its forks branch, a vessel passes through the third."""
    tip, passing = (5, []), (3, [(3, [])])
    todo: list = [(np.array([8.0, 70.0]), np.pi / 2, (4, [tip, (4, [tip, passing])]))]
    rows = []
    while todo:
        at, way, (stretches, limbs) = todo.pop()
        for _ in range(stretches):
            rows.append((*at, way, STRETCH))
            at, way = at + STEP * _unit(way), way + CURL
        if limbs:
            rows.append((*at, way, FORK))
        for turn, limb in zip(ARMS[1:], limbs, strict=False):
            todo.append((at + STEP * _unit(way + turn), way + turn, limb))
    row, col, angle, kind = (np.array(column) for column in zip(*rows, strict=True))
    return Pieces(np.stack([row, col], axis=1), angle, kind)


def _unit(way: float) -> np.ndarray:
    return np.array([np.sin(way), np.cos(way)])


def scattered(stretches: int, forks: int, seed: int, side: float = 140.0) -> Pieces:
    """Return pieces anywhere in a square of so many px, which belong to nothing."""
    rng = np.random.default_rng(seed)
    count = stretches + forks
    centre, angle = rng.uniform(0, side, (count, 2)), rng.uniform(0, 2 * np.pi, count)
    return Pieces(centre, angle, np.repeat([STRETCH, FORK], [stretches, forks]))


def joined(first: Pieces, second: Pieces) -> Pieces:
    """Return the pieces of both."""
    both = ((first.centre, second.centre), (first.angle, second.angle), (first.kind, second.kind))
    return Pieces(*(np.concatenate(values) for values in both))


def links(pieces: Pieces) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of pieces whose ends may continue each other, their groups and scores.

    A link is worth 2.5 less a third of its gap, less four times its turns (1 - cosine).
    """
    piece, group, way = pieces.ends()
    end = pieces.centre[piece] + ARM * way
    one, two = np.triu_indices(len(piece), 1)
    across = end[two] - end[one]
    gap = np.maximum(np.linalg.norm(across, axis=1), 1e-9)
    straight = across / gap[:, None]
    leaves, arrives = (way[one] * straight).sum(1), -(way[two] * straight).sum(1)
    good = (piece[one] != piece[two]) & (gap < REACH) & (leaves > BEND) & (arrives > BEND)
    score = 2.5 - gap / 3 - 4 * (2 - leaves - arrives)
    pairs = np.stack([one, two], axis=1)[good]
    return piece[pairs], group[pairs], score[good]


def vessel_model(pieces: Pieces) -> tuple[MarkovAttentionModel, dict[str, np.ndarray]]:
    """Return the model of these pieces, and the evidence to solve it with."""
    edges, groups, score = links(pieces)
    kinds = [STRETCHES, FORKS]
    count = len(pieces.kind)
    model = part_attention_model(edges, groups, kinds, vertices=count, kind=pieces.kind)
    return model, {"attention": score}


def branches(pieces: Pieces, solution: Solution) -> list[np.ndarray]:
    """Return the pieces of each branch: what hangs together once the vessels are cut at forks."""
    on = links(pieces)[0][solution["attention"] == 1]
    degree = np.bincount(on.ravel(), minlength=len(pieces.kind))
    inside = on[(degree[on] < 3).all(axis=1)]
    size = len(pieces.kind)
    joins = coo_array((np.ones(len(inside)), (inside[:, 0], inside[:, 1])), (size, size))
    label = connected_components(joins, directed=False)[1]
    label[(degree == 0) | (degree == 3)] = -1
    return [np.flatnonzero(label == one) for one in np.unique(label[label >= 0])]


def draw(pieces: Pieces, solution: Solution, picture: str) -> None:
    """Draw all pieces in grey, and over them the branches in colours and the forks in black."""
    figure = Figure(figsize=(6, 6), layout="constrained")
    axes = figure.subplots()
    piece, _, way = pieces.ends()
    colour = np.full(len(pieces.kind), "lightgrey", dtype=object)
    colour[solution["part"] == 1] = "black"
    for number, some in enumerate(branches(pieces, solution)):
        colour[some] = f"C{number % 10}"
    for owner, arm in zip(piece, ARM * way, strict=True):
        line = np.stack([pieces.centre[owner], pieces.centre[owner] + arm])
        axes.plot(line[:, 1], line[:, 0], color=colour[owner], linewidth=2.5)
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.invert_yaxis()
    figure.savefig(picture, dpi=100)


def main(picture: str | None = None) -> None:
    true = tree()
    pieces = joined(true, scattered(120, 24, seed=0))
    model, evidence = vessel_model(pieces)
    solution = solve(model.graph, evidence)
    on = np.flatnonzero(solution["part"] == 1)
    joins = np.bincount(links(pieces)[0][solution["attention"] == 1].ravel())
    print(f"{len(pieces.kind)} pieces, {len(evidence['attention'])} links are possible")
    print(f"{len(on)} pieces belong to vessels, with {(joins == 3).sum()} forks")
    for some in branches(pieces, solution):
        print(f"  a branch of {len(some)} pieces: {' '.join(map(str, some))}")
    print(f"these are the pieces of the tree: {on.tolist() == list(range(len(true.kind)))}")
    print(solution.explain())
    print(f"proof: {solution.proof}")
    if picture is not None:
        draw(pieces, solution, picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
