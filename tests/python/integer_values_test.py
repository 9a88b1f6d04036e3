"""Kernels over integers: exact, with numpy as the judge of overflow and of the smallest and the largest number."""

import unittest

import with_server

import numpy as np
import scipy.sparse as sp

import schaas

TYPES = (np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8)


def integers(random, shape, dtype):
    """Over the whole range, so that products and sums wrap around."""
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def matrix(random, rows, columns, dtype, density=0.2):
    made = sp.random(rows, columns, density, format="csr", random_state=7)
    made = sp.csr_matrix((integers(random, made.nnz, dtype), made.indices, made.indptr), made.shape)
    return made


class IntegerValues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with_server.daemon()

    def setUp(self):
        self.random = np.random.default_rng(42)

    def same(self, found, wanted):
        self.assertEqual(found.dtype, wanted.dtype)
        np.testing.assert_array_equal(found, wanted)

    def test_products_wrap_around_as_numpys_do(self):
        for dtype in TYPES:
            with self.subTest(dtype=dtype):
                b, x = matrix(self.random, 60, 50, dtype), integers(self.random, 50, dtype)
                c = integers(self.random, (50, 77), dtype)
                self.same(schaas.kernel("y(i) = B(i,j) * x(j)")(B=b, x=x), b.toarray() @ x)
                self.same(schaas.kernel("Y(i,k) = B(i,j) * C(j,k)", dtype=dtype)(B=b, C=c), b.toarray() @ c)

    def test_a_sparse_product_is_scipys(self):
        for dtype in (np.int64, np.int32, np.uint16, np.int8):
            b, c = matrix(self.random, 40, 50, dtype), matrix(self.random, 50, 30, dtype)
            found = schaas.kernel("Y(i,k) = B(i,j) * C(j,k)", dtype=dtype, Y="csr")(B=b, C=c)
            self.same(found.toarray(), b.toarray() @ c.toarray())

    def test_numbers_beyond_2_53_are_exact(self):
        x = np.array([2**53 + 1, -(2**62) + 3, 2**63 - 1])
        self.same(schaas.kernel("y(i) = x(i) + x(i)", dtype="i64")(x=x), x + x)
        self.same(schaas.kernel("y(i) = 3 * x(i)", dtype="i64")(x=x), 3 * x)

    def test_functions_are_numpys(self):
        cases = {"min(x(i), z(i))": np.minimum, "max(x(i), z(i))": np.maximum, "x(i) - z(i)": np.subtract,
                 "x(i) < z(i)": lambda x, z: (x < z).astype(x.dtype), "x(i) == z(i)": lambda x, z: (x == z).astype(x.dtype),
                 "abs(x(i)) + sign(z(i))": lambda x, z: np.abs(x) + np.sign(z),
                 "-x(i) * z(i)": lambda x, z: -x * z, "relu(x(i)) + floor(z(i))": lambda x, z: np.maximum(x, 0) + z,
                 "where(x(i) > z(i), x(i), 7)": lambda x, z: np.where(x > z, x, x.dtype.type(7)),
                 "and(x(i), z(i)) + not(x(i))": lambda x, z: np.logical_and(x, z).astype(x.dtype) + np.logical_not(x)}
        for number, (text, judge) in enumerate(cases.items()):
            for dtype in (TYPES[number % 4], TYPES[4 + number % 4]):
                x, z = integers(self.random, 100, dtype), integers(self.random, 100, dtype)
                x[:4], z[:4] = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 5], [np.iinfo(dtype).max, np.iinfo(dtype).min, 5, 0]
                with self.subTest(text, dtype=dtype), np.errstate(over="ignore"):
                    self.same(schaas.kernel(f"y(i) = {text}", dtype=dtype)(x=x, z=z), judge(x, z).astype(dtype))

    def test_reductions_are_numpys(self):
        for number, (text, judge) in enumerate((("sum", np.sum), ("min", np.min), ("max", np.max), ("prod", np.prod))):
            for dtype in (TYPES[number], TYPES[7 - number]):
                b = integers(self.random, (20, 75), dtype)
                with self.subTest(text, dtype=dtype):
                    self.same(schaas.kernel(f"y(i) = {text}(j)(B(i,j))", dtype=dtype)(B=b), judge(b, axis=1).astype(dtype))

    def test_sums_count_elements_that_are_not_stored(self):
        for dtype in TYPES:
            with self.subTest(dtype=dtype):
                b = matrix(self.random, 60, 500, dtype)
                kernel = schaas.kernel("y(i) = sum(j)(B(i,j) + 3)", dtype=dtype)
                self.same(kernel(B=b), (b.toarray() + dtype(3)).sum(1, dtype=dtype))

    def test_shortest_paths_keep_infinity(self):
        for dtype in (np.int64, np.int32, np.int16, np.uint8):
            far = np.iinfo(dtype).max
            edges = sp.random(40, 40, 0.05, format="csr", random_state=3)
            edges = sp.csr_matrix((self.random.integers(1, max(far // 64, 3), edges.nnz, dtype), edges.indices, edges.indptr), edges.shape)
            full = np.full(edges.shape, far, dtype)
            full[edges.nonzero()] = edges.data
            step = schaas.kernel("min-plus: y(i) = A(i,j) * x(j)", dtype=dtype)
            dense_step = schaas.kernel("min-plus: y(i) = A(i,j) * x(j)", dtype=dtype, A="dense")
            found = wanted = np.where(np.arange(40) == 0, 0, far).astype(dtype)
            for _ in range(5):
                open_ends = (full == far) | (wanted == far)
                wanted = np.minimum(wanted, np.where(open_ends, far, np.where(open_ends, 0, full) + np.where(wanted == far, 0, wanted)).min(axis=1))
                by_entries, by_elements = step(A=edges, x=found), dense_step(A=full, x=found)
                self.same(by_elements, by_entries)
                found = np.minimum(found, by_entries)
                self.same(found, wanted)
            self.assertIn(far, found)

    def test_operands_of_other_types(self):
        f = schaas.kernel("y(i) = B(i,j) * x(j)", dtype="i32")
        b, x = np.arange(6, dtype=np.int8).reshape(2, 3), np.array([True, False, True])
        self.same(f(B=b, x=x), b.astype(np.int32) @ x.astype(np.int32))
        for wrong, text in ((np.ones(3), "`x` holds float64, which is no integer type; pass `.astype(int)` to have it cut off"),
                            (np.array([1, 2, 2**31]), "`x` holds 2147483648, which int32 does not have")):
            with self.assertRaises(schaas.Invalid) as raised:
                f(B=b, x=wrong)
            self.assertEqual(str(raised.exception), "invalid [value-type]: " + text)

    def test_tensors_of_integers(self):
        large = np.array([2**62, 2**62, 2**53 + 1])
        made = schaas.tensor([[0, 0, 2]], large, (3,), dtype="i64")
        self.same(np.asarray(made), np.array([-(2**63), 0, 2**53 + 1]))
        self.same(np.asarray(made.convert("dense")), np.asarray(made))
        self.same(schaas.kernel("y(i) = x(i)", dtype="i64")(x=made), np.asarray(made))

    def test_booleans_add_by_or_and_multiply_by_and(self):
        b, c = (sp.random(60, 60, 0.05, format="csr", random_state=seed).astype(bool) for seed in (1, 2))
        x = self.random.random(60) < 0.1
        self.same(schaas.kernel("y(i) = B(i,j) * x(j)")(B=b, x=x), b.toarray() @ x)
        self.same(schaas.kernel("Y(i,k) = B(i,j) * C(j,k)", Y="csr")(B=b, C=c).toarray(), b.toarray() @ c.toarray())
        self.same(schaas.kernel("y(i) = x(i) + z(i)")(x=x, z=~x), x + ~x)
        self.same(schaas.einsum("ij,jk->ik", b.toarray(), c.toarray()), b.toarray() @ c.toarray())
        self.same(schaas.kernel("y(i) = or(j)(B(i,j))")(B=b), b.toarray().any(axis=1))

    def test_booleans_that_are_not_stored_are_or_of_one(self):
        b = sp.csr_matrix((np.zeros(1, bool), ([0], [0])), (3, 257))
        m = np.array([True, False, True])
        self.same(schaas.kernel("y(i) = or(j)(B(i,j) + m(i))", dtype="bool")(B=b, m=m), m)

    def test_booleans_are_counted_in_a_wider_type(self):
        b, x = sp.random(60, 50, 0.2, format="csr", random_state=1).astype(bool), self.random.standard_normal(50).astype(np.float32)
        counts = schaas.kernel("y(i) = sum(j)(B(i,j))")(B=b)
        self.same(counts, b.toarray().sum(axis=1))
        found = schaas.kernel("y(i) = B(i,j) * x(j)")(B=b, x=x)
        self.assertEqual(found.dtype, np.float32)
        np.testing.assert_allclose(found, b.toarray().astype(np.float32) @ x, rtol=1e-4, atol=1e-5)

    def test_what_short_integers_and_booleans_do_not_have(self):
        for dtype, text, part in (("i8", "y(i) = i * x(i)", "`i` counts to the extent, which may be beyond the numbers of i8"),
                                  ("u16", "y(i) = x(i) + (2 - 3)", "is a number below 0, which u16 does not have"),
                                  ("bool", "y(i) = sum(j)(B(i,j))", "`sum(j)(B(i,j))` counts; the values are bool"),
                                  ("bool", "min-plus: y(i) = B(i,j) * x(j)", "values of bool have no sums of min-plus"),
                                  ("u32", "max-plus: y(i) = B(i,j) * x(j)", "values of u32 have no -inf of max-plus"),
                                  ("i8", "y(i) = 200 * x(i)", "is beyond the numbers that i8 takes in an expression")):
            with self.subTest(text, dtype=dtype), self.assertRaises(schaas.Invalid) as raised:
                schaas.kernel(text, dtype=dtype)
            self.assertIn(part, str(raised.exception))

    def test_what_integers_do_not_have(self):
        for text, code, part in (("y(i) = x(i) / 2", "value-type", "`x(i) / 2` is no integer; the values are i64"),
                                 ("y(i) = exp(x(i))", "value-type", "`exp(x(i))` is no integer"),
                                 ("y(i) = pow(x(i), 2)", "value-type", "is no integer"),
                                 ("y(i) = 0.5 * x(i)", "number-range", "number `0.5` is no integer; the values are i64"),
                                 ("y(i) = max(x(i), inf)", "number-range", "number `inf` is no value of i64 under plus-times"),
                                 ("y(i) = 1e17 * x(i)", "number-range", "is beyond the numbers that i64 takes in an expression")):
            with self.assertRaises(schaas.Invalid) as raised:
                schaas.kernel(text, dtype="i64")(x=np.arange(3))
            self.assertEqual(raised.exception.code, code)
            self.assertIn(part, str(raised.exception))


if __name__ == "__main__":
    with_server.main()
