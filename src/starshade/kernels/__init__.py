"""Arrays in, arrays out: the loops that must be fast.

A kernel knows no other room. The public face of each file checks nothing that its caller has
checked already; private functions assume valid input. Rules that keep answers the same at any
number of threads:

- work is cut into a fixed number of chunks by size, each with its own output, merged in order;
- no scalar reduction over ``prange``;
- no ``get_num_threads()`` inside a kernel, which would also disable the cache;
- sums that must merge exactly are integers.

Every kernel has a slow twin in ``tests/naive/`` and also runs interpreted
(``NUMBA_DISABLE_JIT=1``), so small unsigned integers are widened before they are subtracted.
"""

import os

from starshade.kernels.warm import prepare_cache, refuse_variables

refuse_variables()
# before Numba is loaded, or any kernel declared
os.environ.setdefault("NUMBA_THREADING_LAYER_PRIORITY", "omp tbb workqueue")
prepare_cache()
