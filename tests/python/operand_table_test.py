"""The table of operands in docs/python.md: each of its rows is tried at every entrance, and is as it says (in place, copied, refused)."""

import pathlib
import re
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
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import sparse
except ImportError:
    sparse = None

with_server.daemon()
import schaas
from schaas._operands import view_of

MATRIX = sp.csr_matrix(np.array([[1.0, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 1]]))
DENSE = MATRIX.toarray()
X = np.arange(1.0, 5)
PRODUCT = schaas.kernel("y(i) = B(i,j) * x(j)")
SCALED = schaas.kernel("y(i) = s * x(i)")
IN_PLACE, COPIED = "in place", "copied"


class Row:
    """Objects that a row of the table is about: (object, the array whose memory is read or None, "in place", "copied" or a code)."""

    def __init__(self, *cases, scalar=False):
        self.cases, self.scalar = cases, scalar


def in_place(*arrays):
    return Row(*((array, array, IN_PLACE) for array in arrays))


def copied(*objects, scalar=False):
    return Row(*((given, None, COPIED) for given in objects), scalar=scalar)


def refused(code, *objects):
    return Row(*((given, None, code) for given in objects))


class Protocol:
    """An object with one protocol of an array."""

    def __init__(self, name, array):
        self.array = array
        setattr(type(self), name, property(lambda own: getattr(own.array, name)) if name.endswith("interface__")
                else lambda own, *given, **options: getattr(own.array, name)(*given, **options))


def protocol(name, *more):
    kind = type("Own", (Protocol,), {})
    for one in more:
        setattr(kind, one, lambda own: getattr(own.array, one)())
    return kind(name, DENSE.copy())


def numpy_rows():
    readonly = DENSE.copy()
    readonly.setflags(write=False)
    mapped = np.memmap(tempfile.TemporaryFile(), float, "w+", shape=DENSE.shape)
    mapped[...] = DENSE
    masked = np.ma.masked_array(DENSE, mask=False)
    interface, exchanged = protocol("__array_interface__"), protocol("__dlpack__", "__dlpack_device__")
    return {
        "numpy array, f64 or f32, row major": in_place(DENSE.copy(), DENSE.astype("f4")),
        "numpy array of another layout, big-endian, bool, integers, float16, longdouble": Row(
            *((array, None, COPIED) for array in (np.asfortranarray(DENSE), DENSE[::-1, ::-1][::-1, ::-1].T.copy().T, DENSE.astype(">f8"),
                                                  DENSE.astype("f2"), DENSE.astype("g"), *(DENSE.astype(f"{kind}{size}") for kind in "iu"
                                                                                            for size in (1, 2, 4, 8)))),
            (DENSE.astype("i8") * 2**60, None, COPIED), (DENSE.astype("i8") + 2**53, None, "value-type"),
            (DENSE.astype("u8") + np.uint64(2**53), None, "value-type")),
        "`np.matrix`, `np.memmap`, read-only arrays, views": in_place(np.matrix(DENSE), mapped, readonly, DENSE.copy()[:]),
        "masked array": Row((masked, masked.data, IN_PLACE), (np.ma.masked_equal(DENSE, 3), None, "masked")),
        "structured, object, string, date arrays": refused(
            "value-type", np.zeros(DENSE.shape, [("a", float)]), DENSE.astype(object), DENSE.astype(str),
            DENSE.astype("i8").astype("M8[s]"), DENSE.astype("i8").astype("m8[s]")),
        "`__array_interface__`, DLPack, buffers": Row((interface, interface.array, IN_PLACE), (exchanged, exchanged.array, IN_PLACE),
                                                     (memoryview(DENSE), DENSE, IN_PLACE)),
        "`__array__`, lists, tuples of numbers": copied(protocol("__array__"), DENSE.tolist(), tuple(map(tuple, DENSE.tolist())),
                                                       DENSE.astype(int).tolist()),
        "Python and numpy numbers, 0-d arrays": copied(2, 2.0, True, np.float32(2), np.int8(2), np.bool_(True), np.array(2), scalar=True),
        "None, text, paths, anything else": refused("value-type", None, "B.mtx", b"B", pathlib.Path("B.mtx"), object(), {1: 2}, {3}, type,
                                                    [[1, None]]),
    }


def scipy_rows():
    unsorted = sp.coo_matrix((MATRIX.data[::-1], tuple(one[::-1] for one in MATRIX.nonzero())), MATRIX.shape)
    native = [getattr(sp, kind + suffix)(MATRIX) for kind in ("csr", "csc", "coo") for suffix in ("_matrix", "_array")]
    others = [getattr(sp, kind + suffix)(MATRIX) for kind in ("bsr", "lil", "dok", "dia") for suffix in ("_matrix", "_array")]
    native = [one.tocsr().tocoo() if one.format == "coo" else one for one in native]
    return {"scipy csr, csc, coo (matrices, arrays)": Row(*((one, one.data, IN_PLACE) for one in native), (unsorted, None, IN_PLACE)),
            "scipy bsr, lil, dok, dia": copied(*others)}


def torch_rows():
    full = torch.from_numpy(DENSE.copy())
    entries = full.to_sparse()
    twice = torch.sparse_coo_tensor(torch.cat([entries.indices()] * 2, 1), torch.cat([entries.values() / 2] * 2), full.shape)
    even = torch.zeros(4, 4, dtype=torch.float64)
    return {
        "torch strided, sparse_coo (coalesced), sparse_csr, sparse_csc": Row(
            (full, full.numpy(), IN_PLACE), *((one, one.values().numpy(), IN_PLACE) for one in (entries, full.to_sparse_csr(), full.to_sparse_csc())),
            (full.float().requires_grad_(), None, IN_PLACE)),
        "torch sparse_coo that is not coalesced, sparse_bsr, sparse_bsc, bfloat16, half, a negative view": copied(
            twice, full.to_sparse_bsr((1, 2)), full.to_sparse_bsc((1, 2)), full.bfloat16(), full.half(), torch.complex(full, -full).conj().imag),
        "torch hybrid, batched, quantized, nested": refused(
            "torch-layout", torch.sparse_coo_tensor([[0, 2]], torch.ones(2, 4), (3, 4)), torch.stack([even, even]).to_sparse_csr(),
            torch.quantize_per_tensor(full.float(), 1.0, 0, torch.qint8)),
        "torch meta": refused("no-data", full.to("meta"))}


def pydata_rows():
    entries = sparse.COO.from_numpy(DENSE)
    return {"pydata/sparse COO, GCXS, DOK": copied(entries, sparse.GCXS.from_coo(entries), sparse.DOK.from_coo(entries), entries + 2.0,
                                                   sparse.full(DENSE.shape, 3.0))}


def tensor_rows():
    stored = [schaas.tensor(np.array(MATRIX.nonzero()), MATRIX.data, MATRIX.shape, format) for format in (None, "coo", "dcsr", "banded", "dense")]
    return {"`schaas.Tensor` (`schaas.tensor`, `schaas.read`)": Row(*((one, one.values, IN_PLACE) for one in stored))}


#: rows that other tests try: a GPU or a newer scipy is needed
ELSEWHERE = {"CuPy arrays and sparse matrices, torch tensors on a GPU, numba's and JAX's arrays": "operands_test.py, gpu tests",
             "scipy coo arrays of other orders": "OtherOrders below, where scipy has them"}


def elements_of(given):
    """The elements of an object, as its own package tells them."""
    if sparse is not None and isinstance(given, sparse.SparseArray):
        return given.todense()
    if isinstance(given, Protocol):
        return given.array
    if torch is not None and isinstance(given, torch.Tensor):
        return (given.detach().to_dense().double() + 0).numpy()
    return np.asarray(given.toarray() if hasattr(given, "toarray") else given, float)


def all_rows():
    rows = {**numpy_rows(), **scipy_rows(), **tensor_rows()}
    return {**rows, **(torch_rows() if torch else {}), **(pydata_rows() if sparse else {})}


def entrances(given, scalar):
    """(name, result, expected) of each, made when it is asked for."""
    def written():
        with tempfile.TemporaryDirectory() as folder:
            schaas.write(pathlib.Path(folder) / "b.npy", given)
            return schaas.read(pathlib.Path(folder) / "b.npy")
    step, subscripts = (SCALED, ",i->i") if scalar else (PRODUCT, "ij,j->i")
    operand = {"s" if scalar else "B": given}

    def product(elements):
        return elements * X if scalar else elements @ X
    yield "call", lambda: step(**operand, x=X), product
    yield "bind", lambda: step.bind(**operand, x=X)(), product
    yield "einsum", lambda: schaas.einsum(subscripts, given, X), product
    if not scalar:
        yield "write", written, lambda elements: elements


class Table(unittest.TestCase):
    def test_has_the_rows_that_are_tried(self):
        text = (with_server.ROOT / "docs/python.md").read_text().split("## Operands")[1].split("## ")[0]
        described = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)
        described = {row.strip() for row in described} - {"given", "---"}
        tried = {**all_rows(), **ELSEWHERE}
        missing = {row for row in described - set(tried) if not (torch is None and "torch" in row or sparse is None and "pydata" in row)}
        self.assertEqual((missing, set(tried) - described), (set(), set()))

    def test_is_true(self):
        warnings.simplefilter("ignore")
        for name, row in all_rows().items():
            for given, memory, outcome in row.cases:
                for entrance, work, expected in entrances(given, row.scalar):
                    with self.subTest(row=name, entrance=entrance, given=type(given).__name__, outcome=outcome):
                        if outcome not in (IN_PLACE, COPIED):
                            with self.assertRaises(schaas.Error) as raised:
                                work()
                            if (raised.exception.code, entrance) != ("operand-rank", "einsum"):  # a batch has another order, too
                                self.assertEqual(raised.exception.code, outcome)
                        else:
                            found = work()
                            np.testing.assert_allclose(elements_of(found), expected(elements_of(given)), rtol=1e-6)
                if memory is not None or outcome == COPIED:
                    with self.subTest(row=name, given=type(given).__name__):
                        view = view_of("B", given, None)
                        shared = np.shares_memory(view.values, given if memory is None else memory) \
                            if memory is not None or isinstance(given, np.ndarray) else False
                        self.assertEqual(shared, outcome == IN_PLACE)

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_nested_tensors_of_torch_are_refused(self):
        if not hasattr(torch, "nested_tensor") and not hasattr(torch, "nested"):
            self.skipTest("this torch has none")
        warnings.simplefilter("ignore")
        make = torch.nested.nested_tensor if hasattr(torch, "nested") and hasattr(torch.nested, "nested_tensor") else torch.nested_tensor
        with self.assertRaises(schaas.Unsupported) as raised:
            PRODUCT(B=make([torch.ones(2), torch.ones(3)]), x=X)
        self.assertEqual(raised.exception.code, "torch-layout")


class OtherOrders(unittest.TestCase):
    def test_are_taken_from_scipy(self):
        try:
            vector, cube = sp.coo_array(np.array([0, 2.0, 0, 3])), sp.coo_array(np.arange(24.0).reshape(2, 3, 4) % 5)
        except (ValueError, TypeError):
            self.skipTest("this scipy has matrices alone")
        np.testing.assert_allclose(schaas.einsum("ij,j->i", DENSE, vector), DENSE @ vector.toarray())
        np.testing.assert_allclose(schaas.einsum("ijk,k->ij", cube, X), cube.toarray() @ X)


class SemiringsZero(unittest.TestCase):
    """Elements that are not stored are the zero of the semiring, whatever the type of an operand and its format."""

    def holders(self, full, zero):
        """The same matrix as objects of many types; stored are elements that are not `zero`, numbers 0 among them."""
        rows, columns = np.nonzero(full != zero)
        values = full[rows, columns]
        entries = sp.coo_matrix((values, (rows, columns)), full.shape)
        csr = sp.csr_matrix(full.shape)
        csr.indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=len(full)))).astype(np.int32)
        csr.indices, csr.data = columns.astype(np.int32), values
        tensor = schaas.tensor(np.array([rows, columns]), values, full.shape, "dcsr", fill=zero)
        holders = {"numpy": full, "list": full.tolist(), "coo": entries, "csr": csr, "csc": csr.tocsc(), "dok": entries.todok(),
                   "lil": csr.tolil(), "Tensor": tensor}
        if torch is not None:
            index = torch.from_numpy(np.array([rows, columns]))
            holders["torch coo"] = torch.sparse_coo_tensor(index, torch.from_numpy(values), full.shape)
            holders["torch csr"] = torch.sparse_csr_tensor(*map(torch.from_numpy, (csr.indptr, csr.indices, csr.data)), full.shape)
        if sparse is not None:
            holders["pydata"] = sparse.COO(np.array([rows, columns]), values, full.shape, fill_value=zero)
        return holders

    def test_is_what_is_not_stored(self):
        warnings.simplefilter("ignore")
        absent = np.random.default_rng(3).random((5, 4)) < 0.5
        numbers = np.random.default_rng(4).integers(-3, 4, (5, 4)).astype(float)
        x = np.array([1.0, 0, 2, -1])
        for name, zero, product in (("min-plus", np.inf, lambda b: (b + x).min(1)), ("max-plus", -np.inf, lambda b: (b + x).max(1)),
                                    ("max-min", -np.inf, lambda b: np.minimum(b, x).max(1)),
                                    ("min-max", np.inf, lambda b: np.maximum(b, x).min(1))):
            full = np.where(absent, zero, numbers)
            for format in (None, "dense", "dense:1,0", "csc", "bitmap", "banded", "hashed") if name == "min-plus" else ("banded", "dense"):
                step = schaas.kernel(f"{name}: y(i) = B(i,j) * x(j)", **({} if format is None else {"B": format}))
                for holder, given in self.holders(full, zero).items():
                    with self.subTest(semiring=name, format=format, given=holder):
                        np.testing.assert_array_equal(elements_of(step(B=given, x=x)), product(full))
                        np.testing.assert_array_equal(elements_of(step.bind(B=given, x=x)()), product(full))

    def test_must_be_the_fill_value(self):
        closer = schaas.kernel("min-plus: R(i,k) = B(i,j) * C(j,k)")
        d = np.array([[0.0, 3, np.inf], [np.inf, 0, 1], [2, np.inf, 0]])
        stored = schaas.tensor(np.nonzero(np.isfinite(d)), d[np.isfinite(d)], (3, 3), fill=np.inf)
        expected = (d[:, :, None] + d[None]).min(1)
        np.testing.assert_array_equal(closer(B=stored, C=d), expected)
        with self.assertRaises(schaas.Invalid) as raised:
            schaas.kernel("R(i,k) = B(i,j) * C(j,k)")(B=stored, C=d)
        self.assertEqual(raised.exception.code, "fill-value")
        for padded in (sp.bsr_matrix(np.eye(4), blocksize=(2, 2)), sp.eye(4).todia()):  # which zeros are entries?
            with self.assertRaises(schaas.Invalid) as raised:
                closer(B=padded, C=np.eye(4))
            self.assertEqual(raised.exception.code, "fill-value")
        if sparse is None:
            return
        filled = sparse.COO(np.array(np.nonzero(np.isfinite(d))), d[np.isfinite(d)], (3, 3), fill_value=np.inf)
        np.testing.assert_array_equal(closer(B=filled, C=d), expected)
        with self.assertRaises(schaas.Invalid) as raised:
            closer(B=sparse.COO.from_numpy(np.eye(3)), C=d)
        self.assertEqual(raised.exception.code, "fill-value")


if __name__ == "__main__":
    with_server.main()
