"""Calls like the last one: operands of the same types, shapes and formats differ in addresses and entries alone, so only these are
written anew into a block of structs that is already laid out."""

import ctypes
import weakref

import numpy as np
import scipy.sparse as sp

from . import _library as library
from ._array_fields import address, noted
from ._memory import maker
from ._operands import EXACT, IN_PLACE
from ._recognise import is_scipy_array
from ._results import maker_like, natural
from ._tensors import Tensor

_ROWS = tuple(getattr(sp, name) for name in ("csr_matrix", "csr_array") if hasattr(sp, name))
_COLUMNS = tuple(getattr(sp, name) for name in ("csc_matrix", "csc_array") if hasattr(sp, name))
_LISTS = tuple(getattr(sp, name) for name in ("coo_matrix", "coo_array") if hasattr(sp, name))
_array = np.ndarray


def _are_arrays(*arrays):
    return all([isinstance(array, _array) for array in arrays])


def _dense(words, given, view, place):
    """Returns what writes the address of an array like `given`, and returns False for another one. An array that comes again is compared with
    what was noted of it when it came a second time."""
    at = place[2] + 4
    dtype, shape = given.dtype, given.shape
    last, now, then = 0, None, ()

    def write(array):
        nonlocal last, now, then
        if type(array) is not _array or array.shape != shape:
            return False
        if id(array) == last and now == then:
            return True
        if array.dtype is not dtype or array.flags.num & IN_PLACE != IN_PLACE:
            return False
        words[at] = address(array)
        now, then = noted(array) if id(array) == last else (None, ())
        last = id(array)
        return True
    return write


def _compressed(words, given, view, place):
    _, levels, at = place
    at += 4
    positions, coordinates, count = levels + 5, levels + 6, levels + 7
    kind, shape, values, index = type(given), given.shape, given.data.dtype, given.indices.dtype
    pointers, stored = given.indptr.shape, -1
    last, now, then = None, None, ()

    def write(matrix):
        nonlocal stored, last, now, then
        if type(matrix) is not kind or matrix.shape != shape:
            return False
        indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
        these = id(indptr), id(indices), id(data)
        if these == last and type(indptr) is type(indices) is type(data) is _array and now == then and indptr.shape == pointers \
                and indptr.item(-1) == stored <= indices.size and stored <= data.size:
            return True
        if not _are_arrays(indptr, indices, data):
            return False
        if data.dtype is not values or indices.dtype is not index or indptr.dtype is not index or indptr.shape != pointers:
            return False
        if indptr.flags.num & indices.flags.num & data.flags.num & IN_PLACE != IN_PLACE or indices.ndim != 1 or data.ndim != 1:
            return False
        stored = indptr.item(-1)
        if not 0 <= stored <= indices.size or data.size < stored:
            last = None
            return False
        words[positions] = address(indptr)
        words[coordinates] = address(indices)
        words[count] = stored
        words[at] = address(data)
        now, then = noted(indptr, indices, data) if these == last else (None, ())
        last = these
        return True
    return write


def _list(words, given, view, place):
    _, levels, at = place
    kind, shape, values, index = type(given), given.shape, given.data.dtype, given.row.dtype
    ends = np.zeros(2, index)  # the positions of the outer level
    words[levels + 1] = ends.__array_interface__["data"][0]

    def write(matrix):
        if type(matrix) is not kind or matrix.shape != shape:
            return False
        row, col, data = matrix.row, matrix.col, matrix.data
        if not _are_arrays(row, col, data):
            return False
        if data.dtype is not values or row.dtype is not index or col.dtype is not index or not row.shape == col.shape == data.shape:
            return False
        if row.flags.num & col.flags.num & data.flags.num & IN_PLACE != IN_PLACE or data.ndim != 1:
            return False
        ends[1] = words[levels + 3] = words[levels + 7] = data.size
        words[levels + 2] = address(row)
        words[levels + 6] = address(col)
        words[at + 4] = address(data)
        return True
    return write


def _number(words, given, view, place):
    kind, value = type(given), np.zeros((), view.values.dtype)
    least, largest = (-EXACT, EXACT) if value.dtype.kind == "f" else (np.iinfo(value.dtype).min, np.iinfo(value.dtype).max)
    if value.dtype.kind != "f" and kind is not int:
        return None
    words[place[2] + 4] = value.__array_interface__["data"][0]

    def write(number):
        if type(number) is not kind or (kind is int and not least <= number <= largest):
            return False
        value[()] = number
        return True
    return write


def _same(words, given, view, place):
    """A tensor of the library: the same one, whose arrays stay."""
    known = weakref.ref(given)
    return lambda tensor: tensor is not None and tensor is known()


def _writer(words, given, view, place):
    """None: such operands are looked at anew in every call."""
    kind = type(given)
    if kind in (float, int, np.float64, np.float32) and view.values.dtype.kind in "fiu":
        return _number(words, given, view, place)
    if kind is Tensor:
        return _same(words, given, view, place) if view.before is None and view.given.values.dtype == view.values.dtype else None
    in_place = view.given is not None and view.values is view.given.values
    if not in_place or any(array is not own for array, own in zip(_index_arrays(view), view.given.structure)):
        return None
    if kind is _array:
        return _dense(words, given, view, place)
    if (kind in _ROWS and view.format == "csr") or (kind in _COLUMNS and view.format == "csc"):
        return _compressed(words, given, view, place)
    if kind in _LISTS and view.format == "coo":
        return _list(words, given, view, place)
    return None


def _index_arrays(view):
    if view.format == "coo":
        return [level[2] for level in view.levels]
    return [array for level in view.levels for array in level[1:3] if array is not None]


class Prepared:
    """Calls with operands like those of the call that `frame` was filled for; not for two threads at once."""

    @staticmethod
    def of(kernels, frame, operands, views, out):
        """None where operands are not arrays that are read in place. `out`: of a dense result, else None."""
        words = memoryview(frame._block).cast("B").cast("q")
        writers = [_writer(words, *both) for both in zip(operands, views, frame._places)]
        return None if None in writers else Prepared(kernels, frame, words, writers, operands, out)

    def __init__(self, kernels, frame, words, writers, operands, out):
        self.frame = frame
        self._kernels = kernels  # whose handle is used
        self._words, self._writers = words, writers
        self._dense = out is not None
        self._made = frame.handle
        self._like = None  # what makes sparse results like the last one
        if self._dense:
            self._shape, self._dtype = out.values.shape, out.values.dtype
            self._empty = maker(self._shape, self._dtype)
            self._out = frame._places[len(writers)][2] + 4
            self._number = None if self._shape else np.empty((), self._dtype)  # numbers leave it as copies
        self._arrays = any(map(is_scipy_array, operands))
        self._options, self._threads = frame._options_at + 1, self  # `self`: of no call
        self._compute = library.api.schaas_compute
        self._arguments = (kernels.handle, frame.operands, frame.count, frame.options, frame.handle_address, frame.error_address)

    def _takes(self, out):
        """Tells whether a dense result can be written to `out` as it is."""
        return self._dense and type(out) is _array and out.dtype is self._dtype and out.shape == self._shape \
            and out.flags.num & IN_PLACE == IN_PLACE and out.flags.writeable

    def __call__(self, operands, threads, out):
        """The result; None when an operand or `out` is not like before. Raises the library's errors."""
        if out is not None and not self._takes(out):
            return None
        for write, operand in zip(self._writers, operands):
            if not write(operand):
                return None
        words = self._words
        if self._dense:
            result = out if out is not None else self._number if self._number is not None else self._empty(self._shape, self._dtype)
            words[self._out] = address(result)
        if threads is not self._threads:
            words[self._options] = library.threads_of(threads)
            self._threads = threads if type(threads) is int else self
        if self._compute(*self._arguments):
            error = ctypes.c_void_p(self.frame.error.value)
            self.frame.error.value = None
            library.raise_error(error)
        if self._dense:
            return result if self._shape or out is not None else result[()]
        handle, self._made.value = self._made.value, None
        if self._like is not None:
            return self._like.of(handle)
        result = natural(Tensor(handle), self._arrays)
        self._like = maker_like(result)
        return result
