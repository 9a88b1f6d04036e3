"""Calls like the last one: operands of the same types, shapes and formats differ in addresses alone, so only these are written
anew into a block of structs that is already laid out."""

import ctypes

import numpy as np
import scipy.sparse as sp

from . import _library as library

_ORDINARY = {np.dtype(np.float64), np.dtype(np.float32)}
_INDICES = {np.dtype(np.int32), np.dtype(np.int64)}
_ROWS = tuple(getattr(sp, name) for name in ("csr_matrix", "csr_array") if hasattr(sp, name))
_COLUMNS = tuple(getattr(sp, name) for name in ("csc_matrix", "csc_array") if hasattr(sp, name))
_array = np.ndarray


def _dense(words, given, place):
    """What writes the address of an array like `given`: false when another one is not like it."""
    _, _, at = place
    at += 4
    dtype, shape = given.dtype, given.shape

    def write(array):
        if type(array) is not _array or array.dtype is not dtype or array.shape != shape or not array.flags.c_contiguous:
            return False
        words[at] = array.__array_interface__["data"][0]
        return True
    return write


def _compressed(words, given, place):
    _, levels, at = place
    at += 4
    positions, coordinates, count = levels + 5, levels + 6, levels + 7
    kind, shape, values, index = type(given), given.shape, given.data.dtype, given.indices.dtype
    pointers = given.indptr.shape

    def write(matrix):
        if type(matrix) is not kind or matrix.shape != shape:
            return False
        indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
        if data.dtype is not values or indices.dtype is not index or indptr.dtype is not index or indptr.shape != pointers:
            return False
        if not (indptr.flags.c_contiguous and indices.flags.c_contiguous and data.flags.c_contiguous):
            return False
        stored = int(indptr[-1])
        if not 0 <= stored <= indices.size or data.size < stored:
            return False
        words[positions] = indptr.__array_interface__["data"][0]
        words[coordinates] = indices.__array_interface__["data"][0]
        words[count] = stored
        words[at] = data.__array_interface__["data"][0]
        return True
    return write


def _writer(words, given, view, place):
    """None: such operands are looked at anew in every call."""
    if view.keep is not None or view.values.dtype not in _ORDINARY:
        return None
    if type(given) is _array:
        return _dense(words, given, place) if given is view.values else None
    if (type(given) in _ROWS and view.format == "csr") or (type(given) in _COLUMNS and view.format == "csc"):
        as_is = given.data is view.values and given.indices.dtype in _INDICES and given.indptr is view.levels[1][1]
        return _compressed(words, given, place) if as_is else None
    return None


class Prepared:
    """Calls with operands like those of the call that `frame` was filled for; not for two threads at once."""

    @staticmethod
    def of(kernels, frame, operands, views, out):
        """None where operands are not arrays that are read in place."""
        words = memoryview(frame._block).cast("B").cast("q")
        writers = [_writer(words, *both) for both in zip(operands, views, frame._places)]
        if out is None or None in writers or not out.values.shape:
            return None
        return Prepared(kernels, frame, words, writers, out.values)

    def __init__(self, kernels, frame, words, writers, out):
        self.frame = frame
        self._kernels = kernels  # whose handle is used
        self._words, self._writers = words, writers
        self._shape, self._dtype = out.shape, out.dtype
        self._out = frame._places[len(writers)][2] + 4
        self._options = frame._options_at + 1
        self._arguments = (kernels.handle, frame.operands, frame.count, frame.options, frame.handle_address, frame.error_address)

    def __call__(self, operands, threads):
        """The result; None when an operand is not like before. Raises the library's errors."""
        for write, operand in zip(self._writers, operands):
            if not write(operand):
                return None
        words = self._words
        result = np.empty(self._shape, self._dtype)
        words[self._out] = result.__array_interface__["data"][0]
        words[self._options] = library.threads_of(threads)
        if library.api.schaas_compute(*self._arguments):
            error = ctypes.c_void_p(self.frame.error.value)
            self.frame.error.value = None
            library.raise_error(error)
        return result
