"""Results as the types a numpy and scipy user expects."""

import numpy as np

from . import _library as library


def _index(array, narrow):
    if narrow and array.dtype == np.int64 and array.size and array.max() <= np.iinfo(np.int32).max:
        return array.astype(np.int32)
    return array


def natural(tensor, arrays, narrow=False):
    """A scipy matrix (with `arrays` a scipy sparse array) for csr, csc and coo, a numpy array where all is dense, else the
    tensor itself. Nothing is copied, but for indices made narrower where the caller wants that."""
    levels, order = tensor.levels, tensor.mode_order
    kinds = tuple(level[0] for level in levels)
    if all(kind == library.DENSE for kind in kinds) and order == tuple(range(len(order))):
        return tensor.values.reshape(tensor.shape)
    import scipy.sparse
    suffix = "_array" if arrays and hasattr(scipy.sparse, "csr_array") else "_matrix"
    if kinds == (library.DENSE, library.COMPRESSED):
        name = "csr" if order == (0, 1) else "csc"
        made = getattr(scipy.sparse, name + suffix)(tensor.shape, dtype=tensor.dtype)
        made.indptr, made.indices = (_index(levels[1][at], narrow) for at in (1, 2))
        made.data = tensor.values
        made.has_sorted_indices = made.has_canonical_format = True
        return made
    if kinds == (library.COMPRESSED_NONUNIQUE, library.SINGLETON) and order == (0, 1):
        places = tuple(_index(level[2], narrow) for level in levels)
        return getattr(scipy.sparse, "coo" + suffix)((tensor.values, places), shape=tensor.shape, copy=False)
    return tensor
