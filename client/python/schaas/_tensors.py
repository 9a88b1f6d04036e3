"""Tensors that the library owns: what scipy has no type for (orders above two, dcsr, csf, ...)."""

import ctypes
import math
import operator
import os
import sys

import numpy as np

from . import _library as library
from ._errors import did_you_mean, invalid, unsupported
from ._frontier import size_text

F8, F4 = np.dtype(np.float64), np.dtype(np.float32)
# Types of values: by name, and by number of kernel_abi.h.
BF16 = np.dtype([("bfloat16", np.uint16)])  # numpy has none: the upper 16 bits of f32
F2, BOOL = np.dtype(np.float16), np.dtype(np.bool_)
C8, C16 = np.dtype(np.complex64), np.dtype(np.complex128)
_NAMED = [("f64", F8), ("f32", F4), ("i64", np.dtype(np.int64)), ("i32", np.dtype(np.int32)), ("bf16", BF16), ("f16", F2),
          ("i8", np.dtype(np.int8)), ("i16", np.dtype(np.int16)), ("u8", np.dtype(np.uint8)), ("u16", np.dtype(np.uint16)),
          ("u32", np.dtype(np.uint32)), ("u64", np.dtype(np.uint64)), ("bool", BOOL), ("c64", C8), ("c128", C16)]  # in the order of their numbers
TYPES = dict(_NAMED, bfloat16=BF16)
NUMBERS = {dtype: number for number, (_, dtype) in enumerate(_NAMED)}
TYPE_NAMES = {dtype: name for name, dtype in _NAMED}
_KINDS = {number: dtype for dtype, number in NUMBERS.items()}
MAX_FILLED = 2**28  # elements of an array that is stored as a whole without being asked for
_NAMES = ", ".join(name for name, _ in _NAMED[:-1]) + " or " + _NAMED[-1][0]


def value_type(dtype):
    """The type that is computed with, as numpy's; None: that of the operands."""
    try:
        wanted = None if dtype is None else np.dtype(TYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype)
    except TypeError:
        names = (*TYPES, *map(str, NUMBERS))
        raise invalid("value-type", f"dtype={dtype!r}: expected {_NAMES}{did_you_mean(dtype, names)}") from None
    if wanted is None or wanted in NUMBERS:
        return wanted
    raise invalid("value-type", f"dtype={dtype!r}: expected {_NAMES}")


def narrower(stored, computed):
    """Tells a type whose numbers all are numbers of a wider one: kernels read it in place and compute in the wider one."""
    if stored == BF16 or computed == BF16 or computed == F2:
        return stored == BF16 and computed in (F4, F8, C8, C16)
    if computed.kind == "c" and stored.kind != "c":
        part = F8 if computed == C16 else F4
        return stored == part or narrower(stored, part)
    return stored in NUMBERS and stored.itemsize < computed.itemsize and np.can_cast(stored, computed)


def bfloat16(array):
    """Real numbers as an array of bf16, rounded to nearest, ties to even: what kernels with `dtype="bf16"` read in place. numpy has no such
    type; the array holds pairs of bytes."""
    array = np.asarray(array)
    with np.errstate(over="ignore"):
        bits = np.ascontiguousarray(array, F4).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(array), bits >> np.uint32(16) | np.uint32(0x40), rounded).astype(np.uint16).view(BF16)


def whole(name, array, wanted):
    """The values as an integer type, row major: the array itself where it is so already. What the type does not have is refused."""
    if array.dtype.kind not in "iub":
        raise invalid("value-type", f"`{name}` holds {array.dtype}, which is no integer type; pass `.astype(int)` to have it cut off")
    if wanted == BOOL:
        return np.array(array != 0, order="C")
    limits = np.iinfo(wanted)
    if array.size and not np.can_cast(array.dtype, wanted) and (wrong := next(
            (one for one in (array.min(), array.max()) if not limits.min <= int(one) <= limits.max), None)) is not None:
        raise invalid("value-type", f"`{name}` holds {wrong}, which {wanted} does not have")
    return np.require(array, wanted, ["C", "A"])


_COMPUTE = 'compute with `schaas.einsum("ij,jk->ik", b, d)` or `schaas.kernel("C(i,k) = B(i,j) * D(j,k)")(B=b, D=d)`'


class _Memory(ctypes.Array):
    """Memory from an address on, however much of it an array takes. `owner` lives as long as the array does."""

    _type_, _length_ = ctypes.c_char, 1 << 48


_memory_at = _Memory.from_address


def memory(address, count, dtype, owner, shape=None):
    """`count` elements at `address` as a numpy array that keeps `owner` alive."""
    if count == 0 or not address:
        return np.empty((count,) if shape is None else shape, dtype)
    there = _memory_at(address)
    there.owner = owner
    made = np.frombuffer(there, dtype, count)
    return made if shape is None else made.reshape(shape)


def memories(owner, *parts):
    """The arrays (address, count, dtype), of one dimension each, that together keep `owner` alive."""
    start = min([address for address, _, _ in parts])
    there = _memory_at(start)
    there.owner = owner
    return [np.frombuffer(there, dtype, count, address - start) if count and address else np.empty(count, dtype)
            for address, count, dtype in parts]


class Storage:
    """A result's storage, which is freed with the last array in it: what close_with does, for those who make many."""

    __slots__ = ("address", "_handle", "_process")

    def __init__(self, handle):
        self._handle, self._process = ctypes.c_void_p(handle), os.getpid()
        self.address = library.storage_address(self._handle)  # of a schaas_tensor

    def __del__(self, free=library.api.schaas_storage_free, process=os.getpid, ending=sys.is_finalizing):
        if process() == self._process and not ending():
            free(self._handle)


class Tensor:
    """A tensor in any format of docs/formats.md, as kernels take it and give it. Made by `schaas.tensor`, `schaas.read`, and
    by kernels whose result scipy has no type for."""

    def __init__(self, handle):
        library.close_with(self, library.api.schaas_storage_free, handle)
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

    def __array__(self, dtype=None, copy=None):
        """For `np.asarray`. numpy asks for it unasked as well, so that large arrays are refused here: `todense` makes them."""
        if math.prod(self.shape) > MAX_FILLED and any(level[0] != library.DENSE for level in self.levels):
            raise unsupported("dense-size", f"numpy wants all elements of {self!r} in one array, which takes {self._dense_text()}; {_COMPUTE}, "
                                            "take the entries with `.coords()`, or call `.todense()` to have it all the same")
        return self._dense(dtype)

    def __array_ufunc__(self, function, method, *inputs, **options):
        """Refuses arithmetic of numpy, which has no word for what is not stored and would compute with every element."""
        raise unsupported("numpy-function", f"`numpy.{function.__name__}` does not know sparse tensors such as {self!r}; {_COMPUTE}, "
                                            f"or pass `.todense()`, which takes {self._dense_text()}")

    def _dense_text(self):
        return size_text(math.prod(self.shape) * self.dtype.itemsize)

    def _dense(self, dtype=None):
        dense = self.convert(",".join(["dense"] * self.ndim)) if self.ndim else self
        return np.array(dense.values.reshape(self.shape), dtype)

    def todense(self):
        """All elements in one array of numpy, however large it is."""
        return self._dense()

    @property
    def format(self):
        """As docs/formats.md writes it: "csr", "csf", "dense,compressed,banded", with ":1,0" where modes are not in their order."""
        kinds, order = tuple(level[0] for level in self.levels), self.mode_order
        if (kinds, order) in _SHORT:
            return _SHORT[kinds, order]
        natural = order == tuple(sorted(order))
        if self.ndim > 2 and set(kinds) == {library.COMPRESSED} and natural:
            return "csf"
        return ",".join(map(library.LEVEL_NAMES.__getitem__, kinds)) + ("" if natural else ":" + ",".join(map(str, order)))

    @property
    def nbytes(self):
        """Bytes of all arrays."""
        return self.values.nbytes + sum(array.nbytes for _, *arrays, _ in self.levels for array in arrays if array is not None)

    def describe(self):
        """A dict: format, shape, dtype, stored (values), bytes, index (the type of positions and coordinates, None where all is dense),
        fill (the value of what is not stored)."""
        return {**description_of(self.format, self.shape, self.values, self.levels), "fill": self.fill}

    def explain(self):
        """The same as text, with each level."""
        lines = [repr(self)]
        for (kind, *arrays, entries), mode in zip(self.levels, self.mode_order):
            stored = sum(array.nbytes for array in arrays if array is not None)
            lines.append(f"  mode {mode + 1}: {library.LEVEL_NAMES[kind]}, extent {self.shape[mode]}, {entries} positions, {size_text(stored)}")
        return "\n".join([*lines, f"  values: {self.dtype}, {size_text(self.values.nbytes)}"])

    def __copy__(self):
        """A tensor of its own: nothing is shared."""
        return _InArrays(self.shape, self.mode_order, *_copied(self.levels, self.values), self.fill)

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        return _InArrays, (self.shape, self.mode_order, self.levels, self.values, self.fill)

    def __repr__(self):
        fill = f", {self.fill} where nothing is stored" if self.fill != 0 else ""
        return f"<schaas.Tensor {self.format} of shape {self.shape}, {self.nnz} stored values of {self.dtype}{fill}, {size_text(self.nbytes)}>"


def converted(name, address, format, fill=0.0, position_bits=0):
    """The tensor whose struct (kernel_abi.h) is at `address`, whose elements that are not stored have the value `fill`, in another
    format: a copy. Dense levels get the fill value; where they become sparse, elements of that value are left out. `position_bits`:
    32, 64, or 0 for those of the tensor (32 of a dense one)."""
    return Tensor(library.handle_from(library.api.schaas_convert_with, name.encode(), address, library.text_option("format", format),
                                      library.storage_options(fill, position_bits)))


_SHORT = {((), ()): "dense", ((library.DENSE,), (0,)): "dense", ((library.COMPRESSED,), (0,)): "compressed",
          ((library.DENSE, library.COMPRESSED), (0, 1)): "csr", ((library.DENSE, library.COMPRESSED), (1, 0)): "csc",
          ((library.COMPRESSED, library.COMPRESSED), (0, 1)): "dcsr",
          ((library.COMPRESSED_NONUNIQUE, library.SINGLETON), (0, 1)): "coo"}


def description_of(format, shape, values, levels):
    """A tensor in arrays as a dict, for `describe`."""
    arrays = [array for _, *both, _ in levels for array in both if array is not None]
    index = max((array.dtype for array in arrays), key=lambda dtype: dtype.itemsize, default=None)
    return {"format": format, "shape": tuple(shape), "dtype": str(values.dtype), "stored": int(np.prod(values.shape, dtype=np.int64)),
            "bytes": sum(int(np.prod(array.shape, dtype=np.int64)) * array.dtype.itemsize for array in (values, *arrays)),
            "index": None if index is None else str(index)}


class _InArrays(Tensor):
    """A tensor in numpy arrays of its own."""

    def __init__(self, shape, mode_order, levels, values, fill):
        order = len(shape)
        self._arrays, self._fill = (levels, values), fill
        self._view = library.Tensor(order, NUMBERS[values.dtype], (ctypes.c_int64 * order)(*shape),
                                    (ctypes.c_int32 * order)(*mode_order), (library.Level * order)(), values.ctypes.data)
        for number, (kind, positions, coordinates, entries) in enumerate(levels):
            index = positions if positions is not None else coordinates
            self._view.levels[number] = library.Level(
                kind, 0 if index is None else 8 * index.dtype.itemsize, None if positions is None else positions.ctypes.data,
                None if coordinates is None else coordinates.ctypes.data, entries)


def _copied(levels, values):
    """Level by level and the values, in new arrays."""
    def copy(array):
        return None if array is None else np.array(array)
    return [(kind, copy(positions), copy(coordinates), entries) for kind, positions, coordinates, entries in levels], copy(values)


def _extents(shape):
    try:
        extents = tuple(operator.index(extent) for extent in (shape if np.iterable(shape) else (shape,)))
    except TypeError:
        raise invalid("shape", f"shape={shape!r}: expected whole numbers, one for each mode") from None
    for mode, extent in enumerate(extents, 1):
        if not 0 <= extent < 2**63:
            raise invalid("shape", f"mode {mode} has extent {extent}; expected 0 to 2^63 - 1")
    return extents


def _values(given):
    try:
        values = np.asarray(given)
    except ValueError as error:
        raise invalid("value-type", f"the values are no array: {error}") from None
    if values.dtype.kind not in "fiubc":
        raise invalid("value-type", f"the values are of type {values.dtype}; expected numbers")
    if values.ndim != 1:
        raise invalid("entry-count", f"the values have shape {values.shape}; expected (nnz,), one for each entry")
    return values


def _whole_numbers(coords):
    """Coordinates as an array of integers; what is not whole is refused, not cut off."""
    try:
        found = np.asarray(coords)
    except ValueError as error:
        raise invalid("coordinates", f"the coordinates are no array: {error}; expected shape (ndim, nnz)") from None
    if found.size == 0 and found.dtype.kind == "f":
        return found.astype(np.int64)
    if found.dtype.kind == "b":
        raise invalid("coordinates", "the coordinates are booleans; `np.nonzero(mask)` gives those of a mask")
    if found.dtype.kind == "f":
        if not np.all((found == np.floor(found)) & (np.abs(found) <= 2**53)):
            raise invalid("coordinates", "the coordinates are not all whole numbers, from 0 to 2^53 where they are floating point")
    elif found.dtype.kind == "O" and all(isinstance(one, int) for one in found.flat):
        raise invalid("coordinates", "the coordinates are not all between 0 and 2^63 - 1")
    elif found.dtype.kind not in "iu":
        raise invalid("coordinates", f"the coordinates are of type {found.dtype}; expected whole numbers")
    elif found.dtype == np.uint64 and found.size and found.max() >= 2**63:
        raise invalid("coordinates", f"coordinate {found.max()} is beyond 2^63 - 1")
    return found


def _coordinates(coords, extents, entries):
    """(ndim, nnz), inside of the extents."""
    found, order = _whole_numbers(coords), len(extents)
    if found.ndim == 1 and (order == 1 or found.size == 0):  # unmistakable
        found = found.reshape(order, -1) if order else found.reshape(0, entries)
    if found.ndim != 2 or len(found) != order:
        turned = found.ndim == 2 and found.shape[1] == order
        raise invalid("coordinates", f"the coordinates have shape {found.shape}; expected ({order}, nnz), one row for each of the {order} "
                                     "extents" + ("; pass their transpose, `coords.T`" if turned else ""))
    if found.shape[1] != entries:
        raise invalid("entry-count", f"{found.shape[1]} coordinates by mode, but {entries} values")
    for mode, (row, extent) in enumerate(zip(found, extents), 1):
        if entries and (wrong := next((one for one in (row.min(), row.max()) if not 0 <= one < extent), None)) is not None:
            raise invalid("coordinates", f"coordinate {wrong} of mode {mode} is outside of its extent {extent}")
    return np.ascontiguousarray(found, np.int64)


def tensor(coords, values, shape, format=None, dtype=None, index_dtype=np.int32, fill=0.0):
    """A sparse tensor from its entries; duplicates add up. `coords`: whole numbers of shape (ndim, nnz), one row for each mode, as
    np.nonzero gives them (np.argwhere(x).T); for a vector (nnz,) will do. `values`: numbers of shape (nnz,). The format is csf, csr
    for matrices, compressed for vectors, unless `format` says otherwise. `dtype`: a value type (docs/language.md), by default f32 for such values, c64
    and c128 for complex ones and f64 for all others. Integers are exact and wrap around where duplicates add up.
    `index_dtype`: np.int32 or np.int64, of positions and coordinates. `fill`: the value of every element without an entry; of an operand
    under a semiring its zero, `np.inf` for min-plus."""
    extents = _extents(shape)
    kept = _values(values)
    places = _coordinates(coords, extents, kept.size)
    dtype = value_type(dtype) or (kept.dtype if kept.dtype in (F4, C8) else C16 if kept.dtype.kind == "c" else F8)
    if kept.dtype.kind == "c" and dtype.kind != "c":
        raise invalid("value-type", f"the values are of type {kept.dtype}; expected real numbers for dtype={TYPE_NAMES[dtype]!r}: pass `.real`, or "
                                    "dtype=\"c128\"")
    if dtype.kind in "iub":
        wide = TYPES["u64"] if dtype == TYPES["u64"] else TYPES["i64"]
        kept = whole("values", whole("values", kept, dtype), wide)
    else:
        kept = np.ascontiguousarray(kept, C16 if dtype.kind == "c" else F8)
    if format is None:
        format = {0: "dense", 1: "compressed", 2: "csr"}.get(len(extents), "csf")
    sizes = (ctypes.c_int64 * max(len(extents), 1))(*extents)
    modes = (ctypes.c_void_p * max(len(extents), 1))(*[row.ctypes.data for row in places])
    return Tensor(library.handle_from(
        library.api.schaas_pack_with, b"tensor", len(extents), sizes, modes, kept.ctypes.data, kept.size, library.text_option("format", format),
        NUMBERS[dtype], 8 * _index_type(index_dtype).itemsize,
        library.storage_options(fill)))


def _index_type(given):
    try:
        found = np.dtype(given)
    except TypeError:
        found = None
    if found != np.dtype(np.int32) and found != np.dtype(np.int64):
        raise invalid("index-type", f"index_dtype={given!r}: expected np.int32 or np.int64")
    return found
