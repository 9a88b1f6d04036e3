"""Tensors from and to files."""

import os

import numpy as np

from . import _library as library
from ._frames import Frame
from ._operands import in_order, view_of
from ._results import natural
from ._tensors import Tensor


def read(path, fill=0.0):
    """A file: .mtx and .npz (of scipy.sparse.save_npz) give a scipy matrix, .tns a Tensor, .npy an array; each also with .gz, .bz2 or .xz.
    "-" is standard input, whose kind is told from the content, as that of pipes. `fill`: the value of every element that the file does not
    list; with another one than 0 a file of entries gives a Tensor, too, for scipy knows zeros alone."""
    held = Tensor(library.handle_from(library.api.schaas_read_with, os.fsencode(path), library.storage_options(fill)))
    made = natural(held, arrays=False, narrow=True)
    return made if fill == 0 or isinstance(made, np.ndarray) else held


def write(path, value, fill=None):
    """Writes by ending: .mtx .tns .npy .npz (csr, as scipy.sparse.save_npz does), each also with .gz, .bz2 or .xz; "-" is standard output.
    `fill`: the value of every element that `value` does not store (default: 0, of a Tensor its own); lists of entries leave it out of a
    dense array."""
    if fill is None:
        fill = value.fill if isinstance(value, Tensor) else 0.0

    def save(views):
        frame = Frame(["value"], views)
        library.call(library.api.schaas_write_with, os.fsencode(path), frame.tensor_address(0), library.storage_options(fill))
    in_order(save, ["value"], [view_of("value", value, None, fill)], [None], fill)
