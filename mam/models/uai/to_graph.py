"""From tables over a file's variables to a graph: few groups, so that little is compiled."""

from collections.abc import Iterable

import numpy as np

from mam.factors import Factors, Pairwise, Table
from mam.graph import FactorGraph, VariableGroup
from mam.models.uai.uai_model import UaiModel

# Scopes (tables, variables) by the file's numbering, and log potentials (tables, *states).
AlikeTables = tuple[np.ndarray, np.ndarray]


def assemble(states: np.ndarray, tables: Iterable[AlikeTables], constant: float) -> UaiModel:
    """One group of variables for each number of states, one of factors for each signature.

    All variables of the tables have more than one state.
    """
    groups, position = _variable_groups(states)
    found: dict[tuple[int, ...], list[AlikeTables]] = {}
    for scopes, logs in tables:
        # Axes by rising number of states: fewer kinds of tables, and so less to compile.
        axes = np.argsort(logs.shape[1:], kind="stable")
        turned = logs.transpose(0, *(1 + axes))
        found.setdefault(turned.shape[1:], []).append((position[scopes[:, axes]], turned))
    factors = tuple(_factor_group(shape, parts) for shape, parts in found.items())
    return UaiModel(FactorGraph(groups, factors), states, position, constant)


def _variable_groups(states: np.ndarray) -> tuple[tuple[VariableGroup, ...], np.ndarray]:
    counts, sizes = np.unique(states[states > 1], return_counts=True)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    groups = tuple(
        VariableGroup(f"x{count}", (int(size),), int(count), int(start))
        for count, size, start in zip(counts, sizes, starts, strict=False)
    )
    order = np.argsort(states, kind="stable")[int(np.sum(states == 1)) :]
    position = np.full(len(states), -1, np.int64)
    position[order] = np.arange(len(order))
    return groups, position


def _factor_group(shape: tuple[int, ...], parts: list[AlikeTables]) -> tuple[str, Factors]:
    variables = np.concatenate([ids for ids, _ in parts])
    logs = np.concatenate([tables for _, tables in parts])
    name = "f" + "x".join(str(n) for n in shape)
    if len(shape) == 2:
        return name, Pairwise.of(variables, logs)
    return name, Table.of(variables, logs.reshape(len(logs), -1), states=shape)
