"""``python -m bench.models``: the classics of docs/models.md at larger sizes, timed and checked.

Prints a table: name, variables, seconds of the second solve (the first compiles), score, and how
the score is known to be right, or how far it may be off.
"""

import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from mam.core.memory import TooLarge
from mam.factors import Choice, Pairwise
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import Solution, enumerate_exactly, solve
from mam.models import MamBuilder

Problem = tuple[FactorGraph, dict[str, np.ndarray]]
Couplings = tuple[np.ndarray, np.ndarray]  # between genes, and what each does on its own

# Published by Arto Inkala as a very hard one; and the example of the encyclopedias.
HARD_SUDOKU = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."
SUDOKU = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"


def neighbours(ids: np.ndarray) -> np.ndarray:
    """Pairs of neighbours on a grid."""
    below = np.stack([ids[:-1], ids[1:]], -1).reshape(-1, 2)
    beside = np.stack([ids[:, :-1], ids[:, 1:]], -1).reshape(-1, 2)
    return np.concatenate([below, beside])


def assignment(size: int = 60) -> Problem:
    """Workers and jobs with random worths."""
    builder = GraphBuilder()
    does = builder.variables("does", (size, size))
    builder.add("one", Choice.of(np.concatenate([does, does.T])))
    return builder.build(), {"does": np.random.default_rng(0).normal(size=(size, size))}


def ising(size: int = 60) -> Problem:
    """A ferromagnet in a random field."""
    builder = GraphBuilder()
    spin = builder.variables("spin", (size, size))
    builder.add("agree", Pairwise.of(neighbours(spin), 0.5 * np.eye(2)))
    return builder.build(), {"spin": np.random.default_rng(1).normal(size=(size, size))}


def spin_glass(size: int = 16) -> Problem:
    """Couplings of random signs, without a field."""
    rng = np.random.default_rng(2)
    builder = GraphBuilder()
    pairs = neighbours(builder.variables("spin", (size, size)))
    signs = rng.choice([-1.0, 1.0], len(pairs))
    builder.add("coupling", Pairwise.of(pairs, signs[:, None, None] * [[1, -1], [-1, 1]]))
    return builder.build(), {}


def denoising(size: int = 40, noise: float = 0.6) -> Problem:
    """Three grey levels under noise; attention variables join equal neighbours."""
    truth = np.zeros((size, size))
    truth[size // 6 : size // 2, size // 6 : 3 * size // 4] = 1
    truth[size // 2 : -2, size // 2 : -2] = 2
    noisy = truth + np.random.default_rng(3).normal(0, noise, truth.shape)
    builder = MamBuilder()
    level = builder.regular("level", states=3, shape=truth.shape)
    match = np.where(np.vstack([np.ones(3), np.eye(3)]), 0.0, -np.inf)
    worth = np.array([[0.0], [1.2], [1.2], [1.2]])
    ends = {"down": (level[:-1], level[1:]), "right": (level[:, :-1], level[:, 1:])}
    for name, (first, second) in ends.items():
        same = builder.attention(name, between=(first, second), states=4)
        builder.table(f"{name}, one end", (same, first), match + worth)
        builder.table(f"{name}, other end", (same, second), match)
    evidence = -((noisy[..., None] - np.arange(3)) ** 2) / (2 * noise**2)
    return builder.build().graph, {"level": evidence}


def stereo(height: int = 30, width: int = 60, shifts: int = 8) -> Problem:
    """A random-dot stereogram: a square before its surround."""
    rng = np.random.default_rng(4)
    right = rng.random((height, width + shifts))
    disparity = np.full((height, width), 2)
    disparity[height // 3 : 2 * height // 3, width // 3 : 2 * width // 3] = 5
    row, column = np.indices(disparity.shape)
    left = right[row, column + disparity] + rng.normal(0, 0.1, disparity.shape)
    shift = np.arange(shifts)
    differ = left[..., None] - right[row[..., None], column[..., None] + shift]
    builder = GraphBuilder()
    pixel = builder.variables("pixel", disparity.shape, states=shifts)
    cost = np.minimum(abs(shift[:, None] - shift), 2)
    builder.add("smooth", Pairwise.of(neighbours(pixel), -0.7 * cost))
    return builder.build(), {"pixel": -20 * differ**2}


def colouring(nodes: int = 100, degree: int = 4, colours: int = 4) -> Problem:
    """A random graph; every node likes some colours better."""
    rng = np.random.default_rng(6)
    edges = rng.integers(0, nodes, (nodes * degree // 2, 2))
    edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], 1), axis=0)
    builder = GraphBuilder()
    colour = builder.variables("colour", nodes, states=colours)
    builder.add("differ", Pairwise.of(colour[edges], np.where(np.eye(colours), -np.inf, 0.0)))
    return builder.build(), {"colour": rng.normal(size=(nodes, colours))}


def sudoku(cells: str = SUDOKU) -> Problem:
    """One digit a cell, each digit once in every row, column and box."""
    builder = GraphBuilder()
    digit = builder.variables("digit", (9, 9, 9))
    boxes = digit.reshape(3, 3, 3, 3, 9).transpose(0, 2, 4, 1, 3)
    lists = [digit, digit.transpose(0, 2, 1), digit.transpose(1, 2, 0), boxes]
    builder.add("one", Choice.of(np.concatenate([each.reshape(-1, 9) for each in lists])))
    given = np.zeros((81, 9))
    for place, cell in enumerate(cells):
        if cell != ".":
            given[place, int(cell) - 1] = np.inf
    return builder.build(), {"digit": given.reshape(9, 9, 9)}


def word_senses(words: int = 200, senses: int = 5, reach: int = 4) -> Problem:
    """A text: senses of words near each other are related by random amounts, as glosses are."""
    rng = np.random.default_rng(7)
    builder = GraphBuilder()
    word = builder.variables("word", words, states=senses)
    pairs = np.concatenate([np.stack([word[:-k], word[k:]], 1) for k in range(1, reach + 1)])
    related = rng.poisson(0.4, (len(pairs), senses, senses)).astype(float)
    builder.add("related", Pairwise.of(pairs, related))
    return builder.build(), {"word": np.log(rng.dirichlet(np.ones(senses), words))}


def genes(couplings: np.ndarray, own: np.ndarray) -> Problem:
    """Genes that induce or repress each other."""
    builder = GraphBuilder()
    gene = builder.variables("gene", len(own))
    pairs = np.argwhere(np.triu(couplings) != 0)
    matrices = couplings[tuple(pairs.T)][:, None, None] * [[0, 0], [0, 1]]
    builder.add("acts on", Pairwise.of(gene[pairs], matrices))
    return builder.build(), {"gene": own}


def learn(samples: np.ndarray, steps: int = 2000, rate: float = 0.5) -> Couplings:
    """Ascend on the mean of log p(gene | others) less 0.001 |couplings|; drop those below 0.5."""
    count = samples.shape[1]
    couplings, own = np.zeros((count, count)), np.zeros(count)
    for _ in range(steps):
        surprise = samples - 1 / (1 + np.exp(-(samples @ couplings + own)))
        slope = surprise.T @ samples / len(samples)
        couplings += rate * (slope + slope.T) / 2
        couplings = np.sign(couplings) * np.maximum(abs(couplings) - rate * 0.001, 0)
        np.fill_diagonal(couplings, 0)
        own += rate * surprise.mean(0)
    return np.where(abs(couplings) > 0.5, couplings, 0), own


def learned_genes(count: int = 14, links: int = 16) -> str:
    """Draw 4,000 samples of a random network, learn it, and find its most probable state."""
    rng = np.random.default_rng(5)
    true = np.zeros((count, count))
    pairs = rng.permutation(np.argwhere(np.triu(np.ones_like(true), 1)))[:links].T
    true[tuple(pairs)] = true[tuple(pairs[::-1])] = rng.choice([-2.0, 2.0], links)
    exact = enumerate_exactly(*genes(true, np.full(count, -0.5)))
    share = np.exp(exact.scores - exact.log_partition)
    samples = exact.values[rng.choice(len(share), 4000, p=share)].astype(float)
    start = time.perf_counter()
    couplings, own = learn(samples)
    solution = solve(*genes(couplings, own), bound=True)
    taken = time.perf_counter() - start
    found, wrong = np.sum((couplings != 0) & (true != 0)), np.sum((couplings != 0) & (true == 0))
    known = f"{found // 2} of {links} links found, {wrong // 2} wrong ones; time with learning"
    name = f"gene network learned, {count} genes"
    return f"| {name} | {count} | {taken:.2f} | {solution.score:.4f} | {known} |"


def how_known(solution: Solution, problem: Problem, optimum: float | None) -> str:
    """Say why the score is right: the certificate, another algorithm, or the gap that is left."""
    if not solution.feasible:
        return f"not solved: {len(solution.violated)} factors violated"
    if optimum is None and not solution.optimal:
        try:
            optimum = solve(*problem, method="exact", largest_table=1 << 22).score
        except TooLarge:
            return f"gap {solution.gap:.3g}"
    if optimum is not None:
        right = abs(solution.score - optimum) <= 1e-6 * (1 + abs(optimum))
        return "equals the optimum by other means" if right else f"the optimum is {optimum:.6f}"
    return "proved optimal"


CASES: dict[str, tuple[Callable[[], Problem], dict]] = {
    "assignment, 60 x 60": (assignment, {}),
    "Ising grid, 60 x 60": (ising, {}),
    "spin glass, 16 x 16": (spin_glass, {"restarts": 32}),
    "denoising with lines, 40 x 40": (denoising, {}),
    "stereo, 30 x 60, 8 disparities": (stereo, {}),
    "colouring, 100 nodes, 4 colours": (colouring, {"restarts": 8}),
    "Sudoku": (sudoku, {}),
    "Sudoku, a very hard one": (lambda: sudoku(HARD_SUDOKU), {"restarts": 8}),
    "word senses, 200 words": (word_senses, {}),
}


def row(name: str, make: Callable[[], Problem], settings: dict) -> str:
    """Solve twice, time the second time, and look how good the answer is."""
    problem = graph, evidence = make()
    solve(graph, evidence, bound=True, **settings)
    start = time.perf_counter()
    solution = solve(graph, evidence, bound=True, **settings)
    taken = time.perf_counter() - start
    optimum = None
    if "does" in evidence:
        rows, columns = linear_sum_assignment(evidence["does"], maximize=True)
        optimum = float(evidence["does"][rows, columns].sum())
    known = how_known(solution, problem, optimum)
    return f"| {name} | {len(graph.states):,} | {taken:.2f} | {solution.score:.4f} | {known} |"


def main() -> None:
    print("| name | variables | seconds | score | how it is known |\n|---|---|---|---|---|")
    for name, (make, settings) in CASES.items():
        print(row(name, make, settings), flush=True)
    print(learned_genes())


if __name__ == "__main__":
    main()
