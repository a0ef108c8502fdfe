"""The fGRU, slowly: loops and sums from its equations."""

import numpy as np

EPSILON = 1e-3


def convolved(maps: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Sum over the kernel of shifted maps; zeros around them."""
    side = kernel.shape[0]
    pad = side // 2
    around = np.pad(maps, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    rows, cols = maps.shape[1:3]
    out = np.zeros((*maps.shape[:3], kernel.shape[3]))
    for i in range(side):
        for j in range(side):
            out += around[:, i : i + rows, j : j + cols] @ kernel[i, j]
    return out


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def relu(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, 0)


def fgru(w: dict, x: np.ndarray, h: np.ndarray, t: int, moments: dict | None) -> np.ndarray:
    """One step; w holds the weights by name, moments (mean, variance) replace the batch's own."""

    def bn(maps: np.ndarray, number: int) -> np.ndarray:
        if moments is None:
            mean, variance = maps.mean((0, 1, 2)), maps.var((0, 1, 2))
        else:
            mean, variance = moments["mean"][t, number], moments["variance"][t, number]
        scale, offset = w["scale"][t, number], w["offset"][t, number]
        return scale * (maps - mean) / np.sqrt(variance + EPSILON) + offset

    g1 = sigmoid(bn(convolved(h, w["U1"]) + w["b1"], 0))
    c1 = bn(convolved(g1 * h, w["Winh"]), 1)
    e = relu(x - relu((w["alpha"] * h + w["mu"]) * c1))
    g2 = sigmoid(bn(convolved(e, w["U2"]) + w["b2"], 2))
    p = w["gamma"] * bn(convolved(e, w["Wexc"]), 3)
    candidate = relu(w["kappa"] * (e + p) + w["omega"] * (e * p))
    return g2 * h + (1 - g2) * candidate
