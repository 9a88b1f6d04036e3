"""The structs of one call, in one block of memory: laid out once for each combination of formats, filled anew for each call."""

import ctypes
import struct

import numpy as np

from . import _library as library
from . import _waiting as waiting
from ._errors import Exhausted
from ._tensors import NUMBERS

_LEVEL_WORDS, _TENSOR_WORDS, _OPERAND_WORDS, _OPTION_WORDS = 4, 5, 2, 11


def _pair(low, high):
    return low | high << 32


def _bits(number):
    return struct.unpack("=Q", struct.pack("=d", number))[0]


def _is_boolean(view):
    """Repeated entries of a boolean operand are no sum of numbers."""
    return view.given is not None and view.given.values.dtype == bool


def address_of(array):
    return array.__array_interface__["data"][0]


def layout_of(views, out):
    """Returns the key of a frame: calls of one layout differ in extents, addresses and numbers of entries alone."""
    return tuple([(tuple([level[0] for level in view.levels]), tuple(view.mode_order), view.values.dtype, view.index)
                  for view in (views if out is None else (*views, out))]), out is None


class Frame:
    """Words of 8 bytes: extents, modes, levels and struct of each tensor, then the operands, then the options. `out_order`: of
    a dense result that is given. `gpu`: a _device.Gpu, or None. `wait`: as schaas_options has it."""

    def __init__(self, names, views, out=None, schedule=None, extents=None, gpu=None, wait=0.0):
        self._gpu = gpu
        self._texts = [name.encode() for name in names]
        self._schedule = None if schedule is None else library.text_option("schedule", schedule)
        extents = library.extents_option(extents)
        self._extent_names = library.texts(list(extents))
        self._extents = (ctypes.c_int64 * max(len(extents), 1))(*extents.values())
        tensors = list(views) + ([out] if out is not None else [])
        count = sum(len(view.shape) * (1 + 1 + _LEVEL_WORDS) + _TENSOR_WORDS for view in tensors)
        count += _OPERAND_WORDS * len(views) + _OPTION_WORDS
        self._block = (ctypes.c_int64 * count)()
        self._base = ctypes.addressof(self._block)
        self._struct = struct.Struct(f"={count}Q")
        self._words = [0] * count
        self._places = []  # of the struct of each tensor
        at = 0
        for view in tensors:
            at = self._lay_out(at, view)
        self.operands = self._base + 8 * at
        for number, text in enumerate(self._texts):
            self._words[at] = ctypes.cast(text, ctypes.c_void_p).value
            self._words[at + 1] = self.tensor_address(number)
            at += _OPERAND_WORDS
        self.options = self._base + 8 * at
        self._options_at = at
        self._words[at:at + _OPTION_WORDS] = [
            8 * _OPTION_WORDS, 0, _pair(library.CHECK_AS_NEEDED, len(extents)), ctypes.addressof(self._extent_names), ctypes.addressof(self._extents),
            0 if self._schedule is None else ctypes.cast(self._schedule, ctypes.c_void_p).value,
            0 if out is None else self.tensor_address(len(views)), 0 if gpu is None else gpu.address, _bits(wait), library.never_wait, 0]
        self.count = len(views)
        self.has_out = out is not None
        self.error = ctypes.c_void_p()
        self.error_address = ctypes.byref(self.error)
        self.handle = ctypes.c_void_p()
        self.handle_address = ctypes.byref(self.handle)
        self.fill(views, out, 0)

    def _lay_out(self, at, view):
        order = len(view.shape)
        words = self._words
        extents, modes, levels = at, at + order, at + 2 * order
        at = levels + _LEVEL_WORDS * order
        packed = np.zeros(2 * order, np.int32)
        packed[:order] = list(view.mode_order)
        words[modes:levels] = [int(word) for word in packed.view(np.uint64)]
        for number, (kind, pos, crd, _) in enumerate(view.levels):
            index = pos if pos is not None else crd
            words[levels + _LEVEL_WORDS * number] = _pair(kind, 0 if index is None else 8 * index.dtype.itemsize)
        words[at] = _pair(order, NUMBERS[view.values.dtype])
        words[at + 1:at + 4] = [self._base + 8 * place for place in (extents, modes, levels)]
        self._places.append((extents, levels, at))
        return at + _TENSOR_WORDS

    def set_gpu(self, gpu):
        """The device, the stream and the tensors there of the next call."""
        self._gpu = gpu
        self._words[self._options_at + 7] = gpu.address

    def set_progress(self, address):
        """The callback of the library's next call with these options."""
        self._block[self._options_at + 9] = address

    def call(self, function, kernels, made, about):
        """Calls a function of the library that needs a kernel for the operands; when that is not at hand, waits for it first."""
        arguments = kernels.handle, self.operands, self.count, self.options
        try:
            return library.call(function, *arguments, ctypes.byref(made))
        except Exhausted as error:
            if error.code != "cancelled":
                raise
        at = self._options_at + 8
        wait = self._block[at]

        def bind(progress):
            self.set_progress(progress)
            bound = library.handle_from(library.api.schaas_bind, *arguments)
            library.api.schaas_computation_close(bound)

        try:
            waiting.run(bind, about)
            self._block[at:at + 2] = [_bits(-1.0), library.never_wait]  # what was waited for is at hand
            return library.call(function, *arguments, ctypes.byref(made))
        finally:
            self._block[at:at + 2] = [wait, library.never_wait]

    def tensor_address(self, number):
        return self._base + 8 * self._places[number][2]

    def fill(self, views, out, threads, deterministic=False):
        words = self._words
        for view, (extents, levels, at) in zip(views if out is None else (*views, out), self._places):
            words[at + 4] = view.values.__array_interface__["data"][0]
            for extent in view.shape:
                words[extents] = extent
                extents += 1
            for _, pos, crd, entries in view.levels:
                if pos is not None:
                    words[levels + 1] = pos.__array_interface__["data"][0]
                if crd is not None:
                    words[levels + 2] = crd.__array_interface__["data"][0]
                words[levels + 3] = entries
                levels += 4
        words[self._options_at + 1] = library.threads_of(threads) | bool(deterministic) << 32
        checks = library.CHECK_ALL if any(map(_is_boolean, views)) else library.CHECK_AS_NEEDED
        words[self._options_at + 2] = _pair(checks, words[self._options_at + 2] >> 32)
        self._struct.pack_into(self._block, 0, *words)
