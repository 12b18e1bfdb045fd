"""One rule for randomness.

Everything random takes ``rng``: an int seed, a NumPy Generator, or None (drawn from the system),
as the Scientific Python recommendation on random numbers has it. It is reduced to one 64-bit
*seed*, which results carry. From the seed, each purpose has its own stream. An attack's
stream for a user is keyed by the seed and a hash of the id's text, so that the adversary knows the
same of a person on the original and on a release; an anonymizer's by the seed and the record's
place in an order of content (`starshade.anonymize.order`), so that what people are called changes
no release. Neither the order of a file nor the number of threads changes what is drawn.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

from starshade.errors import ConfigError
from starshade.naming import called

Rng = int | np.random.Generator | None


def resolve_seed(rng: Rng) -> int:
    """Reduce what the caller gave to one seed in [0, 2**63); ConfigError where it is none.

    Examples
    --------
    >>> resolve_seed(7)
    7
    """
    if rng is None:
        return secrets.randbits(63)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(0, 2**63))
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool):
        if 0 <= rng < 2**63:
            return int(rng)
        raise ConfigError(f"{called('seed')} {rng}: allowed are 0 to 2**63 - 1")
    raise ConfigError(f"rng of type {type(rng).__name__}: give an int, a Generator or None")


def stream_key(seed: int, purpose: str) -> int:
    """Return the 64-bit key of the stream that `purpose` draws from."""
    digest = hashlib.blake2b(f"{seed}\x00{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return the NumPy stream that `purpose` draws from.

    Examples
    --------
    >>> a, b = generator(1, "permutation"), generator(1, "permutation")
    >>> bool(a.integers(100) == b.integers(100))
    True
    """
    return np.random.Generator(np.random.Philox(key=stream_key(seed, purpose)))
