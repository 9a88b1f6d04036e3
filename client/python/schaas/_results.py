"""Results as the types a numpy and scipy user expects."""

import ctypes

import numpy as np

from . import _library as library
from ._tensors import Storage, memories


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


_TENSOR, _LEVEL = ctypes.c_int64 * 5, ctypes.c_int64 * 4  # schaas_tensor and schaas_level, kernel_abi.h
_tensor_at, _level_at, _LEVEL_BYTES = _TENSOR.from_address, _LEVEL.from_address, ctypes.sizeof(_LEVEL)
_LEVELS, _VALUES, _POSITIONS, _COORDINATES, _ENTRIES = 3, 4, 1, 2, 3  # words of them


class Compressed:
    """Makes scipy matrices like one that `natural` made of a tensor in csr or csc: of the same class, shape and types. scipy's own
    constructor takes 40 microseconds, looking at a tensor level by level as long again."""

    @staticmethod
    def like(made):
        """None: `made` is no such matrix."""
        return Compressed(made) if getattr(made, "format", None) in ("csr", "csc") else None

    def __init__(self, made):
        self._kind = type(made)
        arrays = ("indptr", "indices", "data")
        self._attributes = {name: value for name, value in vars(made).items() if name not in arrays}
        self._index, self._values, self._positions = made.indices.dtype, made.data.dtype, made.indptr.size

    def of(self, handle):
        """The matrix in the storage behind `handle`, which it owns."""
        owner = Storage(handle)
        return self._in(owner.address, owner)

    def copy_of(self, view):
        """A matrix of its own with what a schaas_tensor holds."""
        made = self._in(ctypes.addressof(view), view)
        made.indptr, made.indices, made.data = made.indptr.copy(), made.indices.copy(), made.data.copy()
        return made

    def _in(self, address, owner):
        tensor = _tensor_at(address)
        level = _level_at(tensor[_LEVELS] + _LEVEL_BYTES)
        entries = level[_ENTRIES]
        made = self._kind.__new__(self._kind)
        held = made.__dict__
        held.update(self._attributes)
        held["indptr"], held["indices"], held["data"] = memories(
            owner, (level[_POSITIONS], self._positions, self._index), (level[_COORDINATES], entries, self._index),
            (tensor[_VALUES], entries, self._values))
        return made
