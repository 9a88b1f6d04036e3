"""Anything a user holds as arrays where they lie: numpy, scipy.sparse, DLPack, __array_interface__, torch, pydata/sparse."""

import os
import sys

import numpy as np

from . import _library as library
from ._errors import invalid, unsupported
from ._tensors import Tensor, tensor

F8, F4 = np.dtype(np.float64), np.dtype(np.float32)
I4, I8 = np.dtype(np.int32), np.dtype(np.int64)
_DENSE_TEXT = {order: ",".join(["dense"] * order) for order in range(1, 25)}
_NAMED = {"csr", "csc", "coo"}


class View:
    """A tensor in the arrays of its owner. `levels`: (kind, positions, coordinates, entries)."""

    __slots__ = ("format", "shape", "mode_order", "levels", "values", "index", "keep")

    def __init__(self, format, shape, mode_order, levels, values, index=None, keep=None):
        self.format = format  # text for the server; None: dense
        self.shape = shape
        self.mode_order = mode_order
        self.levels = levels
        self.values = values
        self.index = index  # dtype of positions and coordinates
        self.keep = keep

    def cast(self, values, index):
        """With these types: itself, or a copy of what has another one."""
        if self.values.dtype != values:
            self.values = self.values.astype(values)
        if self.index is not None and self.index != index:
            self.levels = [(kind, None if pos is None else pos.astype(index),
                            crd if crd is None or kind == library.BITMAP else crd.astype(index), entries)
                           for kind, pos, crd, entries in self.levels]
            self.index = index
        return self


def _plain(name, array):
    """Of native byte order, a type that can be computed with, and row major: the array itself where it is so already."""
    kind = array.dtype.kind
    if kind not in "fiub":
        raise invalid("value-type", f"`{name}` has values of type {array.dtype}; expected real numbers")
    if array.dtype != F8 and array.dtype != F4:
        array = array.astype(F4 if array.dtype == np.float16 else F8)
    return np.ascontiguousarray(array)


def _dense(name, array):
    if array.dtype is not F8 or not array.flags.c_contiguous:
        shape = array.shape  # ascontiguousarray makes scalars vectors
        array = _plain(name, array).reshape(shape)
    parents, levels = 1, []
    for extent in array.shape:
        parents *= extent
        levels.append((library.DENSE, None, None, parents))
    return View(None, array.shape, range(array.ndim), levels, array)


def _indices(array):
    array = np.ascontiguousarray(array)
    return array if array.dtype == I4 or array.dtype == I8 else array.astype(I8)


def _compressed(name, kind, indptr, indices, data, shape):
    rows = shape[0] if kind == "csr" else shape[1]
    indptr, indices, data = _indices(indptr), _indices(indices), _plain(name, data)
    if indptr.dtype != indices.dtype:
        indptr, indices = indptr.astype(I8), indices.astype(I8)
    if indptr.shape != (rows + 1,):
        raise invalid("tensor-structure", f"`{name}` has {indptr.size} row pointers, but {rows} rows or columns")
    stored = int(indptr[-1])
    if indices.size < stored or data.size < stored or stored < 0:
        raise invalid("tensor-structure", f"`{name}` has {indices.size} indices and {data.size} values, but its row pointers end "
                                          f"at {stored}")
    return View(kind, tuple(shape), (0, 1) if kind == "csr" else (1, 0),
                [(library.DENSE, None, None, rows), (library.COMPRESSED, indptr, indices, stored)], data, indices.dtype)


def _coordinates(name, rows, columns, data, shape):
    rows, columns, data = _indices(rows), _indices(columns), _plain(name, data)
    if rows.dtype != columns.dtype:
        rows, columns = rows.astype(I8), columns.astype(I8)
    positions = np.array([0, data.size], rows.dtype)
    return View("coo", tuple(shape), (0, 1),
                [(library.COMPRESSED_NONUNIQUE, positions, rows, data.size), (library.SINGLETON, None, columns, data.size)], data,
                rows.dtype)


def _owned(name, given, format):
    if format is not None:
        given = given.convert(format)
    levels = given.levels
    found = [array.dtype for kind, *both, _ in levels for array in both if array is not None and kind != library.BITMAP]
    text = format or _text(levels, given.mode_order)
    return View(text, given.shape, given.mode_order, levels, given.values, found[0] if found else None, given)


_LEVEL_NAMES = {0: "dense", 1: "compressed", 2: "compressed(nonunique)", 3: "singleton", 4: "singleton(nonunique)", 5: "bitmap",
                6: "banded", 7: "hashed", 8: "compressed(unordered)"}


def _text(levels, mode_order):
    if not levels or (all(level[0] == library.DENSE for level in levels) and list(mode_order) == sorted(mode_order)):
        return None
    return ",".join(_LEVEL_NAMES[level[0]] for level in levels) + ":" + ",".join(map(str, mode_order))


def _sorted_coo(given):
    """By rows, then columns, each place once (scipy itself sorts by columns)."""
    rows = given.tocsr(copy=True)
    rows.sum_duplicates()
    return rows.tocoo()


def _scipy(name, given, format):
    if len(given.shape) != 2:
        raise unsupported("sparse-order", f"`{name}` is a {type(given).__name__} of order {len(given.shape)}; schaas.tensor takes "
                                          "coordinates and values of any order")
    if format is not None and format not in _NAMED:
        if format.split(",")[0].strip() == "dense" and "compressed" not in format and "," in format or format == "dense":
            return _in_format(name, np.asarray(given.toarray()), format)
        entries = given.tocoo()
        index = entries.row.dtype if entries.row.dtype in (I4, I8) else I8
        return _owned(name, tensor((entries.row, entries.col), entries.data, given.shape, format, index_dtype=index), None)
    kind = format or (given.format if given.format in _NAMED else "csr")
    if given.format != kind:
        given = _sorted_coo(given) if kind == "coo" else getattr(given, "to" + kind)()
    if kind == "coo":
        return _coordinates(name, given.row, given.col, given.data, given.shape)
    return _compressed(name, kind, given.indptr, given.indices, given.data, given.shape)


def _in_format(name, array, format):
    """A dense array, as the user wants it stored."""
    text = format.replace(" ", "")
    if text == "dense" or text == _DENSE_TEXT.get(array.ndim) or array.ndim == 0:
        return _dense(name, array)
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        raise invalid("value-type", f"`{name}` has values of type {array.dtype}; expected real numbers")
    places = np.nonzero(array)
    if text.startswith(_DENSE_TEXT.get(array.ndim, "?") + ":"):  # another order of modes: every value is stored
        places = np.unravel_index(np.arange(array.size), array.shape)
    return _owned(name, tensor(np.array(places), array[places], array.shape, format, dtype=F4 if array.dtype == F4 else F8), None)


def _torch(name, given, format):
    """Tensors of torch, by what they are called: nothing is imported."""
    layout = str(given.layout)
    given = given.detach()
    if str(given.device) != "cpu":
        raise unsupported("device", f"`{name}` is on {given.device}; kernels run on the CPU: pass `.cpu()`")
    if layout == "torch.sparse_csr":
        return _compressed(name, "csr", given.crow_indices().numpy(), given.col_indices().numpy(), given.values().numpy(),
                           tuple(given.shape))
    if layout == "torch.sparse_coo":
        entries = given.coalesce()
        places, values = entries.indices().numpy(), entries.values().numpy()
        if len(given.shape) == 2:
            return _coordinates(name, places[0], places[1], values, tuple(given.shape))
        return _owned(name, tensor(places, values, tuple(given.shape), format), None)
    if layout != "torch.strided":
        raise unsupported("torch-layout", f"`{name}` has the layout {layout}; strided, sparse_csr and sparse_coo work")
    return _in_format(name, given.numpy(), format or "dense")


def is_torch(given):
    return type(given).__module__.split(".")[0] == "torch"


def wants_gradient(given):
    return is_torch(given) and given.requires_grad and sys.modules["torch"].is_grad_enabled()


def view_of(name, given, format):
    """The arrays of an operand. `format`: as the user wants it stored, or None for what it is."""
    if type(given) is np.ndarray:
        return _dense(name, given) if format is None else _in_format(name, given, format)
    if isinstance(given, Tensor):
        return _owned(name, given, format)
    if hasattr(given, "tocsr") and hasattr(given, "format"):
        return _scipy(name, given, format)
    if hasattr(given, "layout") and hasattr(given, "detach"):
        return _torch(name, given, format)
    if hasattr(given, "__cuda_array_interface__"):
        raise unsupported("device", f"`{name}` is on a GPU; kernels run on the CPU: copy it with `.get()` or `cupy.asnumpy`")
    if hasattr(given, "coords") and hasattr(given, "data") and hasattr(given, "shape"):
        return _owned(name, tensor(given.coords, given.data, given.shape, format), None)
    if given is None or isinstance(given, (str, bytes, os.PathLike)):
        raise invalid("value-type", f"`{name}` is {given!r}; expected a tensor"
                                    + ("" if given is None else " (`schaas.read` reads one from a file)"))
    if hasattr(given, "__dlpack__"):
        array = np.from_dlpack(given)
    else:
        array = np.asarray(given)
    return _in_format(name, array, format or "dense")


def overlaps(out, views):
    """Tells that `out`, a numpy array, shares bytes with an array of an operand."""
    begin = out.__array_interface__["data"][0]
    end = begin + out.nbytes
    for view in views:
        for array in (view.values, *(array for level in view.levels for array in level[1:3] if array is not None)):
            at = array.__array_interface__["data"][0]
            if at < end and begin < at + array.size * array.dtype.itemsize:
                return True
    return False


def repaired(given):
    """A copy with sorted indices and without duplicates of what has a structure that only lacks these, else None."""
    if getattr(given, "format", None) not in _NAMED or not hasattr(given, "sum_duplicates"):
        return None
    rows, columns = given.shape
    if given.format == "coo":
        inside = given.nnz == 0 or (given.row.min() >= 0 and given.row.max() < rows and given.col.min() >= 0
                                    and given.col.max() < columns)
        return _sorted_coo(given) if inside else None
    else:
        minor = columns if given.format == "csr" else rows
        pointers = given.indptr
        inside = pointers[0] == 0 and pointers[-1] <= min(given.indices.size, given.data.size) and np.all(pointers[1:] >= pointers[:-1]) and (
            given.nnz == 0 or (given.indices.min() >= 0 and given.indices.max() < minor))
    if not inside:
        return None
    copy = given.copy()
    copy.has_canonical_format = copy.has_sorted_indices = False  # scipy may have believed what is no longer so
    copy.sum_duplicates()
    return copy
