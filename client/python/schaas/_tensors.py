"""Tensors that the library owns: what scipy has no type for (orders above two, dcsr, csf, ...)."""

import ctypes
import weakref

import numpy as np

from . import _library as library
from ._errors import invalid

_KINDS = {library.F64: np.dtype(np.float64), library.F32: np.dtype(np.float32)}


class _Memory:
    """An array in memory of `owner`, who lives as long as the array does."""

    def __init__(self, address, shape, dtype, owner):
        self.owner = owner
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": (address, False), "version": 3}


def memory(address, count, dtype, owner, shape=None):
    """`count` elements at `address` as a numpy array that keeps `owner` alive."""
    shape = (count,) if shape is None else shape
    if count == 0 or not address:
        return np.empty(shape, dtype)
    return np.asarray(_Memory(address, shape, dtype, owner))


class Tensor:
    """A tensor in any format of docs/formats.md, as kernels take it and give it. Made by `schaas.tensor`, `schaas.read`, and
    by kernels whose result scipy has no type for."""

    def __init__(self, handle):
        self._handle = handle
        self._end = weakref.finalize(self, library.api.schaas_storage_free, ctypes.c_void_p(handle))
        self._view = library.api.schaas_storage_view(handle).contents
        self._fill = library.api.schaas_storage_fill(handle)

    @property
    def fill(self):
        """The value of every element that is not stored: 0, or the zero of the semiring that made the tensor or reads it."""
        return self._fill

    @property
    def shape(self):
        return tuple(self._view.extents[mode] for mode in range(self._view.order))

    @property
    def ndim(self):
        return self._view.order

    @property
    def dtype(self):
        return _KINDS[self._view.value_type]

    @property
    def mode_order(self):
        return tuple(self._view.mode_order[level] for level in range(self._view.order))

    @property
    def levels(self):
        """By level: (kind, positions, coordinates, entries); kinds are numbers of kernel_abi.h, arrays views."""
        levels, parents = [], 1
        for number in range(self._view.order):
            level = self._view.levels[number]
            width = np.dtype({8: np.uint8, 32: np.int32}.get(level.index_bits, np.int64))  # 8: the bytes of a bitmap
            positions = memory(level.pos, parents + 1, width, self) if level.pos else None
            count = parents if level.format == library.BANDED else level.entries  # of a band the first coordinate
            coordinates = memory(level.crd, count, width, self) if level.format != library.DENSE else None
            levels.append((level.format, positions, coordinates, level.entries))
            parents = level.entries
        return levels

    @property
    def values(self):
        """Of the last level's entries, in storage order; a view."""
        stored = self._view.levels[self._view.order - 1].entries if self._view.order else 1
        return memory(self._view.values, stored, self.dtype, self)

    @property
    def nnz(self):
        """Values that are stored; of bitmaps, bands and hash tables those of free places too."""
        return self.values.size

    def convert(self, format):
        """The same tensor in another format, with the same fill value: a copy."""
        return converted("tensor", ctypes.addressof(self._view), format, self.fill)

    def coords(self):
        """Coordinates of the stored entries, (ndim, nnz), sorted, and their values."""
        if self.ndim < 2:
            entries = self.convert("compressed") if self.ndim == 1 else self
        else:
            entries = self.convert("coo")
        return np.array([level[2] for level in entries.levels], np.int64).reshape(self.ndim, -1), np.array(entries.values)

    def __array__(self, dtype=None):
        dense = self.convert(",".join(["dense"] * self.ndim)) if self.ndim else self
        return np.array(dense.values.reshape(self.shape), dtype)

    def todense(self):
        return np.asarray(self)

    def __repr__(self):
        fill = f", {self.fill} where nothing is stored" if self.fill != 0 else ""
        return f"<schaas.Tensor of shape {self.shape}, {self.nnz} stored values of {self.dtype}{fill}>"


def converted(name, address, format, fill=0.0, position_bits=0):
    """The tensor whose struct (kernel_abi.h) is at `address`, whose elements that are not stored have the value `fill`, in another
    format: a copy. Dense levels get the fill value; where they become sparse, elements of that value are left out. `position_bits`:
    32, 64, or 0 for those of the tensor (32 of a dense one)."""
    return Tensor(library.handle_from(library.api.schaas_convert_with, name.encode(), address, format.encode(),
                                      library.storage_options(fill, position_bits)))


def tensor(coords, values, shape, format=None, dtype=None, index_dtype=np.int32, fill=0.0):
    """A sparse tensor from coordinates, (ndim, nnz), and values; duplicates add up. The format is csf, csr for matrices,
    compressed for vectors, unless `format` says otherwise. `fill`: the value of every element without an entry; of an operand under a
    semiring its zero, `np.inf` for min-plus."""
    coords = np.ascontiguousarray(coords, np.int64).reshape(len(shape), -1)
    kept = np.asarray(values)
    dtype = np.dtype(dtype or (np.float32 if kept.dtype == np.float32 else np.float64))
    kept = np.ascontiguousarray(kept, np.float64)
    if kept.shape != (coords.shape[1],):
        raise invalid("entry-count", f"{coords.shape[1]} coordinates but values of shape {kept.shape}")
    if format is None:
        format = {0: "dense", 1: "compressed", 2: "csr"}.get(len(shape), "csf")
    extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    modes = (ctypes.c_void_p * max(len(shape), 1))(*[row.ctypes.data for row in coords])
    return Tensor(library.handle_from(
        library.api.schaas_pack_with, b"tensor", len(shape), extents, modes, kept.ctypes.data, kept.size, format.encode(),
        library.F32 if dtype == np.float32 else library.F64, 8 * np.dtype(index_dtype).itemsize,
        library.storage_options(fill)))


def read(path, fill=0.0):
    """A file: .mtx gives a scipy matrix, .tns a Tensor, .npy an array; each also with .gz. `fill`: the value of every element that the
    file does not list; with another one than 0 a .mtx file of entries gives a Tensor, too, for scipy knows zeros alone."""
    from ._results import natural
    held = Tensor(library.handle_from(library.api.schaas_read_with, str(path).encode(), library.storage_options(fill)))
    made = natural(held, arrays=False, narrow=True)
    return made if fill == 0 or isinstance(made, np.ndarray) else held


def write(path, value, fill=None):
    """Writes by ending: .mtx .tns .npy, the texts also with .gz. `fill`: the value of every element that `value` does not store (default:
    0, of a Tensor its own); lists of entries leave it out of a dense array."""
    from ._frames import Frame
    from ._operands import in_order, view_of
    if fill is None:
        fill = value.fill if isinstance(value, Tensor) else 0.0

    def save(views):
        frame = Frame(["value"], views)
        library.call(library.api.schaas_write_with, str(path).encode(), frame.tensor_address(0), library.storage_options(fill))
    in_order(save, ["value"], [view_of("value", value, None, fill)], [None], fill)
