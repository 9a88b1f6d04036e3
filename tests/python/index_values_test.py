"""Indices as numbers, beside numpy: masks, triangles and positions, in every format and value type."""

import itertools
import unittest

import with_server
import numpy as np

with_server.daemon()
import schaas
from arrays import dense, kernel, matrix, stored

FORMATS = ("dense", "csr", "csc", "dcsr", "coo", "bitmap", "banded", "hashed")


class IndexValues(unittest.TestCase):
    def check(self, expected, statement, formats=None, **operands):
        got = dense(kernel(statement, **(formats or {}))(**operands))
        self.assertEqual(got.shape, np.shape(expected), statement)
        np.testing.assert_allclose(got, expected, err_msg=statement)

    def test_triangles_of_every_format(self):
        B = matrix(9, 7, 1)
        for format in FORMATS:
            with self.subTest(format=format):
                self.check(np.triu(B), "A(i,j) = (i <= j) * B(i,j)", B=stored(B, format))
                self.check(np.tril(B, -1), "A(i,j) = where(j < i, B(i,j), 0)", B=stored(B, format))

    def test_sparse_results_hold_the_triangle(self):
        B = matrix(9, 7, 2)
        for operand, result in itertools.product(("csr", "coo"), ("csr", "dcsr")):
            with self.subTest(operand=operand, result=result):
                self.check(np.triu(B), "A(i,j) = (i <= j) * B(i,j)", {"A": result}, B=stored(B, operand))

    def test_diagonals_are_written_sparse(self):
        """Diagonals on the left, and identity matrices: sparse results store the diagonal alone."""
        B, x = matrix(6, 6, 11), np.arange(1.0, 7)
        both = B + np.diag(x)
        for statement, expected in (("D(i,i) = x(i)", np.diag(x)), ("D(i,j) = x(i) * select(i,j)", np.diag(x)),
                                    ("D(i,j) = x(i) * x(j) * select(i,j)", np.diag(x * x))):
            for result in ("dense", "csr", "dcsr", "coo"):
                self.check(expected, statement, {"D": result}, x=x)
            self.assertEqual(kernel(statement, D="csr")(x=x).nnz, 6, statement)
        for statement, expected, entries in (("D(i,i) = B(i,j) * x(j)", np.diag(B @ x), 6),
                                             ("D(i,j) = B(i,j) + x(i) * select(i,j)", both, np.count_nonzero(both))):
            for format in FORMATS:
                with self.subTest(statement, format=format):
                    self.check(expected, statement, {"D": "csr"}, B=stored(B, format), x=x)
            self.assertEqual(kernel(statement, D="csr")(B=stored(B, "csr"), x=x).nnz, entries, statement)
        self.check(np.ones((6, 6)) + np.diag(x), "D(i,i) += x(i)", D=np.ones((6, 6)), x=x)

    def test_says_how_a_diagonal_is_written(self):
        x = np.arange(3.0)
        for value in ("where(i == j, x(i), 0)", "x(i) * (j == i)"):
            found = kernel(f"A(i,j) = {value}", A="csr")(x=x)  # square, where nothing tells the extent of j
            self.assertEqual(found.nnz, 3)
            np.testing.assert_array_equal(found.toarray(), np.diag(x))
            with self.assertRaises(schaas.Invalid) as caught:
                kernel(f"A(i,j) = {value}")(x=x)
            self.assertEqual(str(caught.exception),
                             "invalid [missing-extent]: index `j` has no extent: no operand has it; give the extent of `j`\n"
                             "  note: a diagonal is written with one index, as in `A(i,i) = x(i)`, or by the identity matrix `select(i,j)`: sparse "
                             "results then store its elements alone")
            self.check(np.diag(x)[:, :2], f"A(i,j) = {value}", x=x, extents={"j": 2})

    def test_positions(self):
        x = np.random.default_rng(3).random(11)
        i = np.arange(11)
        self.check(i * x, "y(i) = i * x(i)", x=x)
        self.check(i + x, "y(i) = i + x(i)", x=x)
        self.check((i * x).sum(), "s = i * x(i)", x=x)
        self.check(x / (i + 1), "y(i) = x(i) / (i + 1)", x=x)
        self.check(i[:, None] - i[None, :7] + matrix(11, 7, 4), "A(i,j) = i - j + B(i,j)", B=matrix(11, 7, 4))

    def test_products_keep_their_schedules(self):
        B, X = matrix(9, 7, 5), np.random.default_rng(6).random((7, 33))
        for format in ("dense", "csr", "csc"):
            with self.subTest(format=format):
                self.check(np.tril(B) @ X, "Y(i,k) = (j <= i) * B(i,j) * X(j,k)", B=stored(B, format), X=X)

    def test_causal_softmax(self):
        rng = np.random.default_rng(7)
        Q, K, V = rng.random((10, 4)), rng.random((10, 4)), rng.random((10, 5))
        scores = np.where(np.tri(10) > 0, np.exp(Q @ K.T), 0)
        self.check((scores / scores.sum(1, keepdims=True)) @ V,
                   "T(i,j) = Q(i,d) * K(j,d); E(i,j) = where(j <= i, exp(T(i,j)), 0); S(i) = E(i,j); "
                   "Y(i,k) = sum(j)(E(i,j) * V(j,k)) / S(i)", Q=Q, K=K, V=V)

    def test_shifts(self):
        rng = np.random.default_rng(9)
        B, w = rng.random(40), rng.random(5)
        for format in ("dense", "csf"):
            sparse = np.where(B > 0.6, B, 0)
            self.check(np.correlate(sparse, w), "A(i) = w(k) * B(p) * (p == i + k)", B=stored(sparse, format), w=w,
                       extents={"i": 36})
        image, kernel_ = rng.random((12, 10)), rng.random((3, 3))
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
        self.check(np.einsum("ijkl,kl->ij", windows, kernel_),
                   "A(i,j) = w(k,l) * B(p,q) * and(p == i + k, q == j + l)", B=image, w=kernel_,
                   extents={"i": 10, "j": 8})
        padded = np.pad(B, 2)
        self.check(np.correlate(padded, w), "A(i) = w(k) * B(p) * (p == i + k - 2)", B=B, w=w, extents={"i": 40})

    def test_sums_of_indices(self):
        rng = np.random.default_rng(10)
        B, w = rng.random(40), rng.random(5)
        ends = np.pad(B, 50)
        at = np.arange(40)
        for format in ("dense", "csf"):
            x = stored(np.where(B > 0.4, B, 0), format)
            full = np.where(B > 0.4, B, 0)
            self.check(np.correlate(full, w), "A(i) = B(i+k) * w(k)", B=x, w=w, extents={"i": 36})
            self.check(np.convolve(full, w), "A(i) = w(k) * B(i-k)", B=x, w=w, extents={"i": 44})
            self.check(np.correlate(full, w)[::2], "A(i) = B(2*i+k) * w(k)", B=x, w=w, extents={"i": 18})
            self.check(full[::-1], "A(i) = B(39-i)", B=x, extents={"i": 40})
        self.check(ends[50 + at + 1] - 2 * B + ends[50 + at - 1], "A(i) = B(i+1) - 2 * B(i) + B(i-1)", B=B)
        self.check(np.exp(ends[50 + at + 3]), "A(i) = exp(B(i+3))", B=B, extents={"i": 40})
        self.check(ends[50 + at - 7], "A(i) = B(i+n)", B=B, n=np.array(-7.0), extents={"i": 40})
        image, v = rng.random((12, 10)), rng.random((3, 3))
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1), (3, 3))
        self.check(np.einsum("ijkl,kl->ij", windows, v), "A(i,j) = B(i+k-1,j+l-1) * v(k,l)", B=image, v=v, extents={"i": 12, "j": 10})
        C = rng.random((40, 6))
        self.check(np.stack([np.correlate(C[:, j], w) for j in range(6)], 1), "A(i,j) = C(i+k,j) * w(k)", C=C, w=w, extents={"i": 36})

    def test_reductions_and_semirings(self):
        B = np.random.default_rng(8).random((6, 8))
        i, j = np.arange(6)[:, None], np.arange(8)[None, :]
        self.check(np.max(np.where(B > 0.5, j, -1), 1), "y(i) = max(j)(where(B(i,j) > 0.5, j, -1))", B=B)
        self.check(np.min(B + i + 2 * j, 1), "min-plus: y(i) = B(i,j) * i * j * j", B=B)

    def test_value_types(self):
        for type in (np.float32, np.int32, np.int64):
            B = np.arange(63).reshape(9, 7).astype(type)
            i, j = np.arange(9, dtype=type)[:, None], np.arange(7, dtype=type)[None, :]
            got = dense(kernel("A(i,j) = (3 * i - j) * B(i,j) + (i == j)", dtype=type)(B=B))
            np.testing.assert_array_equal(got, (3 * i - j) * B + (i == j))
            self.assertEqual(got.dtype, type)

    def test_gradient(self):
        self.assertEqual(schaas.gradient("y(i) = (j <= i) * A(i,j) * x(j)", of="x"),
                         "dx(j) = dy(i) * (j <= i) * A(i,j)")

    def test_an_extent_comes_from_a_tensor(self):
        with self.assertRaisesRegex(Exception, "nothing tells the extent of index `j`"):
            kernel("y(i) = x(i) + sum(j)(j)")


if __name__ == "__main__":
    unittest.main()
