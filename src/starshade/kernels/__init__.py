"""Arrays in, arrays out: the loops that must be fast.

A kernel knows no other room. The public face of each file checks nothing that its caller has
checked already; private functions assume valid input. Rules that keep answers the same at any
number of threads (DESIGN §6):

- work is cut into a fixed number of chunks by size, each with its own output, merged in order;
- no scalar reduction over ``prange``;
- no ``get_num_threads()`` inside a kernel, which would also disable the cache;
- sums that must merge exactly are integers.

Every kernel has a slow twin in ``tests/naive/`` and also runs interpreted
(``NUMBA_DISABLE_JIT=1``), so small unsigned integers are widened before they are subtracted.
"""

from starshade.kernels.warm import ensure_cache_place

ensure_cache_place()  # before any kernel is declared: Numba refuses to start without one
