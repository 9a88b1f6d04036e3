"""Operands of every kind, in place where that can be, converted or refused where not."""

import sys
import types
import unittest
import unittest.mock

import with_server
import numpy as np
import scipy.sparse as sp

try:
    import torch
except ImportError:
    torch = None

with_server.daemon()
import schaas
from schaas._operands import view_of

SEED = 4711
PRODUCT = schaas.kernel("y(i) = B(i,j) * x(j)")


def setUpModule():
    print(f"seed {SEED}")


def address(array):
    return array.__array_interface__["data"][0]


class Pointers(unittest.TestCase):
    """What a kernel reads are the arrays that were given: the same addresses."""

    def test_compressed_matrices(self):
        for kind in ("csr", "csc"):
            for index in (np.int32, np.int64):
                b = sp.random(9, 7, 0.3, format=kind, random_state=SEED)
                b.indices, b.indptr = b.indices.astype(index), b.indptr.astype(index)
                view = view_of("B", b, None)
                _, positions, coordinates, stored = view.levels[1]
                self.assertEqual((address(positions), address(coordinates), address(view.values), stored),
                                 (address(b.indptr), address(b.indices), address(b.data), b.nnz))
                self.assertEqual(view.format, kind)

    def test_coordinates(self):
        b = sp.random(9, 7, 0.3, format="coo", random_state=SEED)
        view = view_of("B", b, None)
        self.assertEqual((address(view.levels[0][2]), address(view.levels[1][2]), address(view.values)),
                         (address(b.row), address(b.col), address(b.data)))

    def test_dense_arrays_and_what_looks_like_them(self):
        array = np.arange(6.0).reshape(2, 3)

        class Interface:
            __array_interface__ = array.__array_interface__

        class Exchanged:
            def __dlpack__(self, stream=None):
                return array.__dlpack__()

            def __dlpack_device__(self):
                return array.__dlpack_device__()

        for given in (array, Interface(), Exchanged(), memoryview(array)):
            self.assertEqual(address(view_of("C", given, None).values), address(array))

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_torch(self):
        b = torch.eye(3, dtype=torch.float64)
        for given, values in ((b, b), (b.to_sparse().coalesce(), None), (b.to_sparse_csr(), None), (b.to_sparse_csc(), None)):
            values = given.values() if values is None else values
            self.assertEqual(address(view_of("B", given, None).values), values.data_ptr())
        self.assertEqual(address(view_of("B", b.t()[:, 1:], "dense:1,0").values), b[1:].data_ptr())

    def test_results_are_not_copied(self):
        b = sp.random(9, 7, 0.3, format="csr", random_state=SEED)
        step = schaas.kernel("A(i,j) = 2 * B(i,j)", A="csr")
        made = step(B=b)
        owner = made.data.base
        while getattr(owner, "base", None) is not None:
            owner = owner.base
        self.assertEqual(type(getattr(owner, "owner", owner)), schaas.Tensor)
        np.testing.assert_array_equal(made.toarray(), 2 * b.toarray())


class OnAGpu(unittest.TestCase):
    """What CuPy and torch hold on a GPU is copied to memory, and results to the GPU. They are stood in for: neither is needed here."""

    def setUp(self):
        class Array:  # what the package asks of a cupy.ndarray
            __cuda_array_interface__ = {}

            def __init__(self, array):
                self.array = np.array(array)

            def get(self):
                return self.array.copy()

        class Matrix:  # of a cupyx.scipy.sparse matrix
            format = "csr"

            def __init__(self, matrix):
                self.matrix = matrix.copy()

            def tocsr(self):
                raise AssertionError("converted on the GPU")

            def get(self):
                return self.matrix.copy()

        Array.__module__, Matrix.__module__ = "cupy", "cupyx.scipy.sparse._csr"
        self.array, self.matrix = Array, Matrix
        cupy, sparse = types.ModuleType("cupy"), types.ModuleType("cupyx.scipy.sparse")
        cupy.asarray, sparse.csr_matrix = Array, Matrix
        modules = {"cupy": cupy, "cupyx": types.ModuleType("cupyx"), "cupyx.scipy": types.ModuleType("cupyx.scipy"),
                   "cupyx.scipy.sparse": sparse}
        modules["cupyx"].scipy = modules["cupyx.scipy"]
        modules["cupyx.scipy"].sparse = sparse
        self.enterContext(unittest.mock.patch.dict(sys.modules, modules))
        self.b = sp.random(9, 7, 0.4, format="csr", random_state=SEED)
        self.x = np.random.default_rng(SEED).random(7)

    def test_arrays_and_matrices(self):
        for again in range(3):
            self.x[0] += again
            y = PRODUCT(B=self.matrix(self.b), x=self.array(self.x))
            self.assertIs(type(y), self.array)
            np.testing.assert_allclose(y.array, self.b @ self.x)
        twice = schaas.kernel("A(i,j) = 2 * B(i,j)", A="csr")(B=self.matrix(self.b))
        self.assertIs(type(twice), self.matrix)
        np.testing.assert_array_equal(twice.matrix.toarray(), 2 * self.b.toarray())

    def test_beside_arrays_in_memory(self):
        y = PRODUCT(B=self.b, x=self.array(self.x))
        self.assertIs(type(y), self.array)
        np.testing.assert_allclose(y.array, self.b @ self.x)
        self.assertIs(type(PRODUCT(B=self.b, x=self.x)), np.ndarray)

    def test_torch(self):
        class Tensor:
            layout, dtype, requires_grad, is_quantized = "torch.strided", "torch.float64", False, False

            def __init__(self, array, device):
                self.array, self.device, self.shape = array, device, array.shape

            def cpu(self):
                return Tensor(self.array, "cpu")

            def to(self, device):
                return Tensor(self.array, device)

            def detach(self):
                return self

            def numpy(self):
                return self.array

            def is_complex(self):
                return False

            is_floating_point = is_neg = is_complex

        torch = types.ModuleType("torch")
        torch.Tensor, torch.float64, torch.float32 = Tensor, "torch.float64", "torch.float32"
        torch.from_numpy = lambda array: Tensor(array, "cpu")
        with unittest.mock.patch.dict(sys.modules, {"torch": torch}):
            y = PRODUCT(B=self.b, x=Tensor(self.x, "cuda:0"))
        self.assertEqual((type(y), y.device), (Tensor, "cuda:0"))
        np.testing.assert_allclose(y.array, self.b @ self.x)

    def test_what_is_read_where_it_lies_is_refused(self):
        with self.assertRaises(schaas.Unsupported) as raised:
            PRODUCT.bind(B=self.b, x=self.array(self.x))
        self.assertEqual(raised.exception.message, "`x` is on a GPU, but not such that it is read where it lies (docs/gpu.md): copy it with "
                                                   "`.get()`, `.cpu()` or `cupy.asnumpy`")


class Values(unittest.TestCase):
    def setUp(self):
        self.b = sp.random(9, 7, 0.4, format="csr", random_state=SEED)
        self.x = np.random.default_rng(SEED).random(7)
        self.expected = self.b @ self.x

    def check(self, b, x, tolerance=1e-13):
        found = PRODUCT(B=b, x=x)
        np.testing.assert_allclose(found, self.expected, rtol=tolerance)
        return found

    def test_formats(self):
        for kind in ("csc", "coo", "bsr", "lil", "dok", "dia"):
            self.check(self.b.asformat(kind), self.x)
        self.check(self.b.toarray(), self.x)

    def test_number_types(self):
        self.assertEqual(self.check(self.b.astype(np.float32), self.x, 1e-5).dtype, np.float64)
        single = self.check(self.b.astype(np.float32), self.x.astype(np.float32), 1e-5)
        self.assertEqual(single.dtype, np.float32)
        counts = sp.csr_matrix((np.ones(self.b.nnz, np.int8), self.b.indices, self.b.indptr), self.b.shape)
        np.testing.assert_allclose(PRODUCT(B=counts, x=np.arange(7)), counts @ np.arange(7))
        np.testing.assert_allclose(PRODUCT(B=self.b.astype(">f8"), x=self.x.astype(">f8")), self.expected, rtol=1e-13)

    def test_index_widths(self):
        b = self.b.copy()
        b.indices, b.indptr = b.indices.astype(np.int64), b.indptr.astype(np.int64)
        self.check(b, self.x)
        b.indptr = b.indptr.astype(np.int32)  # mixed
        self.check(b, self.x)

    def test_arrays_that_are_not_contiguous(self):
        wide = np.zeros((7, 3))
        wide[:, 1] = self.x
        self.check(self.b, wide[:, 1])
        self.check(np.asfortranarray(self.b.toarray()), self.x)
        self.check(self.b.toarray()[::-1][::-1], self.x)
        self.check(self.b, list(self.x))

    def test_unsorted_and_repeated_entries_add_up_as_scipys_do(self):
        rows, columns, values = [0, 0, 0, 1, 2, 2], [3, 1, 3, 6, 5, 0], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
        expected = np.array([2 * self.x[1] + 5 * self.x[3], 8 * self.x[6], 16 * self.x[5] + 32 * self.x[0]])
        entries = sp.coo_matrix((values, (rows, columns)), shape=(3, 7))
        np.testing.assert_allclose(PRODUCT(B=entries, x=self.x), expected, rtol=1e-13)
        csr = sp.csr_matrix((values, columns, [0, 3, 4, 6]), shape=(3, 7))
        kept = csr.indices.copy()
        np.testing.assert_allclose(PRODUCT(B=csr, x=self.x), expected, rtol=1e-13)
        np.testing.assert_array_equal(csr.indices, kept)  # what the user gave stays as it is
        np.testing.assert_allclose(PRODUCT.bind(B=csr, x=self.x)(), expected, rtol=1e-13)

    def test_what_is_converted_at_each_call_shows_changes_in_place(self):
        square = sp.random(8, 8, 0.5, format="csr", random_state=SEED)
        unsorted = sp.coo_matrix(square)
        order = np.random.default_rng(SEED).permutation(unsorted.nnz)
        unsorted = sp.coo_matrix((unsorted.data[order], (unsorted.row[order], unsorted.col[order])), shape=(8, 8))
        x = np.random.default_rng(SEED).random(8)
        for given in (unsorted, square.todia(), square.tobsr((2, 2)), square.tobsr((1, 1))):
            arrays = {"coo": ("data", "row", "col"), "dia": ("data", "offsets"), "bsr": ("data", "indices")}[given.format]
            for name in arrays:
                array = getattr(given, name).reshape(-1)
                for place in range(array.size):
                    for _ in range(3):  # the third call finds the conversion of the second
                        np.testing.assert_allclose(PRODUCT(B=given, x=x), given.toarray() @ x, rtol=1e-12, err_msg=f"{given.format}.{name}")
                    before = array[place]
                    array[place] = 2 * before if name == "data" else 0 if before else 1
                    np.testing.assert_allclose(PRODUCT(B=given, x=x), given.toarray() @ x, rtol=1e-12, err_msg=f"{given.format}.{name}")
                    array[place] = before

    def test_bound_computations_and_calls_share_no_conversion(self):
        square = sp.random(8, 8, 0.5, format="csr", random_state=SEED)
        x = np.random.default_rng(SEED).random(8)
        for bound, called in ((square.todia(), square.todia()), (square.tobsr((2, 2)), square.tobsr((2, 2)))):
            run = PRODUCT.bind(B=bound, x=x)
            bound.data *= 2
            for _ in range(2):
                np.testing.assert_allclose(run(), 2 * (square @ x), rtol=1e-12)
                np.testing.assert_allclose(PRODUCT(B=called, x=x), square @ x, rtol=1e-12)

    def test_unsorted_entries_are_sorted_at_every_entrance(self):
        entries = sp.csr_matrix(([1.0, 2.0, 4.0], [3, 1, 3], [0, 3]), shape=(1, 7))
        entries.has_sorted_indices = entries.has_canonical_format = True  # not so
        expected = [2 * self.x[1] + 5 * self.x[3]]
        for given in (entries, entries.copy().tocoo()):
            given.has_canonical_format = True
            for format in (None, "csc", "dcsr", "dense"):
                step = schaas.kernel("y(i) = B(i,j) * x(j)", **({} if format is None else {"B": format}))
                np.testing.assert_allclose(step(B=given, x=self.x), expected)
                np.testing.assert_allclose(step.bind(B=given, x=self.x)(), expected)
                self.assertTrue(step.tune(B=given, x=self.x))
                self.assertTrue(step.frontier_at(B=given, x=self.x).here)

    def test_coordinates_out_of_range_are_refused(self):
        b = self.b.copy()
        b.indices[4] = 7
        with self.assertRaises(ValueError) as raised:
            PRODUCT(B=b, x=self.x)
        self.assertEqual(str(raised.exception), "invalid [tensor-structure]: `B` level 2: coordinate 7 at position 4 is outside 0..6")
        b.indices[4] = -1
        with self.assertRaises(ValueError) as raised:
            PRODUCT(B=b, x=self.x)
        self.assertEqual(raised.exception.message, "`B` level 2: coordinate -1 at position 4 is outside 0..6")
        b = self.b.copy()
        b.indptr[3] = b.indptr[2] - 1
        with self.assertRaises(ValueError) as raised:
            PRODUCT(B=b, x=self.x)
        self.assertEqual(raised.exception.code, "tensor-structure")
        b = self.b.copy()
        b.indptr[-1] += 5
        with self.assertRaises(ValueError) as raised:
            PRODUCT(B=b, x=self.x)
        self.assertEqual(raised.exception.message, f"`B` has {b.indices.size} indices and {b.data.size} values, but its row pointers "
                                                   f"end at {b.indices.size + 5}")

    def test_nan_and_infinity_are_values(self):
        b = self.b.copy()
        b.data[0] = np.nan
        b.data[-1] = np.inf
        np.testing.assert_array_equal(np.isnan(PRODUCT(B=b, x=self.x)), np.isnan(b @ self.x))

    def test_empty_tensors(self):
        np.testing.assert_array_equal(PRODUCT(B=sp.csr_matrix((9, 7)), x=self.x), np.zeros(9))
        self.assertEqual(PRODUCT(B=sp.csr_matrix((0, 7)), x=self.x).shape, (0,))
        odd = np.frombuffer(bytes(9), np.float64, 0, 1)  # no element lies at its odd address
        np.testing.assert_array_equal(PRODUCT(B=np.empty((9, 0)), x=odd), np.zeros(9))
        np.testing.assert_array_equal(PRODUCT(B=odd.reshape(9, 0), x=odd), np.zeros(9))
        np.testing.assert_array_equal(PRODUCT(B=sp.csr_matrix((9, 0)), x=np.empty(0)), np.zeros(9))

    def test_orders_above_two(self):
        coords, values = [[0, 2, 2, 1], [1, 0, 0, 3], [4, 2, 2, 0]], [1.0, 2.0, 3.0, 4.0]
        t = schaas.tensor(coords, values, (3, 4, 5))
        self.assertEqual((t.shape, t.nnz, t.dtype), ((3, 4, 5), 3, np.float64))
        dense = np.zeros((3, 4, 5))
        np.add.at(dense, tuple(map(np.array, coords)), values)
        np.testing.assert_array_equal(np.asarray(t), dense)
        c, d = np.random.default_rng(SEED).random((4, 2)), np.random.default_rng(SEED + 1).random((5, 2))
        mttkrp = schaas.kernel("A(i,r) = T(i,j,k) * C(j,r) * D(k,r)")
        np.testing.assert_allclose(mttkrp(T=t, C=c, D=d), np.einsum("ijk,jr,kr->ir", dense, c, d), rtol=1e-13)


class Rank(unittest.TestCase):
    """Orders are compared with the expression before anything is read, also after good calls of every kind."""

    def setUp(self):
        self.b, self.x = sp.random(5, 5, 0.5, format="csr", random_state=SEED), np.arange(5.0)

    def refused(self, message, **operands):
        for enter in (PRODUCT, PRODUCT.bind, PRODUCT.frontier_at, PRODUCT.tune):
            with self.assertRaises(schaas.Invalid) as raised:
                enter(**operands)
            self.assertEqual((raised.exception.code, raised.exception.message), ("operand-rank", message))

    def test_is_checked_after_calls_of_other_orders(self):
        earlier = [{}, {"out": np.empty(5)}]
        for options in earlier:
            for x in (self.x, self.x.astype(int), list(self.x)):
                PRODUCT(B=self.b, x=x, **options)
                PRODUCT(B=self.b.toarray(), x=x, **options)
                for wrong in (3.0, 3, np.array(3.0)):
                    self.refused("`x` has shape (), the expression has `x(j)`", B=self.b, x=wrong)
                self.refused("`x` has shape (5, 1), the expression has `x(j)`", B=self.b, x=self.x.reshape(5, 1))
                self.refused("`B` has shape (5,), the expression has `B(i,j)`", B=np.ones(5), x=self.x)
        tensor = schaas.tensor([[0], [0], [0]], [1.0], (5, 5, 5))
        self.refused("`B` has shape (5, 5, 5), the expression has `B(i,j)`", B=tensor, x=self.x)
        with self.assertRaises(schaas.Invalid) as raised:
            schaas.kernel("y(i) = s * x(i)")(s=[1.0], x=self.x)
        self.assertEqual(raised.exception.message, "`s` has shape (1,), the expression has `s`")

    def test_is_checked_after_many_shapes(self):
        for n in (3, 4, 5, 6, 7, 8):
            PRODUCT(B=np.ones((n, n)), x=np.ones(n))
        self.refused("`B` has shape (7,), the expression has `B(i,j)`", B=np.ones(7), x=np.ones(7))


class Overlap(unittest.TestCase):
    """`out` that shares memory with an operand gets what it would without."""

    def setUp(self):
        self.random = np.random.default_rng(SEED)
        self.b = sp.random(50, 50, 0.3, format="csr", random_state=SEED)

    def test_with_a_dense_operand_is_harmless(self):
        for bound in (False, True):
            for shift in (0, 1, 10, 50):
                both = self.random.random(100)
                x, out = both[:50], both[shift:shift + 50]
                expected = self.b @ x
                if bound:
                    PRODUCT.bind(B=self.b, x=x, out=out)()
                else:
                    self.assertIs(PRODUCT(B=self.b, x=x, out=out), out)
                np.testing.assert_allclose(out, expected, rtol=1e-13)

    def test_iterates_over_repeated_runs(self):
        x = self.random.random(50)
        expected = self.b @ (self.b @ x)
        step = PRODUCT.bind(B=self.b, x=x, out=x)
        step()
        self.assertIs(step(), x)
        np.testing.assert_allclose(x, expected, rtol=1e-12)

    def test_with_the_values_of_a_sparse_operand(self):
        twice = schaas.kernel("y(i,j) = 2 * B(i,j)")
        for kind in ("csr", "csc", "coo"):
            b = sp.csr_matrix(self.random.random((5, 5))).asformat(kind)
            expected, out = 2 * b.toarray(), b.data.reshape(5, 5)
            twice(B=b, out=out)
            np.testing.assert_array_equal(out, expected)

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_with_a_tensor_of_torch(self):
        both = torch.from_numpy(self.random.random(100))
        for shift in (0, 7):
            expected = self.b @ both[:50].numpy()
            PRODUCT(B=self.b, x=both[:50], out=both[shift:shift + 50])
            np.testing.assert_allclose(both[shift:shift + 50].numpy(), expected)

    def test_with_an_operand_that_is_copied(self):
        both = self.random.random(200)
        for x, out in ((both[:100:2], both[50:100]), (both[:100:2], both[:50])):
            expected = self.b @ x
            PRODUCT(B=self.b, x=x, out=out)
            np.testing.assert_allclose(out, expected)
            expected = self.b @ x
            PRODUCT.bind(B=self.b, x=x, out=out)()
            np.testing.assert_allclose(out, expected)

    def test_is_harmless_in_an_update(self):
        add = schaas.kernel("y(i) += B(i,j) * x(j)")
        x, y = self.random.random(50), self.random.random(50)
        expected = y + self.b @ x
        add(B=self.b, x=x, y=y, out=y)
        np.testing.assert_allclose(y, expected, rtol=1e-13)


class Kept(unittest.TestCase):
    def test_prepared_calls_are_few(self):
        product = schaas.kernel("y(i) = B(i,j) * x(j)")
        unsorted = sp.csr_matrix(([1.0, 2.0, 3.0], [2, 1, 1], [0, 3]), shape=(1, 5))
        for again in range(20):
            np.testing.assert_array_equal(product(B=unsorted, x=np.arange(5.0)), [7.0])
        for n in range(1, 20):
            product(B=np.ones((n, n)), x=np.ones(n))
        self.assertLessEqual(len(product._prepared), 4)

    def test_none_is_not_a_tensor_that_is_gone(self):
        f = schaas.kernel("y(i) = M(i,j) * x(j)")
        matrix, tensor = np.ones((3, 4)), schaas.tensor([[0, 2]], [1.0, 2.0], (4,), "dense")
        for out in (None, np.empty(3)):
            np.testing.assert_array_equal(f(M=matrix, x=tensor, out=out), [3, 3, 3])
        del tensor
        for out in (None, np.empty(3)):
            with self.assertRaises(schaas.Invalid):
                f(M=matrix, x=None, out=out)


if __name__ == "__main__":
    with_server.main()
