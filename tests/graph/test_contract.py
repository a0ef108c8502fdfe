"""The contract of a wiring: compiled graphs keep it, and every breach of it is named."""

from dataclasses import replace

import numpy as np
import pytest

from mam.graph import PortWiring, Wiring, compile_graphs
from tests.oracles import random_models
from tests.oracles.contract import check_wiring


def wiring() -> Wiring:
    graphs = [random_models.medley(np.random.default_rng(seed))[0] for seed in range(3)]
    return compile_graphs(graphs).wiring


@pytest.mark.parametrize("seed", range(0, 30, 3))
def test_compiled_graphs_keep_the_contract(seed: int) -> None:
    graphs = [random_models.medley(np.random.default_rng(seed + i))[0] for i in range(3)]
    check_wiring(compile_graphs(graphs).wiring)
    check_wiring(compile_graphs(graphs[0]).wiring)
    model, _ = random_models.attention_model(np.random.default_rng(seed))
    check_wiring(compile_graphs(model.graph).wiring)


def first_port(found: Wiring, **changes: object) -> Wiring:
    ports: list[tuple[PortWiring, ...]] = list(found.ports)
    ports[0] = (replace(ports[0][0], **changes), *ports[0][1:])
    return replace(found, ports=tuple(ports))


def breaches(found: Wiring) -> dict[str, Wiring]:
    port = found.ports[0][0]
    index, instance = np.array(port.index), np.array(port.instance)
    kind = port.kind
    moved = index.copy()
    moved.flat[0] = (moved.flat[0] + 1) % found.class_size(kind)
    beyond = index.copy()
    beyond.flat[0] = found.class_size(kind) + 1
    slots = list(found.slots)
    emptied = np.array(slots[kind][0])
    emptied[:] = found.store_sizes[kind]
    slots[kind] = (emptied, *slots[kind][1:])
    return {
        "another variable": first_port(found, index=moved),
        "names a variable beyond": first_port(found, index=beyond),
        "starts at": first_port(found, start=port.start + 1),
        "not sorted by instance": first_port(found, instance=instance[::-1].copy()),
        "where its instances begin": first_port(found, bounds=np.array(port.bounds)[::-1].copy()),
        "edges, arities or instances": first_port(found, edge=np.array(port.edge)[:-1]),
        "exactly once": replace(found, slots=tuple(slots)),
        "blocks with ports": replace(found, factor_instance=found.factor_instance[:-1]),
    }


@pytest.mark.parametrize("message", list(breaches(wiring())))
def test_every_breach_is_named(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_wiring(breaches(wiring())[message])


def test_a_wrong_partner_is_named() -> None:
    model, _ = random_models.attention_model(np.random.default_rng(0))
    found = compile_graphs(model.graph).wiring
    ports = found.ports[0]
    which = next(i for i, port in enumerate(ports) if port.partner is not None and i)
    wrong = replace(ports[which], partner=np.zeros_like(np.array(ports[which].partner)))
    broken = replace(found, ports=((*ports[:which], wrong, *ports[which + 1 :]), *found.ports[1:]))
    with pytest.raises(ValueError, match="only other message"):
        check_wiring(broken)
