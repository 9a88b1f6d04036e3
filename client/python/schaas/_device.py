"""Arrays on a GPU (CuPy, torch, numba, and others with DLPack): read and written where they lie when a kernel for the GPU runs or
the library brings them; else copied to memory by their owners, and dense and scipy results copied back to where they came from."""

import ctypes
import sys

import numpy as np

from . import _library as library
from ._errors import invalid
from ._operands import F4, F8, I4, I8, View, view_of
from ._recognise import is_torch

_LEGACY_STREAM = 1  # of CUDA
_ON_CUDA = 2  # a kind of device of DLPack


class NotInPlace(Exception):
    """The arrays are not such as kernels read: with the operand's name, or none where several do not go together."""


class DeviceArray:
    """Contiguous numbers at an address of a GPU, and who keeps them there. It has what a frame asks of an array."""

    __slots__ = ("dtype", "shape", "size", "stream", "device", "owner", "__array_interface__")

    def __init__(self, address, dtype, shape, stream, owner):
        self.dtype, self.shape, self.stream, self.owner = dtype, shape, stream, owner
        self.size = int(np.prod(shape, dtype=np.int64))
        device = getattr(owner, "device", None)
        self.device = getattr(device, "index", getattr(device, "id", 0)) or 0
        self.__array_interface__ = {"data": (address, False)}

    def astype(self, dtype):
        raise NotInPlace


def _library_of(given):
    return type(given).__module__.split(".")[0]


def is_on_gpu(given):
    if type(given) is np.ndarray:
        return False
    if is_torch(given):
        return str(given.device).split(":")[0] not in ("cpu", "meta")
    if hasattr(given, "__cuda_array_interface__") or _library_of(given) in ("cupy", "cupyx"):
        return True
    return hasattr(given, "__dlpack_device__") and given.__dlpack_device__()[0] == _ON_CUDA


# ---- where they lie ----

def _contiguous(shape, strides, item):
    """Whether strides (in units of which `item` are an element) are those of C order."""
    if strides is None:
        return True
    expected = item
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1 and stride != expected:
            return 0 in shape
        expected *= extent
    return True


class _Managed(ctypes.Structure):
    """DLManagedTensor of DLPack."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("ordinal", ctypes.c_int32), ("order", ctypes.c_int32),
                ("kind", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


def _of_dlpack(given):
    """Ready on the legacy stream. The capsule stays unconsumed: whoever drops it gives the array back."""
    capsule = given.__dlpack__(stream=_LEGACY_STREAM)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    told = _Managed.from_address(pointer(capsule, b"dltensor"))
    shape = tuple(told.shape[:told.order])
    strides = told.strides[:told.order] if told.strides else None
    if told.lanes != 1 or told.kind not in (0, 2) or not _contiguous(shape, strides, 1):
        raise NotInPlace
    dtype = np.dtype(f"{'f' if told.kind == 2 else 'i'}{told.bits // 8}")
    return DeviceArray((told.data or 0) + told.offset, dtype, shape, None, (given, capsule))


def _stream_of(given, interface):
    """In whose order its owner works on it; None: not said."""
    if is_torch(given):
        return sys.modules["torch"].cuda.current_stream(given.device).cuda_stream or _LEGACY_STREAM
    return interface.get("stream")


def device_array(given):
    """Raises NotInPlace where it cannot be read as it is."""
    if is_torch(given):
        given = given.detach()
    interface = getattr(given, "__cuda_array_interface__", None)
    if interface is None:
        if hasattr(given, "__dlpack__"):
            return _of_dlpack(given)
        raise NotInPlace
    if not {"data", "shape", "typestr"} <= interface.keys() or interface.get("mask") is not None:
        raise NotInPlace
    dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
    if not _contiguous(shape, interface.get("strides"), dtype.itemsize) or not dtype.isnative:
        raise NotInPlace
    return DeviceArray(interface["data"][0] or 0, dtype, shape, _stream_of(given, interface), given)


def _number(array):
    for known in (F8, F4, I4, I8):
        if array.dtype == known:
            array.dtype = known  # which others compare by identity
            return array
    raise NotInPlace


def dense_view(array):
    if _number(array).dtype not in (F8, F4):
        raise NotInPlace
    parents, levels = 1, []
    for extent in array.shape:
        parents *= extent
        levels.append((library.DENSE, None, None, parents))
    return View(None, array.shape, range(len(array.shape)), levels, array)


def _compressed(kind, pointers, indices, data, shape):
    pointers, indices, data = (_number(device_array(one)) for one in (pointers, indices, data))
    rows = shape[0 if kind == "csr" else 1]
    if data.dtype not in (F8, F4) or indices.dtype not in (I4, I8) or pointers.dtype != indices.dtype:
        raise NotInPlace
    if pointers.size != rows + 1 or indices.size != data.size:
        raise NotInPlace  # more room than entries: only the positions, which lie there, know how many
    return View(kind, tuple(shape), (0, 1) if kind == "csr" else (1, 0),
                [(library.DENSE, None, None, rows), (library.COMPRESSED, pointers, indices, data.size)], data, indices.dtype)


def view_there(given, format):
    """The arrays of an operand where they lie on the GPU. `format`: as the user wants it stored, or None for what it is."""
    if hasattr(given, "indptr") and getattr(given, "format", None) in ("csr", "csc"):
        if format not in (None, given.format):
            raise NotInPlace
        if not getattr(given, "has_canonical_format", True):
            given = given.copy()
            given.sum_duplicates()
        return _compressed(given.format, given.indptr, given.indices, given.data, given.shape)
    if is_torch(given) and str(given.layout) == "torch.sparse_csr":
        if format not in (None, "csr"):
            raise NotInPlace
        return _compressed("csr", given.crow_indices(), given.col_indices(), given.values(), given.shape)
    if format not in (None, "dense") or (is_torch(given) and str(given.layout) != "torch.strided"):
        raise NotInPlace
    return dense_view(device_array(given))


def view_anywhere(name, given, format, zero, wanted=None):
    if not is_on_gpu(given):
        return view_of(name, given, format, zero, wanted)
    try:
        return view_there(given, format)
    except NotInPlace:
        raise NotInPlace(name) from None


def arrays_of(view):
    """Those that are on a GPU."""
    found = [view.values] + [array for level in view.levels for array in level[1:3]]
    return [array for array in found if isinstance(array, DeviceArray)]


def is_there(view):
    return isinstance(view.values, DeviceArray)


def empty_there(like, shape, dtype):
    """An array of its own for the owner of `like`; None where nobody knows how to make one."""
    kind = _library_of(like)
    if is_torch(like):
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=torch.float32 if dtype == F4 else torch.float64, device=like.device)
    if kind in ("cupy", "cupyx"):
        return sys.modules["cupy"].empty(shape, dtype)
    if kind == "numba":
        return sys.modules["numba"].cuda.device_array(shape, dtype)
    return None


class Gpu:
    """The struct of schaas.h for one call: which tensors lie there, and the stream. `stream`: the user's, or None for that of the
    operands; where they name none, the legacy one, and the call waits."""

    def __init__(self, names, views, result, place, stream):
        tensors = [*zip(names, views), *([(result, place)] if place is not None else [])]
        there = [name for name, view in tensors if is_there(view)]
        if stream is None:
            streams = {array.stream for _, view in tensors for array in arrays_of(view)} - {None}
            if len(streams) > 1:
                raise invalid("streams", "the operands are worked on in different streams; say with `stream=` in which order to go")
            stream = next(iter(streams), None)
        else:
            stream = getattr(stream, "cuda_stream", getattr(stream, "ptr", stream)) or _LEGACY_STREAM
        devices = {array.device for _, view in tensors for array in arrays_of(view)}
        if len(devices) > 1:
            raise invalid("devices", f"the operands lie on devices {sorted(devices)}; a kernel runs on one: bring them together")
        self._names = library.texts(there)
        self.struct = library.Gpu(ctypes.sizeof(library.Gpu), next(iter(devices), 0), 0, stream, self._names, len(there))
        self.address = ctypes.addressof(self.struct)


# ---- by way of the host ----

def on_host(given):
    """A copy in memory; what is there already, and what nobody knows how to copy, as it is."""
    if not is_on_gpu(given):
        return given
    for copy in ("cpu", "get", "copy_to_host"):  # torch; CuPy, its sparse matrices too; numba
        if hasattr(given, copy):
            return getattr(given, copy)()
    return given


def back(result, operands):
    """The result as its owner would hold it who holds `operands`: the first one on a GPU decides."""
    like = next(filter(is_on_gpu, operands))
    if is_torch(like):
        from ._torch import as_torch
        result = as_torch(result)
        return result.to(like.device) if is_torch(result) else result
    if _library_of(like) not in ("cupy", "cupyx"):
        return result
    if hasattr(result, "tocsr"):
        import cupyx.scipy.sparse
        return getattr(cupyx.scipy.sparse, result.format + "_matrix")(result)
    return sys.modules["cupy"].asarray(result) if hasattr(result, "__array_interface__") else result
