"""Decoding by mutual best: of a group in which one may be ON, the one that all its groups want.

Beliefs of several members of a group can be above 0, at ties or where messages oscillate. A binary
variable that is a member of groups is ON when its belief is above 0 and it is the best one of every
group that it is in, so no group has two. The other variables take their best state given those.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from mam.factors.numeric_limits import limit
from mam.graph import PortWiring, Wiring
from mam.infer import passing
from mam.infer.passing import Store


@jax.jit
def mutual_best(
    wiring: Wiring, potentials: Store, evidence: Store, messages: Store, beliefs: Store
) -> Store:
    """Return beliefs that decode so; messages and beliefs have a leading axis of restarts."""

    def one(messages: Store, beliefs: Store) -> Store:
        return _settled(wiring, potentials, evidence, messages, beliefs)

    return jax.vmap(one)(messages, beliefs)


def _settled(
    wiring: Wiring, potentials: Store, evidence: Store, messages: Store, beliefs: Store
) -> Store:
    if 2 not in wiring.states:
        return beliefs
    kind = wiring.states.index(2)
    member, beaten = _members(wiring, beliefs, kind)
    big = jnp.asarray(limit(beliefs[kind].dtype), beliefs[kind].dtype)
    certain = jnp.where((beliefs[kind] > 0) & ~beaten, big, -big)

    def tell(port: PortWiring, told: Array) -> Array:
        if port.kind != kind:
            return told
        there = member.at[port.index].get(mode="fill", fill_value=False)
        return jnp.where(there, certain.at[port.index].get(mode="clip"), told)

    told = passing.map_ports(wiring, tell, passing.to_factors(wiring, beliefs, messages))
    said = passing.from_factors(wiring, potentials, told, 0)
    settled = passing.beliefs(wiring, evidence, passing.to_store(wiring, said, evidence[0].dtype))
    decided = jnp.where(member, certain, settled[kind])
    return tuple(decided if k == kind else values for k, values in enumerate(settled))


def _members(wiring: Wiring, beliefs: Store, kind: int) -> tuple[Array, Array]:
    """Tell which binary variables are in any group, and which are not the best in one of them."""
    dtype = beliefs[kind].dtype
    there = passing.at_edges(wiring, beliefs, passing.neutral(wiring, dtype))
    best = [block.best_members(own) for block, own in zip(wiring.blocks, there, strict=True)]
    grouped, lost = [], []
    for edges, flags in zip(there, best, strict=True):
        pairs = list(zip(edges, flags, strict=True))
        grouped.append(tuple(jnp.full_like(own, flag is not None) for own, flag in pairs))
        lost.append(
            tuple(jnp.zeros_like(own) if f is None else (~f).astype(dtype) for own, f in pairs)
        )
    marks = (passing.to_store(wiring, tuple(some), dtype) for some in (grouped, lost))
    member, beaten = (passing.received(wiring, kind, store) > 0 for store in marks)
    return member, beaten
