"""The fGRU: a recurrent unit of maps in which neighbours inhibit and then excite each other.

    g1 = sigmoid(BN(U1 * h + b1))             which state is looked at
    c1 = BN(Winh * (g1 h))
    e  = relu(x - relu((alpha h + mu) c1))    the drive, inhibited
    g2 = sigmoid(BN(U2 * e + b2))             how much of the state stays
    p  = gamma BN(Wexc * e)
    h~ = relu(kappa (e + p) + omega (e p))    excited
    h' = g2 h + (1 - g2) h~

`*` is a convolution; U1 and U2 are 1 x 1. Every step has batch norms of its own. Those take the
gate biases away again and have offsets instead; the biases stay, as in the published network.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from mam.rivals.network_layers import Kernel, Maps, convolve, kernel_of
from mam.rivals.norm import Moments, Norm, normalise, pick, stacked

_NORMS = 4  # batch norms in a step
_SCALE = 0.1  # with which the scales of batch norms start

Channel = Float[Array, "channels"]


class Fgru(eqx.Module):
    """The weights of an fGRU, shared by its steps, and the batch norms, which are not."""

    first_gate: Kernel  # U1
    second_gate: Kernel  # U2
    inhibition: Kernel  # Winh
    excitation: Kernel  # Wexc
    first_bias: Channel
    second_bias: Channel
    alpha: Channel
    mu: Channel
    gamma: Channel
    kappa: Channel
    omega: Channel
    norms: Norm  # (steps, 4, channels)

    @classmethod
    def of(cls, key: PRNGKeyArray, channels: int, side: int, steps: int) -> "Fgru":
        """A random fGRU with kernels of side x side px."""
        u1, u2, winh, wexc, bias = jax.random.split(key, 5)
        # Gates that remember for 1 to `steps` - 1 steps.
        spans = jax.random.uniform(bias, (channels,), jnp.float32, 1.0, max(steps - 1.0, 1.0))
        gate = -jnp.log(spans)
        return cls(
            kernel_of(u1, 1, channels, channels),
            kernel_of(u2, 1, channels, channels),
            kernel_of(winh, side, channels, channels),
            kernel_of(wexc, side, channels, channels),
            gate,
            -gate,
            *(jnp.full(channels, value, jnp.float32) for value in (0.1, 1.0, 1.0, 0.5, 0.5)),
            norms=Norm.of(steps, _NORMS, channels, scale=_SCALE),
        )

    def step(
        self, drive: Maps, state: Maps, norms: Norm, seen: Moments, learning: bool
    ) -> tuple[Maps, Moments]:
        """The next state, and the moments used; norms and moments are those of this step."""
        after: list[Moments] = []

        def norm(maps: Maps) -> Maps:
            number = len(after)
            maps, moments = normalise(maps, pick(norms, number), pick(seen, number), learning)
            after.append(moments)
            return maps

        look = jax.nn.sigmoid(norm(convolve(state, self.first_gate) + self.first_bias))
        around = norm(convolve(look * state, self.inhibition))
        inhibited = jax.nn.relu(drive - jax.nn.relu((self.alpha * state + self.mu) * around))
        stay = jax.nn.sigmoid(norm(convolve(inhibited, self.second_gate) + self.second_bias))
        support = self.gamma * norm(convolve(inhibited, self.excitation))
        excited = self.kappa * (inhibited + support) + self.omega * (inhibited * support)
        return stay * state + (1 - stay) * jax.nn.relu(excited), stacked(after)
