"""Memory of large dense results. The C library gives freed blocks back to the system, from 32 MiB on always, below that when twice the size
of one is free. Fresh pages take two to four times as long to write as pages that are there. So large blocks are kept and used again once
no array lies in them."""

import math
import os
import sys

import numpy as np

from ._forking import Lock

_SMALLEST = 4 << 20
_BLOCKS = 32  # kept in all, so that the search for one takes microseconds
_LIMIT = min(512 << 20, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 32)  # bytes kept in all
_COUNTED = getattr(sys, "_is_gil_enabled", lambda: True)()  # references are counted exactly

_blocks = []  # arrays of bytes, also those in use; the one used longest ago first
_one = [np.empty(0)]
_ALONE = sys.getrefcount(_one[0])  # of what a list alone refers to
_lock = Lock()


def maker(shape, dtype):
    """What makes arrays of this shape and type: numpy.empty, or for large ones `empty`."""
    return empty if _SMALLEST <= math.prod(shape) * dtype.itemsize <= _LIMIT else np.empty


def empty(shape, dtype):
    """An array as numpy.empty returns it, but for large ones, which are views of a block."""
    size = math.prod(shape) * dtype.itemsize
    if size < _SMALLEST or size > _LIMIT or not _COUNTED or not _lock.acquire(blocking=False):
        return np.empty(shape, dtype)
    try:
        return _block(size)[:size].view(dtype).reshape(shape)
    finally:
        _lock.release()


def _block(size):
    """A block that no array lies in, a quarter larger than `size` at most."""
    for number in range(len(_blocks)):
        if size <= _blocks[number].size <= size + size // 4 and sys.getrefcount(_blocks[number]) == _ALONE:
            _blocks.append(_blocks.pop(number))
            return _blocks[-1]
    _blocks.append(np.empty(size, np.uint8))
    while len(_blocks) > _BLOCKS or sum(block.size for block in _blocks) > _LIMIT:
        del _blocks[0]  # arrays that lie in it keep it
    return _blocks[-1]
