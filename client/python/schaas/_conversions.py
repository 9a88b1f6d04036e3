"""Conversions of operands of earlier calls, found again by the contents of what was converted. A loop that passes the same matrix of blocks
or diagonals again and again has it converted once. Arrays may change between calls, and nobody says so: each byte is compared with a copy."""

import numpy as np

from ._forking import Lock

_MAX_BYTES = 64 << 20  # of all that is kept, with the copies of what was converted
_MAX_KEPT = 8

_lock = Lock()
_kept = []  # (key, copies, made, bytes); the one used last is the last


def _bytes_of(array):
    return array.reshape(-1).view(np.uint8)


def _same(array, copy):
    return array.shape == copy.shape and array.dtype == copy.dtype and np.array_equal(_bytes_of(array), _bytes_of(copy))


def _handed_out(made):
    *structure, values = made
    return (*structure, values.copy())


def converted(key, arrays, make):
    """The structure (pointers, indices) and values that `make()` returns, or those of an earlier call with an equal key and the same bytes in each of
    `arrays`. The structure is read-only; the values are a copy, which a bound computation may write. Any thread may call it."""
    arrays = [np.ascontiguousarray(each) for each in arrays]
    for one in reversed(list(_kept)):
        if one[0] == key and all(map(_same, arrays, one[1])):
            with _lock:
                if any(each is one for each in _kept):
                    _kept[:] = [each for each in _kept if each is not one] + [one]
            return _handed_out(one[2])
    made = make()
    for each in made:
        each.flags.writeable = False
    size = sum(each.nbytes for each in (*arrays, *made))
    if size <= _MAX_BYTES:
        with _lock:
            _kept.append((key, [each.copy() for each in arrays], made, size))
            while len(_kept) > _MAX_KEPT or sum(each[3] for each in _kept) > _MAX_BYTES:
                del _kept[0]
    return _handed_out(made)
