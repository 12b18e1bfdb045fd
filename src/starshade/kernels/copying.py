"""Copy numbers within kernels, one by one.

``target[:] = source`` would have Numba compile the words of an error about shapes as well, which
takes seconds; the machine code of the copy is the same.
"""

from __future__ import annotations

from starshade.kernels.inner import inner

__all__ = ["copy_to"]


@inner
def copy_to(target, source):  # type: ignore[no-untyped-def]
    """Copy a row; into itself only from further back."""
    for i in range(len(source)):
        target[i] = source[i]
