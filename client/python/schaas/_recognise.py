"""Recognises operands by their type or a protocol, never by the names of attributes: numpy, scipy.sparse, torch, pydata/sparse,
DLPack, `__array_interface__`, buffers, sequences, numbers. docs/python.md has the table."""

import os
import sys

import numpy as np
import scipy.sparse as sp

from . import _library as library
from ._conversions import converted
from ._errors import Error, Exhausted, invalid, unsupported
from ._tensors import MAX_FILLED, Tensor

_ARRAY_TYPE = getattr(sp, "sparray", None)


class Given:
    """An operand as arrays, nothing checked. `kind`: "dense"; "csr" and "csc" (structure: pointers, indices); "coo", a matrix, and
    "entries" (structure: the coordinates of each mode); "stored", a schaas.Tensor. `borrowed`: the arrays are the owner's own, so changed
    values show in them. `arrays`: returns those the owner has now; None where they stay or are made anew each time."""

    __slots__ = ("kind", "shape", "structure", "values", "borrowed", "owner", "arrays", "wanted", "computed", "narrow")

    def __init__(self, kind, shape, structure, values, borrowed, owner, arrays=None):
        self.kind = kind
        self.shape = shape
        self.structure = structure
        self.values = values
        self.borrowed = borrowed
        self.owner = owner
        self.arrays = arrays
        self.wanted = None  # the type in which the values are read; None: f32 or f64
        self.computed = None  # the type of the arithmetic, where it is known
        self.narrow = False  # the values stay in a type of their own, which kernels widen


def is_torch(given):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(given, getattr(torch, "Tensor", ()))


def wants_gradient(given):
    return is_torch(given) and given.requires_grad and sys.modules["torch"].is_grad_enabled()


def is_scipy_array(given):
    """Tells scipy's sparse arrays from its matrices."""
    if _ARRAY_TYPE is not None:
        return isinstance(given, _ARRAY_TYPE)
    return sp.issparse(given) and type(given).__name__.endswith("_array")


def dense(array, owner, borrowed=True):
    return Given("dense", array.shape, (), array, borrowed, owner)


def _kind_of(given):
    module = type(given).__module__.split(".")[0]
    return ("" if module == "builtins" else module + ".") + type(given).__qualname__


# ---- scipy ----

def _of_diagonals(given):
    """The entries of a dia matrix by rows, zeros on its diagonals included."""
    pointers, indices, values = converted(("dia", given.shape), (given.offsets, given.data), lambda: _rows_of_diagonals(given))
    return Given("csr", given.shape, (pointers, indices), values, False, given)


def _rows_of_diagonals(given):
    rows, columns = given.shape
    order = np.argsort(given.offsets)
    offsets = given.offsets[order]
    index = np.int32 if max(rows * order.size, columns) < 2**31 else np.int64
    held = np.zeros((rows, order.size), bool)
    values = np.zeros(held.shape, given.data.dtype)
    pointers = np.zeros(rows + 1, index)
    for place, (offset, line) in enumerate(zip(offsets.tolist(), given.data[order])):
        first, last = max(0, offset), min(columns, rows + offset, line.size)
        if first < last:
            inside = slice(first - offset, last - offset)
            held[inside, place] = True
            values[inside, place] = line[first:last]
            pointers[1:][inside] += 1
    np.cumsum(pointers, out=pointers)
    indices = np.add.outer(np.arange(rows, dtype=index), offsets.astype(index))
    return pointers, indices[held], values[held]


def _of_blocks(given, shape, owner):
    """The entries of a bsr matrix by rows, zeros in its blocks included. scipy's conversion trusts pointers, so they are looked at first."""
    pointers = given.indptr
    ordered = pointers.size and pointers[0] == 0 and (pointers[1:] >= pointers[:-1]).all()
    if ordered and pointers.size - 1 == shape[0] // given.blocksize[0] and pointers[-1] <= min(given.indices.size, given.data.shape[0]):
        def rows():
            made = given.tocsr(copy=True)  # arrays of its own, also where blocks have one element
            return made.indptr, made.indices, made.data

        pointers, indices, values = converted(("bsr", shape, given.blocksize), (pointers, given.indices, given.data), rows)
        return Given("csr", shape, (pointers, indices), values, False, owner)
    entries = given.tocoo()
    return Given("entries", shape, _coordinates_of(entries), entries.data, False, owner)


def _coordinates_of(given):
    return given.coords if hasattr(given, "coords") else (given.row, given.col)


def _check_padding(name, kind, zero):
    """Blocks and diagonals hold numbers 0 where nothing is stored, which are no entries."""
    if zero != 0:
        raise invalid("fill-value", f"`{name}` is a {kind}, which holds 0 beside its entries, but elements that are not stored are {zero} "
                                    "for the expression; pass it as csr")


def _scipy(name, given, zero):
    kind = given.format
    if kind in ("bsr", "dia"):
        _check_padding(name, type(given).__name__, zero)
    if kind in ("csr", "csc") and len(given.shape) == 2:
        return Given(kind, given.shape, (given.indptr, given.indices), given.data, True, given,
                     lambda: (given.indptr, given.indices, given.data))
    if kind == "coo":
        return Given("coo" if len(given.shape) == 2 else "entries", given.shape, _coordinates_of(given), given.data, True, given,
                     lambda: (*_coordinates_of(given), given.data))
    if kind == "dia":
        return _of_diagonals(given)
    if kind == "bsr":
        return _of_blocks(given, given.shape, given)
    entries = given.tocoo()
    return Given("entries", given.shape, _coordinates_of(entries), entries.data, False, given)


# ---- torch ----

def _check_torch(name, given):
    layout, device = str(given.layout), str(given.device)
    if device.split(":")[0] == "meta":
        raise invalid("no-data", f"`{name}` is on the device meta: it has a shape, but no values")
    if device != "cpu":
        raise unsupported("device", f"`{name}` is on {given.device}; kernels run on the CPU: pass `.cpu()`")
    if given.is_complex() and (given.requires_grad or str(given.dtype) not in ("torch.complex64", "torch.complex128")):
        raise invalid("value-type", f"`{name}` has values of type {given.dtype} and {'requires a gradient' if given.requires_grad else '16-bit parts'}: "
                                    "compute with `.real` and `.imag`")
    if given.is_quantized or getattr(given, "is_nested", False):
        raise unsupported("torch-layout", f"`{name}` is a {'quantized' if given.is_quantized else 'nested'} tensor; pass "
                                          f"`{'.dequantize()' if given.is_quantized else '.to_padded_tensor(0)'}`")
    if layout != "torch.strided" and layout not in _TORCH_LAYOUTS:
        raise unsupported("torch-layout", f"`{name}` has the layout {layout}; strided, {', '.join(one[6:] for one in _TORCH_LAYOUTS)} work: "
                                          "pass `.to_dense()`")


def _torch(name, given, zero):
    _check_torch(name, given)
    torch = sys.modules["torch"]
    owner, layout, borrowed, shape = given, str(given.layout), True, tuple(given.shape)
    given = given.detach()
    if given.is_floating_point() and str(given.dtype) not in ("torch.float64", "torch.float32", "torch.float16"):
        given, borrowed = given.float(), False
    if layout == "torch.strided":
        if given.is_neg() or (given.is_complex() and given.is_conj()):
            given, borrowed = (given.resolve_conj() if given.is_complex() else given).resolve_neg(), False
        return dense(given.numpy(), owner, borrowed)
    if layout != "torch.sparse_coo":
        return _torch_compressed(name, given, layout, zero, borrowed, owner)
    if given.dense_dim():
        raise unsupported("torch-layout", f"`{name}` is a hybrid tensor with {given.dense_dim()} dense dimensions; pass `.to_dense()`, or "
                                          "`.to_dense().to_sparse()`")
    entries = given.coalesce()
    return Given("coo" if len(shape) == 2 else "entries", shape, tuple(entries.indices().numpy()), entries.values().numpy(),
                 borrowed and given.is_coalesced(), owner)


#: layout -> by rows, in blocks
_TORCH_LAYOUTS = {"torch.sparse_coo": None, "torch.sparse_csr": (True, False), "torch.sparse_csc": (False, False),
                  "torch.sparse_bsr": (True, True), "torch.sparse_bsc": (False, True)}


def _torch_compressed(name, given, layout, zero, borrowed, owner):
    by_rows, in_blocks = _TORCH_LAYOUTS[layout]
    pointers, indices = (given.crow_indices(), given.col_indices()) if by_rows else (given.ccol_indices(), given.row_indices())
    pointers, indices, values = pointers.numpy(), indices.numpy(), given.values().numpy()
    shape = tuple(given.shape)
    if pointers.ndim > 1 or values.ndim != (3 if in_blocks else 1):
        what = "a batch of matrices" if pointers.ndim > 1 else "a hybrid tensor"
        raise unsupported("torch-layout", f"`{name}` is {what} in the layout {layout}; pass `.to_dense()`, or `.to_dense().to_sparse()`")
    if not in_blocks:
        return Given("csr" if by_rows else "csc", shape, (pointers, indices), values, borrowed, owner)
    _check_padding(name, layout, zero)
    if by_rows:
        return _of_blocks(sp.bsr_matrix((values, indices, pointers), shape=shape), shape, owner)
    entries = sp.bsr_matrix((values.transpose(0, 2, 1), indices, pointers), shape=shape[::-1]).tocoo()
    return Given("entries", shape, (entries.col, entries.row), entries.data, False, owner)


# ---- pydata/sparse ----

def is_pydata(given):
    sparse = sys.modules.get("sparse")
    return sparse is not None and isinstance(given, getattr(sparse, "SparseArray", ()))


def _pydata(name, given, zero):
    fill = given.fill_value
    if fill == 0 and zero != 0:
        raise invalid("fill-value", f"`{name}` is {fill} where it stores nothing, but the semiring reads such elements as {zero}; give it "
                                    f"with fill_value={zero}, or `.todense()`")
    if given.ndim == 0 or not fill == zero:
        if given.size > MAX_FILLED:
            raise unsupported("fill-value", f"`{name}` is {fill} at {given.size - given.nnz:,} elements that it does not store: too many to "
                                            f"store them all; subtract it, and treat it in the expression")
        return dense(np.asarray(given.todense()), given, False)
    entries = given.asformat("coo")
    return Given("entries", tuple(given.shape), tuple(entries.coords), entries.data, entries is given, given)


# ---- all ----

def _array(name, given):
    if isinstance(given, np.ma.MaskedArray):
        hidden = int(np.count_nonzero(np.ma.getmaskarray(given)))
        if hidden:
            raise invalid("masked", f"`{name}` is masked at {hidden} of {given.size} elements; pass `.filled(0)`, or `.data` for what lies "
                                    "below the mask")
        return dense(given.data.view(np.ndarray), given)
    if isinstance(given, np.ndarray):
        return dense(given.view(np.ndarray), given)
    if given is None or isinstance(given, (str, bytes, os.PathLike)):
        raise invalid("value-type", f"`{name}` is {given!r}; expected a tensor"
                                    + ("" if given is None else " (`schaas.read` reads one from a file)"))
    if hasattr(given, "__cuda_array_interface__"):
        raise unsupported("device", f"`{name}` is on a GPU; kernels run on the CPU: copy it with `.get()` or `cupy.asnumpy`")
    if hasattr(given, "__dlpack__") and not hasattr(given, "__array_interface__"):
        try:
            return dense(np.from_dlpack(given), given)
        except (RuntimeError, TypeError, ValueError, BufferError):  # read only, or of a type that DLPack has no word for
            pass
    array = np.asarray(given)
    if array.dtype == object:
        raise invalid("value-type", f"`{name}` is of type {_kind_of(given)}, which does not read as an array of numbers")
    return dense(array, given, hasattr(given, "__array_interface__") or isinstance(given, memoryview))


def recognise(name, given, zero=0.0):
    """Returns an operand as a Given. `zero`: the value of elements that are not stored. Errors are in the package's own words."""
    if type(given) is np.ndarray:
        return Given("dense", given.shape, (), given, True, given)
    if isinstance(given, Tensor):
        if given.fill not in (0, zero) and any(level[0] != library.DENSE for level in given.levels):
            raise invalid("fill-value", f"`{name}` is {given.fill} where it stores nothing, but the expression reads such elements as {zero}; "
                                        "pass `.todense()`")
        return Given("stored", given.shape, tuple(array for level in given.levels for array in level[1:3] if array is not None),
                     given.values, True, given)
    try:
        if sp.issparse(given):
            return _scipy(name, given, zero)
        if is_torch(given):
            return _torch(name, given, zero)
        if is_pydata(given):
            return _pydata(name, given, zero)
        return _array(name, given)
    except Error:
        raise
    except MemoryError as error:
        raise Exhausted("memory", f"`{name}`: {error}", f"exhausted [memory]: `{name}`: {error}") from error
    except Exception as error:
        raise invalid("operand-type", f"`{name}` ({_kind_of(given)}) cannot be read as a tensor: {error}") from error
