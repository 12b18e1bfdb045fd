"""What is published: cells with multiplicity, manifest, atomic store, independent verifier.

A release is made, written, counted again, and read by different files that meet only in the
format::

    build ── content ──▶ Release ──▶ write ──▶ folder ──▶ read ──▶ Release
    groups   one symbol              columns     ▲
    → classes, one order             card        │
    link                                         verify ◀── original and link (in memory)
                                     receipt ──▶ private key file, outside the folder

- `content` gives every content one symbol and all rows one order. Groups that say the same are
  written once, sorted by what they say, so nothing in a folder depends on the order of the
  input, the seed's draws beyond the groups themselves, or the number of threads.
- `write` writes into a hidden sibling, lets `verify` count what is there, and renames. `verify`
  shares no code with the other files: it reads masks, orders and shares in its own way, so that
  an error must be made twice to go unnoticed.
- `receipt` keeps what may never enter the folder: the link from users to records, the seed, the
  input's digest.
"""

from typing import Literal

ProfileKind = Literal["padded", "simple", "model", "pooled"]  # what a profile says of an item
FIXED_INTERVALS = "fixed-intervals"  # the hierarchy whose cells name nobody's rating
MEANS: frozenset[ProfileKind | None] = frozenset({"padded", "simple"})  # the others are predictions
