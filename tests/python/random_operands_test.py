"""Operands drawn at random, type x layout x dtype x order x format x entrance, against numpy: no wrong result, no exception of another
package. A few hundred draws; with SCHAAS_DRAWS=10000 as many as wanted, SCHAAS_SEED for others, SCHAAS_DRAW for a single one."""

import array
import collections
import os
import pathlib
import tempfile
import unittest
import warnings

import with_server
import numpy as np
import scipy.sparse as sp

try:
    import torch
except ImportError:
    torch = None
    print("SKIP of torch's tensors: torch is not installed")
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import sparse
except ImportError:
    sparse = None
    print("SKIP of pydata's arrays: sparse is not installed")

with_server.daemon()
import schaas
from schaas import _library as library
from schaas._frames import Frame
from schaas._operands import in_order, view_of

SEED = int(os.environ.get("SCHAAS_SEED", 35))
DRAWS = int(os.environ.get("SCHAAS_DRAWS", 400))
REAL = ("f8", "f8", "f4", "f2", "g", ">f8", ">f4", "i1", "i2", "i4", "i8", ">i2", "u1", "u2", "u4", "u8", "?")
OTHER = ("O", "S3", "M8[s]", "m8[s]", "V8")
EXPRESSIONS = {0: "y(i) = P * v(i)", 1: "y(i) = M(i,j) * P(j)", 2: "y(i) = P(i,j) * v(j)", 3: "y(i) = P(i,j,k) * v(j) * w(k)"}
SUBSCRIPTS = {0: ",i->i", 1: "ij,j->i", 2: "ij,j->i", 3: "ijk,j,k->i"}
FORMATS = {0: ("dense",), 1: ("dense", "compressed", "bitmap"), 2: ("dense", "dense:1,0", "csr", "csc", "coo", "dcsr", "bitmap"),
           3: ("dense", "csf", "dense,compressed,compressed", "csf:2,0,1")}
ENTRANCES = ("call", "call", "call to out", "bind", "einsum", "file", "c")
KERNELS = {}


def kernel(order, format):
    if (order, format) not in KERNELS:
        KERNELS[order, format] = schaas.kernel(EXPRESSIONS[order], **({} if format is None else {"P": format}))
    return KERNELS[order, format]


class Refused(Exception):
    """The draw is an operand that no entrance may take."""


class Operand:
    """`given`, what is passed; `truth`, its elements as f64 (None: it must be refused); `change`, changes elements in place and returns
    the new truth, or None."""

    def __init__(self, given, truth, what, change=None):
        self.given, self.truth, self.what, self.change = given, truth, what, change


class Draw:
    def __init__(self, number):
        self.rng = np.random.default_rng([SEED, number])

    def one_of(self, choices):
        return choices[self.rng.integers(len(choices))]

    def chance(self, share):
        return self.rng.random() < share

    def elements(self, shape, dtype):
        """Small whole numbers, half of them 0, that every type holds."""
        low = 0 if np.dtype(dtype).kind in "ub" else -4
        high = 2 if np.dtype(dtype).kind == "b" else 5
        return np.asarray(self.rng.integers(low, high, shape) * (self.rng.random(shape) < 0.6)).astype(dtype)

    def shape(self, order):
        return tuple(int(extent) for extent in self.rng.choice([0, 1, 2, 3, 4, 5, 7], order, p=[0.06, 0.1, 0.14, 0.2, 0.2, 0.2, 0.1]))

    # ---- dense ----

    def array(self, values):
        """The same elements in another layout."""
        layout = self.one_of(("c", "f", "strided", "reversed", "transposed", "read only", "misaligned", "broadcast", "field", "matrix",
                              "memory map", "masked", "subclass"))
        if layout == "f":
            return layout, np.asfortranarray(values)
        if layout == "strided" and values.ndim:
            wide = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
            wide[..., ::2] = values
            return layout, wide[..., ::2]
        if layout == "reversed" and values.ndim:
            return layout, np.ascontiguousarray(values[::-1])[::-1]
        if layout == "transposed":
            return layout, np.ascontiguousarray(values.T).T
        if layout == "read only":
            values.setflags(write=False)
        if layout == "misaligned":
            made = np.frombuffer(bytearray(values.nbytes + 1), values.dtype, values.size, 1).reshape(values.shape)
            made[...] = values
            return layout, made
        if layout == "broadcast" and values.ndim and values.shape[0]:
            return layout, np.broadcast_to(values[:1], values.shape)
        if layout == "field":
            both = np.zeros(values.shape, [("a", "i2"), ("b", values.dtype)])
            both["b"] = values
            return layout, both["b"]
        if layout == "matrix" and values.ndim == 2:
            return layout, values.view(np.matrix)
        if layout == "memory map" and values.size:
            made = np.memmap(tempfile.TemporaryFile(), values.dtype, "w+", shape=values.shape)
            made[...] = values
            return layout, made
        if layout == "masked":
            return layout, np.ma.masked_array(values, mask=np.zeros(values.shape, bool))
        if layout == "subclass":
            return layout, values.view(type("Own", (np.ndarray,), {}))
        return layout, values

    def dense(self, order):
        dtype = self.one_of(REAL)
        layout, given = self.array(self.elements(self.shape(order), dtype))
        what = f"numpy {layout} {dtype} {given.shape}"

        def change():
            if not given.flags.writeable or not given.size:
                return np.asarray(given, float)
            given[...] = self.elements(given.shape, dtype)
            return np.asarray(given, float)
        return Operand(given, np.asarray(given, float), what, change)

    def protocol(self, order):
        values = self.elements(self.shape(order), self.one_of(("f8", "f4", "i4", "i8", "u1")))
        kind = self.one_of(("list", "tuple", "buffer", "interface", "dlpack", "array", "number", "scalar"))

        class Interface:
            __array_interface__ = values.__array_interface__
            keep = values

        class Exchange:
            def __dlpack__(self, **options):
                return values.__dlpack__(**options)

            def __dlpack_device__(self):
                return values.__dlpack_device__()

        class Array:
            def __array__(self, dtype=None, copy=None):
                return values.astype(dtype or values.dtype)

        if kind == "number" or kind == "scalar":
            number = values.reshape(-1)[0] if values.size else np.float64(3)
            return Operand(number.item() if kind == "number" else number, np.array(float(number)), kind)
        given = {"list": values.tolist, "tuple": lambda: tuple(values.tolist()) if order else values.item(),
                 "buffer": lambda: memoryview(values), "interface": Interface, "dlpack": Exchange, "array": Array}[kind]()
        if kind == "list" and values.size == 0 and order > 1:
            kind, given = "array", Array()  # lists have no extents below an empty one
        if kind == "tuple" and values.size == 0 and order > 1:
            kind, given = "array", Array()
        return Operand(given, values.astype(float), f"{kind} {values.dtype} {values.shape}")

    # ---- sparse ----

    def entries(self, shape, dtype):
        """Coordinates and values in any order, some of them twice, and the elements."""
        full = self.elements(shape, dtype)
        places = np.argwhere(full)
        if len(places) and self.chance(0.5):
            extra = places[self.rng.integers(len(places), size=2)]
            places = np.concatenate([places, extra])
        self.rng.shuffle(places)
        values = self.elements(len(places), dtype)
        truth = np.zeros(shape)
        if np.dtype(dtype).kind == "b":
            np.logical_or.at(truth, tuple(places.T), values)
            truth = truth.astype(bool).astype(float)
        else:
            np.add.at(truth, tuple(places.T), values.astype(float))
        return places.T, values, truth

    def scipy(self, order):
        shape, dtype = self.shape(2), self.one_of([one for one in REAL if one not in ("f2", "i1", "u1")])
        places, values, truth = self.entries(shape, dtype)
        index = self.one_of(("i4", "i8"))
        kind = self.one_of(("csr", "csc", "coo", "bsr", "lil", "dok", "dia", "raw csr", "raw csc"))
        suffix = self.one_of(("_matrix", "_array"))
        what = f"scipy {kind}{suffix} {dtype} {index} {shape}"
        if kind in ("coo", "raw csr", "raw csc"):
            if kind == "coo":
                given = getattr(sp, "coo" + suffix)((values, tuple(places.astype(index))), shape=shape)
                given.has_canonical_format = self.chance(0.5)  # it may lie
            else:  # unsorted, with repeated entries, room behind them
                outer, inner = (0, 1) if kind == "raw csr" else (1, 0)
                order = np.argsort(places[outer], kind="stable")
                room = self.rng.integers(3)
                given = getattr(sp, kind[4:] + suffix)(shape, dtype=dtype)
                given.indptr = np.append(0, np.cumsum(np.bincount(places[outer], minlength=shape[outer]))).astype(index)[:shape[outer] + 1]
                given.indices = np.append(places[inner][order], [99] * room).astype(index)
                given.data = np.append(values[order], [7] * room).astype(dtype)
                if self.chance(0.3):
                    given.has_sorted_indices = given.has_canonical_format = True
            data = given.data
        else:
            if kind == "bsr" and 0 in shape:
                return self.scipy(order)
            summed = sp.coo_matrix(truth.astype(np.dtype(dtype).newbyteorder("=") if dtype != "g" else "f8"))
            given = getattr(sp, kind + suffix)(summed)
            data = getattr(given, "data", None) if kind in ("csr", "csc", "bsr") else None

        def change():
            if data is None or not data.size:
                return truth
            data[...] = self.elements(data.shape, np.uint8 if np.dtype(dtype).kind in "ub" else np.int8)
            return summed_up(given)
        return Operand(given, truth, what, change)

    def tensor(self, order):
        order = max(order, 1)
        shape = self.shape(order)
        places, values, truth = self.entries(shape, "f8")
        format = self.one_of(FORMATS[order])
        if order == 2 and self.chance(0.2):
            format = self.one_of(("banded", "hashed", "dcsc"))
        given = schaas.tensor(places, values, shape, format, dtype=self.one_of(("f8", "f4")), index_dtype=self.one_of((np.int32, np.int64)))
        return Operand(given, np.asarray(truth, float), f"schaas.Tensor {format} {shape}")

    def torch(self, order):
        kind = self.one_of(("strided", "transposed", "coo", "coo, not coalesced", "csr", "csc", "bsr", "negative"))
        dtype = self.one_of((torch.float64, torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool))
        if kind in ("csr", "csc", "bsr") and dtype not in (torch.float64, torch.float32):
            dtype = torch.float64
        shape = self.shape(2 if kind in ("csr", "csc", "bsr") else order)
        full = self.elements(shape, "?" if dtype == torch.bool else "u1" if dtype == torch.uint8 else "f8")
        given = torch.from_numpy(full.copy()).to(dtype)
        if kind == "transposed" and order > 1:
            given = given.transpose(0, -1).contiguous().transpose(0, -1)
        elif kind == "coo" and order:
            given = given.to_sparse()
        elif kind == "coo, not coalesced" and order:
            entries = given.to_sparse()
            given = torch.sparse_coo_tensor(torch.cat([entries.indices()] * 2, 1),
                                            torch.cat([entries.values(), torch.zeros_like(entries.values())]), shape)
        elif kind in ("csr", "csc"):
            given = getattr(given, "to_sparse_" + kind)()
        elif kind == "bsr" and 0 not in shape:
            given = given.to_sparse_bsr((1, 1) if shape[0] % 2 or shape[1] % 2 else (2, 2))
        elif kind == "negative" and dtype == torch.float64:
            given = torch.complex(given, -given).conj().imag
        if given.is_floating_point() and self.chance(0.1) and given.layout == torch.strided:
            given = given.clone().requires_grad_()
        return Operand(given, full.astype(float), f"torch {kind} {dtype} {shape}")

    def pydata(self, order):
        shape, dtype = self.shape(max(order, 1)), self.one_of(("f8", "f4", "i4", "?", "u1"))
        full = self.elements(shape, dtype)
        given = sparse.COO.from_numpy(full)
        kind = self.one_of(("COO", "GCXS", "DOK", "filled"))
        if kind == "filled":
            given, full = given.astype(float) + 2.0, full.astype(float) + 2
        elif kind == "GCXS" and 0 not in shape and len(shape) > 1:
            given = sparse.GCXS.from_coo(given)
        elif kind == "DOK":
            given = sparse.DOK.from_coo(given)
        return Operand(given, full.astype(float), f"pydata {kind} {dtype} {shape}")

    # ---- broken ----

    def broken(self, order):
        kind = self.one_of(("type", "masked", "lengths", "outside", "pointers", "text", "object", "large", "indices"))
        given, index = None, self.one_of(("i4", "i8"))
        if kind == "type":
            given = np.zeros(self.shape(order), self.one_of(OTHER))
        elif kind == "masked":
            given = np.ma.masked_array(np.ones((2, 3, 4)[:order]), mask=True)
        elif kind == "large":
            given = np.full((2, 3, 4)[:order], 2**53 + 1, self.one_of(("i8", "u8", ">i8")))
        elif kind == "text":
            given = self.one_of(("B.mtx", b"x", None, pathlib.Path("B.mtx"), ["a", "b"], np.array(["1"])))
        elif kind == "object":
            given = self.one_of((object(), {1: 2}, {3}, [[1], [2, 3]], [1, None], type, (one for one in range(3)), [2**70]))
        else:
            given = sp.random(4, 5, 0.9, format=self.one_of(("csr", "csc", "coo")), random_state=1)
            for name in ("indices", "indptr", "row", "col"):
                if hasattr(given, name):
                    setattr(given, name, getattr(given, name).astype(index))
            inner = given.col if given.format == "coo" else given.indices
            if kind == "outside":
                inner[self.rng.integers(inner.size)] = self.one_of((-1, 99, 2**31 - 1, -2**31))
            elif kind == "lengths":
                given.data = given.data[:self.rng.integers(given.data.size)]
            elif kind == "indices":
                setattr(given, "col" if given.format == "coo" else "indices", inner.astype("f8"))
            elif given.format == "coo":
                given.row = given.row[:3]
            else:
                given.indptr = self.one_of((given.indptr[:-1], given.indptr[::-1].copy(), given.indptr + 1, given.indptr - 1))
        return Operand(given, None, f"broken {kind} {type(given).__name__} order {order}")

    def operand(self, order):
        """None: of a package that is not installed. Other draws do not depend on what is."""
        kinds = [self.dense, self.dense, self.protocol, self.scipy, self.scipy, self.tensor, self.broken, self.torch, self.pydata]
        kind = self.one_of(kinds)
        if (kind == self.torch and torch is None) or (kind == self.pydata and sparse is None):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return kind(order)

    # ---- entrances ----

    def others(self, order, truth):
        """The other operands by name, and the result for `truth`."""
        rng = self.rng
        if order == 0:
            v = rng.integers(-3, 4, 4).astype(float)
            return {"v": v}, lambda p: p * v
        if order == 1:
            m = rng.integers(-3, 4, (3, truth.shape[0])).astype(float)
            return {"M": m}, lambda p: m @ p
        if order == 2:
            v = rng.integers(-3, 4, truth.shape[1]).astype(float)
            return {"v": v}, lambda p: p @ v
        v, w = (rng.integers(-3, 4, extent).astype(float) for extent in truth.shape[1:])
        return {"v": v, "w": w}, lambda p: np.einsum("ijk,j,k->i", p, v, w)

    def run(self):
        """(what was drawn, fault or None)."""
        order = self.one_of((0, 1, 2, 2, 2, 3))
        operand = self.operand(order)
        if operand is None:
            return "skipped", None
        expected_order = order if operand.truth is None else operand.truth.ndim
        wrong_rank = expected_order != order
        if wrong_rank and self.chance(0.8):
            order, wrong_rank = expected_order, False
        entrance = self.one_of(ENTRANCES)
        format = self.one_of((None, self.one_of(FORMATS[order])))
        what = f"{operand.what}, P={format}, order {order}, {entrance}"
        try:
            fault = self.enter(operand, order, format, entrance, operand.truth is None or wrong_rank)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        return what, fault

    def enter(self, operand, order, format, entrance, refused):
        if refused and entrance != "file":
            operand = Operand(operand.given, None, operand.what)
        truth = operand.truth if operand.truth is not None and operand.truth.ndim == order else np.ones((4, 5, 2)[:order])
        others, expected = self.others(order, truth)
        try:
            found, wanted = getattr(self, entrance.replace(" ", "_"))(operand, order, format, others, expected)
        except schaas.Error as error:
            return None if refused else f"refused: {error}"
        if refused and entrance != "file":
            return f"taken, but it must be refused: {found}"
        if refused:
            return None if operand.truth is not None else f"written, but it must be refused: {found}"
        return None if matches(found, wanted) else f"{found}, expected {wanted}"

    def call(self, operand, order, format, others, expected):
        return kernel(order, format)(P=operand.given, **others), expected(operand.truth) if operand.truth is not None else None

    def call_to_out(self, operand, order, format, others, expected):
        size = 4 if order == 0 else len(next(iter(others.values()))) if order == 1 else operand_rows(operand)
        wants = np.zeros(size)
        given = operand.given.detach() if getattr(operand.given, "requires_grad", False) else operand.given
        if self.chance(0.5) and isinstance(given, np.ndarray) and given.dtype == np.float64 and given.flags.c_contiguous \
                and given.flags.writeable and given.flags.aligned and type(given) is np.ndarray and given.dtype.isnative and given.size >= size:
            wants = given.reshape(-1)[:size]  # overlaps
        value = None if operand.truth is None else expected(operand.truth)
        for dtype in (np.float64, np.float32):
            out = wants if dtype == np.float64 else wants.astype(dtype)
            try:
                return kernel(order, format)(P=given, **others, out=out), value
            except schaas.Invalid as error:
                if error.code != "out" or dtype == np.float32:
                    raise

    def bind(self, operand, order, format, others, expected):
        step = kernel(order, format).bind(P=operand.given, **others)
        found = dense_of(step())
        if operand.truth is None or not matches(found, expected(operand.truth)):
            return found, None if operand.truth is None else expected(operand.truth)
        truth = operand.truth if operand.change is None else operand.change()
        return step(), expected(truth)

    def einsum(self, operand, order, format, others, expected):
        given = [operand.given, *others.values()] if order != 1 else [*others.values(), operand.given]
        return schaas.einsum(SUBSCRIPTS[order], *given), expected(operand.truth) if operand.truth is not None else None

    def file(self, operand, order, format, others, expected):
        with tempfile.TemporaryDirectory() as folder:
            ending = self.one_of((".npy", ".mtx")) if operand.truth is not None and operand.truth.ndim == 2 else ".npy"
            path = pathlib.Path(folder) / ("x" + ending)
            schaas.write(path, operand.given)
            return schaas.read(path), operand.truth

    def c(self, operand, order, format, others, expected):
        """Through the C interface: pack or convert, then compute."""
        found = kernel(order, format)
        given = [operand.given if name == "P" else others[name] for name in found.operands]
        formats = [found._formats.get(name) for name in found.operands]

        def compute(views):  # the library itself compares the orders
            views, values, index = found._of_one_type(views)
            kernels = found._set(views, values, index)
            frame = Frame(found.operands, views)
            frame.fill(views, None, 1)
            frame.set_progress(0)  # waits for the first kernel, as C programs do by default
            return library.handle_from(library.api.schaas_compute, kernels.handle, frame.operands, frame.count, frame.options)
        handle = in_order(compute, found.operands, list(map(view_of, found.operands, given, formats)), formats, 0.0)
        return np.asarray(schaas.Tensor(handle)), expected(operand.truth) if operand.truth is not None else None


def operand_rows(operand):
    return operand.truth.shape[0] if operand.truth is not None and operand.truth.ndim else 4


def summed_up(given):
    """The elements of a matrix in arrays, repeated entries added up as scipy does (booleans: or)."""
    entries = sp.coo_matrix(given.shape) if 0 in given.shape else None
    if given.format in ("csr", "csc"):
        count = given.indptr[-1]
        outer = np.repeat(np.arange(len(given.indptr) - 1), np.diff(given.indptr))
        places = (outer, given.indices[:count]) if given.format == "csr" else (given.indices[:count], outer)
        values = given.data[:count]
    else:
        entries = given.tocoo() if given.format != "coo" else given
        places, values = (entries.row, entries.col), entries.data
    truth = np.zeros(given.shape)
    np.add.at(truth, places, values.astype(float))
    return truth.astype(bool).astype(float) if values.dtype.kind == "b" else truth


def dense_of(found):
    if isinstance(found, np.generic) or isinstance(found, np.ndarray):
        return np.array(found)
    if hasattr(found, "detach"):
        return np.array(found.detach().to_dense().numpy())
    return np.array(found.toarray() if hasattr(found, "toarray") else found)


def matches(found, wanted):
    found = dense_of(found)
    return found.shape == np.shape(wanted) and np.allclose(found, wanted, rtol=1e-5, equal_nan=True)


class RandomOperands(unittest.TestCase):
    def test_agree_with_numpy_or_are_refused(self):
        print(f"seed {SEED}, {DRAWS} draws")
        only = os.environ.get("SCHAAS_DRAW")
        faults, kinds = [], collections.Counter()
        for number in range(DRAWS) if only is None else [int(only)]:
            what, fault = Draw(number).run()
            kinds[what.split()[0]] += 1
            if fault:
                faults.append(f"draw {number}: {what}: {' '.join(fault.split())}"[:400])
        print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
        self.assertEqual(len(faults), 0, "\n" + "\n".join(faults[:40]))


if __name__ == "__main__":
    with_server.main()
