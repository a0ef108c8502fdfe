"""Which curve owns a pixel, against a look at all pairs of pixels and points."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.vision.curves.owners import FAR, FAR_LEAST, Trace, label_pixels, mask_pixels


def crossing_curves(seed: int) -> tuple[np.ndarray, Trace]:
    """Straight curves of several widths in a picture, some stretches of them bridged, and noise."""
    random = np.random.default_rng(seed)
    shape = random.integers(20, 70, 2)
    points, radius, curve, bridge = [], [], [], []
    for number in range(int(random.integers(1, 5))):
        first, last = random.uniform(0, 1, (2, 2)) * (shape - 1)
        count = max(int(np.hypot(*(last - first))), 3)
        points.append(np.linspace(first, last, count))
        radius.append(np.full(count, random.uniform(0.5, 6.0)))
        curve.append(np.full(count, number))
        gap = np.full(count, -1)
        gap[count // 3 : count // 2] = number if random.random() < 0.5 else -1
        bridge.append(gap)
    trace = Trace(*map(np.concatenate, (points, radius, curve, bridge, curve)))
    pixels = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1)
    far = np.linalg.norm(pixels[:, :, None] - trace.points, axis=-1)
    mask = (far < trace.radius + 0.5).any(-1) & (random.random(shape) < 0.97)
    return mask | (random.random(shape) < 0.01), trace


def one_pixel(at: np.ndarray, trace: Trace, depth: np.ndarray) -> dict[int, float]:
    """What it costs each curve to own a pixel, its seen stretches and its bridges apart."""
    costs: dict[int, float] = {}
    for curve in range(int(trace.curve.max()) + 1):
        for seen in (True, False):
            here = np.flatnonzero((trace.curve == curve) & ((trace.bridge < 0) == seen))
            if not len(here):
                continue
            far = np.linalg.norm(trace.points[here] - at, axis=1)
            which = here[far.argmin()]
            if far.min() >= FAR * trace.radius[here].max() + FAR_LEAST:
                continue
            ratio = far.min() / (trace.radius[which] + 0.5)
            cost = depth[which] + 0.1 * ratio if ratio <= 1.05 else 10.0 + ratio
            costs[curve] = min(cost, costs.get(curve, np.inf))
    return costs


def bridge_depths(mask: np.ndarray, trace: Trace) -> np.ndarray:
    """1 to 2 on bridges, by the OFF pixels beside ON ones that lie deep inside of them."""
    depth, below = np.zeros(len(trace.points)), np.flatnonzero(trace.bridge >= 0)
    breaks = np.zeros(int(trace.bridge.max(initial=0)) + 1)
    wide = np.pad(mask, 1)
    for row, col in np.argwhere(~mask):
        if not len(below) or not wide[row : row + 3, col : col + 3].any():
            continue
        far = np.linalg.norm(trace.points[below] - (row, col), axis=1)
        which = below[far.argmin()]
        if far.min() < 0.85 * (trace.radius[which] + 0.5) - 0.5:
            breaks[trace.bridge[which]] += 1
    depth[below] = 1 + (breaks / (breaks + 2.0))[trace.bridge[below]]
    return depth


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_owners_and_covers_are_those_of_all_pairs(seed: int) -> None:
    mask, trace = crossing_curves(seed)
    labels = label_pixels(mask, trace)
    masks = mask_pixels(mask, trace, labels)
    depth = bridge_depths(mask, trace)
    assert not labels[~mask].any() and not masks[:, ~mask].any()
    for row, col in np.argwhere(mask):
        costs = one_pixel(np.array([row, col]), trace, depth)
        owner = int(labels[row, col])
        if not costs:
            assert owner == 0 and not masks[:, row, col].any()
            continue
        assert costs[owner - 1] <= min(costs.values()) + 1e-9
        covers = {curve for curve, cost in costs.items() if cost < 10.0} | {owner - 1}
        assert set(np.flatnonzero(masks[:, row, col]).tolist()) == covers
