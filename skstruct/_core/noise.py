"""Noise as a stateless hash of (seed, step, what is corrupted).

A structure asks for the factor of a feature wherever it reads a row of weights and
wherever it emits the feature, and gets the same answer both times, because the factor
depends on nothing but the seed, the number of the example visited and the feature. So
one draw is shared by all occurrences of a feature in an example, as in figure 3 of
Søgaard (2013), without his vector of the length of the model; and a replay is
bit-identical on any machine, because drawing uses integers only.

* Input dropout (Zhang, Su and Zhou 2014, equations 18 and 19): a token of the input is
  masked, and every feature that reads it is left out.
* Feature dropout (their equation 20): a feature is left out.
* Zipfian corruption (Søgaard 2013): a feature counts 1/ξ with P(ξ = k) = k^-s / ζ(s)
  for k = 1, 2, ..., ζ(s) = Σ_k k^-s. He draws by ``random.zipf(3, M)``, whose numbers
  have no largest one. Here ξ = min(k, 4096), so that P(ξ = 4096) = 1 - Σ_{k < 4096}
  k^-s / ζ(s) and all others are as they were.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from scipy.special import zeta

from .codes import DROPOUT, NO_NOISE, NOISES
from .compile import inline
from .hashing import mix64

ZIPF_SUPPORT = 4096
"""Largest ξ; it has the probability of all larger ones, too (3e-8 for s = 3, 0.41 for s
= 1.1).
"""

MOST_COLUMNS = 64
"""Columns of a token that input dropout can mask independently; numbered consecutively
over all tokens.
"""

TOKEN_STREAM = np.uint64(0x5851F42D4C957F2D)
NODE_STREAM = np.uint64(0x14057B7EF767814F)
EDGE_STREAM = np.uint64(0x2545F4914F6CDD1D)
"""Keys that keep the draws for tokens, node features and transition features apart."""


class Noise(NamedTuple):
    """What the kernels need to know about corruption; see :func:`make_noise`."""

    seed: int  # uint64 key of this fit
    token_below: int  # a token is masked if its 32-bit draw is below this
    feature: int  # code: NO_NOISE, DROPOUT or ZIPF, for node features
    edge: int  # the same for label transitions
    feature_below: int  # a feature is dropped if its 32-bit draw is below this
    zipf: np.ndarray  # (ZIPF_SUPPORT,) uint64: P(ξ <= k + 1) in units of 2^-32


@functools.lru_cache(maxsize=8)
def _zipf(exponent: float) -> np.ndarray:
    """Return ``Noise.zipf``, which all noise of an exponent shares."""
    mass = np.arange(1, ZIPF_SUPPORT + 1, dtype=np.float64) ** -exponent
    mass /= zeta(exponent)
    # Rounded to 32 bits, so that a last-digit difference of `pow` between machines does
    # not show.
    below = np.round(np.minimum(np.cumsum(mass), 1.0) * 2.0**32).astype(np.uint64)
    below[-1] = 2**32
    return below


def make_noise(
    seed: int = 0,
    dropout: float = 0.0,
    feature_noise: str | None = None,
    edge_noise: str | None = None,
    rate: float = 0.1,
    exponent: float = 3.0,
) -> Noise:
    """Translate the noise parameters of an estimator for the kernels.

    Parameters
    ----------
    seed : int
    dropout : float in [0, 1)
        Probability that a token is masked.
    feature_noise, edge_noise : None, "dropout" or "zipf"; ``edge_noise`` also "same"
    rate : float in [0, 1)
        Probability that feature dropout removes a feature.
    exponent : float > 1
        The s of the Zipf distribution.
    """
    feature = NOISES[feature_noise]
    edge = feature if edge_noise == "same" else NOISES[edge_noise]
    return Noise(
        seed=np.uint64(seed),
        token_below=np.uint64(round(dropout * 2**32)),
        feature=feature,
        edge=edge,
        feature_below=np.uint64(round(rate * 2**32)),
        zipf=_zipf(float(exponent)),
    )


class Dropout(NamedTuple):
    """Input dropout alone, for kernels of training without other noise."""

    seed: int  # as of :class:`Noise`
    token_below: int  # as of :class:`Noise`; 0 hides nothing


QUIET = make_noise()
"""No corruption: what prediction uses."""


@inline
def draw(seed: int, stream: int, step: int, item: int) -> int:
    """32 uniform bits for ``item`` at ``step``."""
    h = mix64(np.uint64(seed) ^ mix64(np.uint64(step) + stream))
    return mix64(
        h + np.uint64(np.int64(item)) * np.uint64(0x9E3779B97F4A7C15)
    ) >> np.uint64(32)


@inline
def token_masked(noise: Noise | Dropout, step: int, position: int, column: int) -> bool:
    """Tell whether input dropout hides this column (below ``MOST_COLUMNS``) of the
    token at this position.
    """
    if noise.token_below == np.uint64(0):
        return False
    item = np.uint64(position) * np.uint64(MOST_COLUMNS) + np.uint64(column)
    return draw(noise.seed, TOKEN_STREAM, step, item) < noise.token_below


@inline
def factor_of_key(
    noise: Noise, edge: bool, step: int, compound: int, key: int
) -> float:
    """Return the factor of the feature of a key, which may have no row yet; ``edge``: a
    transition feature.
    """
    code = noise.edge if edge else noise.feature
    if code == NO_NOISE:
        return 1.0
    item = mix64(np.uint64(key) + np.uint64(compound) * np.uint64(0x9E3779B97F4A7C15))
    return factor(
        noise, code, EDGE_STREAM if edge else NODE_STREAM, step, np.int64(item)
    )


@inline
def factor(noise: Noise, code: int, stream: int, step: int, item: int) -> float:
    """Return the factor of feature ``item`` at ``step``: 1, 0 (dropped) or 1/ξ.

    ``code`` is ``noise.feature`` or ``noise.edge``, ``stream`` keeps their draws apart.
    """
    if code == NO_NOISE:
        return 1.0
    bits = draw(noise.seed, stream, step, item)
    if code == DROPOUT:
        return 0.0 if bits < noise.feature_below else 1.0
    # Inverse of the cumulated distribution; most of the mass sits in the first entries.
    k = 0
    while k < 4:
        if bits < noise.zipf[k]:
            return 1.0 / (k + 1)
        k += 1
    low = k
    high = noise.zipf.shape[0] - 1
    while low < high:
        middle = (low + high) // 2
        if bits < noise.zipf[middle]:
            high = middle
        else:
            low = middle + 1
    return 1.0 / (low + 1)
