"""Small random models with known kinds of difficulty."""

import numpy as np

from mam.factors import And, AnyOf, Choice, Or, Pairwise, Pattern, PatternSet, Table, Window
from mam.graph import FactorGraph, GraphBuilder
from mam.models import MarkovAttentionModel, PartKind, part_attention_model

SIDES = PatternSet.of([[0, 0], [0, 1], [1, 0], [1, 1]])


def tree(rng: np.random.Generator, shape: int = 0, size: int = 8) -> tuple[FactorGraph, dict]:
    """Binary and ternary variables joined to a tree by pairwise factors and tables.

    The tree depends on ``shape`` alone: every new structure costs a compilation.
    """
    builder = GraphBuilder()
    structure = np.random.default_rng(shape)
    kinds = structure.choice([2, 3], size=size)
    kinds[:2] = 2, 3
    groups = {n: builder.variables(f"x{n}", int((kinds == n).sum()), n) for n in (2, 3)}
    ids = np.zeros(size, np.int64)
    for n in (2, 3):
        ids[kinds == n] = groups[n]
    for child in range(1, size):
        parent = int(structure.integers(child))
        states = (kinds[parent], kinds[child])
        pair, values = [[ids[parent], ids[child]]], rng.normal(size=states)
        factors = Pairwise.of(pair, values) if child % 2 else Table.of(pair, values)
        builder.add(f"f{child}", factors)
    evidence = {
        "x2": rng.normal(size=len(groups[2])),
        "x3": rng.normal(size=(len(groups[3]), 3)),
    }
    return builder.build(), evidence


def attention_model(
    rng: np.random.Generator, parts: int = 7, links: int = 10
) -> tuple[MarkovAttentionModel, dict]:
    """Parts with two sides; some are certain, attention is liked or disliked."""
    pairs = np.array([(i, j) for i in range(parts) for j in range(i + 1, parts)])
    chosen = pairs[rng.choice(len(pairs), links, replace=False)]
    sides = rng.integers(0, 2, size=(links, 2))
    kind = PartKind(SIDES, [0, -1.6, -1.6, 0])
    model = part_attention_model(chosen, sides, kind, vertices=parts)
    evidence = {
        "part": rng.choice([-1.0, 0.5, 3.0], size=parts),
        "attention": rng.normal(size=links),
    }
    return model, evidence


def sparsifier(rng: np.random.Generator, pixels: int = 9, parts: int = 8) -> tuple:
    """Random parts over pixels with a prior against them."""
    builder = GraphBuilder()
    part = builder.variables("part", parts)
    pixel = builder.variables("pixel", pixels)
    covers = rng.random((pixels, parts)) < 0.35
    parents = [part[row] for row in covers]
    builder.add("or", Or.of(parents, pixel, pi01=0.07, pi10=0.0019))
    evidence = {
        "part": np.full(parts, -3.0) + 0.1 * rng.normal(size=parts),
        "pixel": np.where(rng.random(pixels) < 0.6, np.inf, -np.inf),
    }
    return builder.build(), evidence


def gates(rng: np.random.Generator, inputs: int = 5) -> tuple:
    """ANDs of neighbours, ORed into one output."""
    builder = GraphBuilder()
    bit = builder.variables("bit", inputs)
    both = builder.variables("both", inputs - 1)
    some = builder.variables("some", 1)
    builder.add("and", And.of(np.stack([bit[:-1], bit[1:]], 1), both))
    builder.add("or", Or.of([both], some))
    evidence = {
        "bit": rng.normal(size=inputs),
        "both": rng.normal(size=inputs - 1),
        "some": rng.normal(size=1),
    }
    return builder.build(), evidence


def potts(rng: np.random.Generator, side: int, states: int = 5) -> tuple[FactorGraph, dict]:
    """A square grid whose neighbours like or dislike to agree: hard from a side of about 15 on."""
    builder = GraphBuilder()
    x = builder.variables("x", (side, side), states)
    down = np.stack([x[:-1].ravel(), x[1:].ravel()], 1)
    right = np.stack([x[:, :-1].ravel(), x[:, 1:].ravel()], 1)
    pairs = np.concatenate([down, right])
    builder.add("pair", Pairwise.of(pairs, rng.normal(size=(len(pairs), 1, 1)) * np.eye(states)))
    return builder.build(), {"x": rng.random((side, side, states))}


def medley(rng: np.random.Generator) -> tuple[FactorGraph, dict]:
    """Every kind of factor over mixed states, in several components, some variables alone.

    Some potentials and some evidence are infinite; the whole may be impossible.
    """
    builder = GraphBuilder()
    bit = builder.variables("bit", 8)
    three = builder.variables("three", 3, 3)
    spot = builder.variables("spot", 2, 4)
    pick = rng.permutation(bit)
    if rng.random() < 0.5:
        builder.add("and", And.of([pick[:2]], pick[2:3]))
    if rng.random() < 0.5:
        noise = {} if rng.random() < 0.5 else {"pi01": 0.1, "pi10": 0.2}
        builder.add("or", Or.of([pick[2:4], pick[3:5]], pick[5:7], **noise))
    if rng.random() < 0.5:
        members = [[[pick[4]], [pick[6], pick[7]]]]
        builder.add("pattern", Pattern.of(pick[:1], members, SIDES, _holed(rng, (4,))))
    if rng.random() < 0.5:
        lists, optional = [pick[1:5], pick[6:8]], bool(rng.random() < 0.5)
        builder.add("choice", Choice.of(lists, optional=optional))
    if rng.random() < 0.5:
        builder.add("any", AnyOf.of([pick[:3], pick[2:8], pick[5:6]], _holed(rng, (3,)), 0.3))
    if rng.random() < 0.5:
        builder.add("window", Window.of([spot], grid=(2, 2), radius=int(rng.integers(2))))
    pairs = [[rng.choice(bit), rng.choice(three)] for _ in range(rng.integers(4))]
    if pairs:
        builder.add("pair", Pairwise.of(pairs, _holed(rng, (len(pairs), 2, 3))))
    for i in range(rng.integers(3)):
        scope = rng.choice(np.concatenate([bit, three]), 3, replace=False)
        states = tuple(2 if v in bit else 3 for v in scope)
        builder.add(f"table{i}", Table.of([scope], _holed(rng, states)))
    return builder.build(), _some_evidence(rng)


def _holed(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.where(rng.random(shape) < 0.2, -np.inf, rng.normal(size=shape).round(1))


def _some_evidence(rng: np.random.Generator) -> dict:
    certain = rng.choice([-np.inf, 0.0, np.inf], size=8, p=[0.15, 0.7, 0.15])
    three = rng.normal(size=(3, 3))
    three[0, rng.integers(3)] = rng.choice([-np.inf, 0.0, np.inf])
    return {"bit": certain + rng.normal(size=8).round(1), "three": three}


def spin_glass(rng: np.random.Generator, side: int, field: float = 0.1) -> tuple[FactorGraph, dict]:
    """A square grid of binary variables whose neighbours want to agree or to differ, at random.

    Half of its squares are frustrated: the linear program is far above the optimum.
    """
    builder = GraphBuilder()
    x = builder.variables("x", (side, side))
    down = np.stack([x[:-1].ravel(), x[1:].ravel()], 1)
    right = np.stack([x[:, :-1].ravel(), x[:, 1:].ravel()], 1)
    pairs = np.concatenate([down, right])
    sign = rng.choice([-1.0, 1.0], size=(len(pairs), 1, 1))
    builder.add("pair", Pairwise.of(pairs, sign * [[1, -1], [-1, 1]]))
    return builder.build(), {"x": field * rng.normal(size=(side, side))}


def line_process(
    rng: np.random.Generator, side: int, levels: int = 8
) -> tuple[FactorGraph, dict[str, np.ndarray]]:
    """A noisy picture of two regions: neighbours differ little, or a line stands between them."""
    builder = GraphBuilder()
    x = builder.variables("x", (side, side), levels)
    down = np.stack([x[:-1].ravel(), x[1:].ravel()], 1)
    right = np.stack([x[:, :-1].ravel(), x[:, 1:].ravel()], 1)
    pairs = np.concatenate([down, right])
    line = builder.variables("line", len(pairs))
    difference = np.subtract.outer(np.arange(levels), np.arange(levels))
    smooth = np.stack([-0.6 * difference**2, np.full((levels, levels), -1.5)], -1)
    builder.add("smooth", Table.of(np.concatenate([pairs, line[:, None]], 1), smooth))
    far = np.add.outer(np.arange(side), np.arange(side)) < side
    picture = np.where(far, 2, levels - 3) + 1.5 * rng.normal(size=(side, side))
    return builder.build(), {"x": -0.5 * ((picture[..., None] - np.arange(levels)) / 1.5) ** 2}


def forest(rng: np.random.Generator, shape: int = 0) -> tuple[FactorGraph, dict]:
    """Every kind of factor, joined to a forest: each factor meets what is there in one variable.

    Structure depends on ``shape`` alone; scores are coarse, so that ties are common, and some are
    infinite. The numbers of the variables follow no walk.
    """
    builder = GraphBuilder()
    structure = np.random.default_rng(shape)
    free = {
        n: list(structure.permutation(builder.variables(f"x{n}", size, n)))
        for n, size in ((2, 11), (3, 3), (4, 2))
    }
    met: dict[int, list[int]] = {n: [] for n in free}

    def scope(*states: int) -> list[int]:
        """New variables, and instead of one of them, if there is any, one that was met before."""
        old = [i for i, n in enumerate(states) if met[n]]
        kept = structure.choice(old) if old and structure.random() < 0.8 else -1
        found = [
            int(structure.choice(met[n])) if i == kept else free[n].pop()
            for i, n in enumerate(states)
        ]
        for n, v in zip(states, found, strict=True):
            met[n] = sorted({*met[n], v})
        return found

    def score(*size: int) -> np.ndarray:
        return np.where(rng.random(size) < 0.15, -np.inf, rng.integers(-2, 3, size).astype(float))

    part, a, b, c = scope(2, 2, 2, 2)
    builder.add("pattern", Pattern.of([part], [[[a, b], [c]]], SIDES, score(4)))
    x, y = scope(2, 3)
    builder.add("pair", Pairwise.of([[x, y]], score(2, 3)))
    x, y, z = scope(2, 2, 2)
    builder.add("or", Or.of([[x, y]], [z], pi01=0.1, pi10=0.2))
    x, y, z = scope(2, 2, 2)
    builder.add("and", And.of([[x, y]], [z]))
    builder.add("choice", Choice.of([scope(2, 2, 2)], optional=bool(shape % 2)))
    builder.add("table", Table.of([scope(3, 2, 3)], score(3, 2, 3)))
    builder.add("spot", Table.of([scope(4)], score(4)))
    builder.add("window", Window.of([[*scope(4), free[4].pop()]], grid=(2, 2), radius=1))
    graph = builder.build()
    evidence = {g.name: rng.integers(-2, 3, (*g.shape, g.states)) + 0.0 for g in graph.variables}
    evidence["x2"][0, rng.integers(2)] = rng.choice([-np.inf, 0.0, np.inf])
    return graph, evidence
