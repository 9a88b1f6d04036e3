"""Results as the types a numpy and scipy user expects."""

import ctypes

import numpy as np

from . import _library as library
from ._operands import level_text
from ._tensors import Storage, Tensor, converted, memories


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
_LEVELS, _VALUES, _WIDTH, _POSITIONS, _COORDINATES, _ENTRIES = 3, 4, 0, 1, 2, 3  # words of them; the width is half a word


def maker_like(made):
    """What makes further results like one that `natural` made, without looking at their tensors again: of the same class, shape and
    types. None for arrays. Scipy's own constructors take 40 to 60 microseconds, looking at a tensor level by level 20 to 40."""
    if isinstance(made, Tensor):
        return Tensors(made)
    return {"csr": Compressed, "csc": Compressed, "coo": Listed}.get(getattr(made, "format", None), lambda _: None)(made)


class Tensors:
    """Makes tensors that scipy has no type for."""

    def __init__(self, made):
        self._format, self._fill = level_text(made.levels, made.mode_order) or ",".join(["dense"] * made.ndim), made.fill

    def of(self, handle):
        """The tensor in the storage behind `handle`, which it owns."""
        return Tensor(handle)

    def copy_of(self, view):
        """A tensor of its own with what a schaas_tensor holds."""
        return converted("tensor", ctypes.addressof(view), self._format, self._fill)


class _Matrices:
    """Makes scipy matrices out of `_arrays`, the attributes of theirs that differ."""

    def __init__(self, made):
        self._kind = type(made)
        self._attributes = {name: value for name, value in vars(made).items() if name not in self._arrays}
        self._values = made.data.dtype

    def of(self, handle):
        """The matrix in the storage behind `handle`, which it owns."""
        owner = Storage(handle)
        return self._with(*self._in(owner.address, owner))

    def copy_of(self, view):
        """A matrix of its own with what a schaas_tensor holds."""
        return self._with(*[array.copy() for array in self._in(ctypes.addressof(view), view)])

    def _with(self, *arrays):
        made = self._kind.__new__(self._kind)
        made.__dict__.update(self._attributes)
        self._fill(made.__dict__, *arrays)
        return made


class Compressed(_Matrices):
    """Makes matrices in csr or csc."""
    _arrays = ("indptr", "indices", "data")

    def __init__(self, made):
        super().__init__(made)
        self._index, self._positions = made.indices.dtype, made.indptr.size

    def _in(self, address, owner):
        tensor = _tensor_at(address)
        level = _level_at(tensor[_LEVELS] + _LEVEL_BYTES)
        entries = level[_ENTRIES]
        return memories(owner, (level[_POSITIONS], self._positions, self._index), (level[_COORDINATES], entries, self._index),
                        (tensor[_VALUES], entries, self._values))

    @staticmethod
    def _fill(held, positions, coordinates, values):
        held["indptr"], held["indices"], held["data"] = positions, coordinates, values


class Listed(_Matrices):
    """Makes matrices in coo. Scipy narrows their indices where it can."""
    _arrays = ("row", "col", "coords", "data")

    def __init__(self, made):
        super().__init__(made)
        self._index, self._has_pair = made.row.dtype, "coords" in vars(made)

    def _in(self, address, owner):
        tensor = _tensor_at(address)
        rows, columns = _level_at(tensor[_LEVELS]), _level_at(tensor[_LEVELS] + _LEVEL_BYTES)
        entries, index = columns[_ENTRIES], np.dtype(np.int32 if rows[_WIDTH] >> 32 == 32 else np.int64)
        return memories(owner, (rows[_COORDINATES], entries, index), (columns[_COORDINATES], entries, index),
                        (tensor[_VALUES], entries, self._values))

    def _fill(self, held, rows, columns, values):
        rows, columns = rows.astype(self._index, copy=False), columns.astype(self._index, copy=False)
        held["data"] = values
        if self._has_pair:
            held["coords"] = rows, columns
        else:
            held["row"], held["col"] = rows, columns
