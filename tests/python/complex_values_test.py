"""Complex numbers: numpy and scipy are the judges of products, sums, promotion and of what is refused."""

import itertools
import os
import tempfile
import unittest

import with_server

import numpy as np
import scipy.io
import scipy.sparse as sp

import schaas
from arrays import stored

TYPES = (np.complex128, np.complex64)
FORMATS = ("dense", "csr", "csc", "dcsr", "coo", "bitmap", "banded", "hashed")


class ComplexValues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with_server.daemon()

    def setUp(self):
        self.random = np.random.default_rng(17)

    def numbers(self, shape, dtype=np.complex128):
        return (self.random.standard_normal(shape) + 1j * self.random.standard_normal(shape)).astype(dtype)

    def matrix(self, rows, columns, dtype=np.complex128, density=0.3):
        made = sp.random(rows, columns, density, format="csr", random_state=self.random.integers(1 << 30)).astype(dtype)
        made.data = self.numbers(made.nnz, dtype)
        return made

    def check(self, got, expected, statement=""):
        got = got.toarray() if sp.issparse(got) else np.asarray(got)
        expected = expected.toarray() if sp.issparse(expected) else np.asarray(expected)
        self.assertEqual(got.dtype, expected.dtype, statement)
        tolerance = 1e-12 if got.dtype == np.complex128 else 2e-5
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance, err_msg=statement)

    def test_products_of_every_width(self):
        for dtype in TYPES:
            B = self.matrix(40, 30, dtype)
            for columns in (1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33, 64, 67, 100):
                X = self.numbers((30, columns), dtype)
                self.check(schaas.kernel("Y(i,k) = B(i,j) * X(j,k)")(B=B, X=X), B @ X, f"{columns} columns of {dtype}")
            x = self.numbers(30, dtype)
            self.check(schaas.kernel("y(i) = B(i,j) * x(j)")(B=B, x=x), B @ x)
            self.check(schaas.kernel("y(j) = B(i,j) * x(i)")(B=B, x=self.numbers(40, dtype) * 0 + 1), B.T @ np.ones(40, dtype))

    def test_formats_of_operands_and_results(self):
        B, C = self.matrix(12, 9), self.matrix(12, 9)
        x = self.numbers(9)
        for format in FORMATS:
            with self.subTest(format=format):
                self.check(schaas.kernel("y(i) = B(i,j) * x(j)")(B=stored(B.toarray(), format), x=x), B @ x, format)
        D = self.matrix(9, 11)
        for result in ("csr", "dcsr", "csc", "coo"):
            with self.subTest(result=result):
                self.check(schaas.kernel("A(i,k) = B(i,j) * D(j,k)", A=result)(B=B, D=D), B @ D, result)
                self.check(schaas.kernel("A(i,j) = B(i,j) + C(i,j)", A=result)(B=B, C=C), B + C, result)

    def test_arithmetic(self):
        for dtype in TYPES:
            x, y, z = (self.numbers(37, dtype) for _ in range(3))
            for statement, expected in (
                    ("a(i) = x(i) + y(i) - z(i)", x + y - z), ("a(i) = -x(i) * y(i)", -x * y), ("a(i) = x(i) / y(i)", x / y),
                    ("a(i) = 1 / x(i)", 1 / x), ("a(i) = 2 * x(i) - 0.5", 2 * x - dtype(0.5)), ("a(i) = x(i) * y(i) * z(i)", x * y * z),
                    ("a = x(i) * y(i)", np.sum(x * y)), ("a = conj(x(i)) * y(i)", np.vdot(x, y)), ("a(i) = conj(x(i))", x.conj()),
                    ("a(i) = real(x(i))", x.real.astype(dtype)), ("a(i) = imag(x(i))", x.imag.astype(dtype)),
                    ("a(i) = abs(x(i))", abs(x).astype(dtype)), ("a = max(i)(abs(x(i)))", abs(x).max().astype(dtype)),
                    ("a = prod(i)(x(i) / 2)", np.prod(x / 2)), ("a(i) = where(abs(x(i)) > 1, x(i), y(i))", np.where(abs(x) > 1, x, y)),
                    ("a(i) = (x(i) == y(i)) + not(x(i))", (x == y).astype(dtype)), ("a(i) = i * x(i)", np.arange(37).astype(dtype) * x),
                    ("a(i) = min(real(x(i)), imag(y(i)))", np.minimum(x.real, y.imag).astype(dtype))):
                operands = {name: one for name, one in (("x", x), ("y", y), ("z", z)) if name + "(" in statement}
                self.check(schaas.kernel(statement)(**operands), expected, statement)

    def test_quotients_scale(self):
        x = np.array([1 + 1j, 1e300 + 1e300j, 3 - 4j, 1e-300 + 1e-300j])
        y = np.array([1e-200 + 2e-200j, 1e250 + 1e240j, 0.5j, 1e-200 + 0j])
        with np.errstate(all="ignore"):
            self.check(schaas.kernel("a(i) = x(i) / y(i)")(x=x, y=y), x / y)

    def test_programs(self):
        B, x = self.matrix(20, 20), self.numbers(20)
        self.check(schaas.kernel("y(i) = b * x(i) + B(i,j) * conj(x(j))")(B=B, x=x, b=np.array(2 - 3j)), (2 - 3j) * x + B @ x.conj())
        T = B @ B
        self.check(schaas.kernel("T(i,k) = B(i,j) * B(j,k); y(i) = T(i,k) * x(k) / n")(B=B, x=x, n=np.array(2j)), T @ x / 2j)
        Q, K = self.numbers((20, 3)), self.numbers((20, 3))
        self.check(schaas.kernel("A(i,j) = B(i,j) * Q(i,k) * conj(K(j,k))", A="csr")(B=B, Q=Q, K=K), B.multiply(Q @ K.conj().T).tocsr())
        self.check(schaas.kernel("s = x(i) * (i <= j) * B(i,j) * x(j)")(B=B, x=x), x @ np.triu(B.toarray()) @ x)

    def test_sums_count_elements_that_are_not_stored(self):
        for dtype in TYPES:
            b, m = self.matrix(20, 300, dtype), self.numbers(20, dtype)
            self.check(schaas.kernel("y(i) = sum(j)(B(i,j) * 2 - m(i))")(B=b, m=m), (b.toarray() * 2 - m[:, None]).sum(1))

    def test_promotion(self):
        z = self.numbers(9, np.complex64)
        for dtype in (np.int8, np.uint8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64, np.bool_, np.complex128):
            x = self.random.integers(0, 2, 9).astype(dtype)
            self.check(schaas.kernel("a(i) = z(i) * x(i)")(z=z, x=x), z * x, str(dtype))
        x = self.random.random(9)
        self.check(schaas.kernel("a(i) = s * x(i)")(s=1 + 2j, x=x), (1 + 2j) * x)
        self.check(schaas.kernel("a(i) = s * x(i)")(s=1 + 2j, x=x.astype(np.float32)), (1 + 2j) * x.astype(np.float32))

    def test_operands_of_narrower_types_are_read_in_place(self):
        B = sp.random(30, 20, 0.3, format="csr", random_state=3)
        X = self.numbers((20, 35))
        for dtype in (np.float64, np.float32, np.int8, np.complex64):
            narrow = (B * 8).astype(dtype)
            self.check(schaas.kernel("Y(i,k) = B(i,j) * X(j,k)")(B=narrow, X=X), narrow.astype(np.complex128) @ X, str(dtype))
            self.check(schaas.kernel("Y(k,i) = B(i,j) * X(j,k)")(B=narrow, X=X), (narrow.astype(np.complex128) @ X).T, str(dtype))
        W = self.random.random((20, 35))
        self.check(schaas.kernel("Y(i,k) = B(i,j) * X(j,k) * W(j,k)")(B=narrow, X=X, W=W), narrow.astype(np.complex128) @ (X * W))

    def test_tensors_and_files(self):
        coords = np.array([[0, 1, 2, 2], [1, 0, 3, 3]])
        made = schaas.tensor(coords, [1 + 2j, 3j, 1, 2 - 1j], (3, 4), dtype="c64")
        self.assertEqual((made.dtype, made.nnz), (np.complex64, 3))
        expected = np.zeros((3, 4), np.complex64)
        expected[0, 1], expected[1, 0], expected[2, 3] = 1 + 2j, 3j, 3 - 1j
        np.testing.assert_array_equal(np.asarray(made), expected)
        np.testing.assert_array_equal(np.asarray(made.convert("dcsr")), expected)
        B = self.matrix(7, 7)
        H = sp.csr_matrix(B + B.conj().T)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.mtx")
            for matrix, symmetry in ((B, "general"), (H, "hermitian"), (sp.csr_matrix(B + B.T), "symmetric"),
                                     (sp.csr_matrix(B - B.T), "skew-symmetric")):
                scipy.io.mmwrite(path, matrix, symmetry=symmetry)
                np.testing.assert_allclose(schaas.read(path).toarray(), matrix.toarray(), err_msg=symmetry)
            for name in ("b.mtx", "b.npy", "b.npz"):
                schaas.write(os.path.join(folder, name), schaas.tensor(np.array(B.nonzero()), B[B.nonzero()].A1, B.shape))
                read = schaas.read(os.path.join(folder, name))
                np.testing.assert_array_equal(read.toarray() if sp.issparse(read) else np.asarray(read), B.toarray(), name)
            np.save(os.path.join(folder, "c.npy"), B.toarray().astype(">c16"))
            np.testing.assert_array_equal(np.asarray(schaas.read(os.path.join(folder, "c.npy"))), B.toarray())
            with self.assertRaisesRegex(schaas.Invalid, "a .tns file cannot hold complex numbers; .mtx and .npy can"):
                schaas.write(os.path.join(folder, "c.tns"), made)

    def test_what_has_no_meaning_is_refused(self):
        x = self.numbers(5)
        for statement, part in (("a = max(i)(x(i))", "orders complex numbers; the values are c128"),
                                ("a(i) = x(i) < 1", "orders complex numbers; the values are c128"),
                                ("a(i) = exp(x(i))", "is a function of real numbers; the values are c128"),
                                ("min-plus: a = x(i)", "values of c128 have no sums of min-plus")):
            with self.assertRaisesRegex(schaas.Invalid, part):
                schaas.kernel(statement)(x=x)
        with self.assertRaisesRegex(schaas.Invalid, "expected real numbers: pass `.real`, or dtype=\"c128\""):
            schaas.kernel("a(i) = x(i)", dtype="f64")(x=x)
        with self.assertRaisesRegex(schaas.Invalid, "expected real numbers for dtype='f64': pass `.real`, or dtype=\"c128\""):
            schaas.tensor([0], [1j], (2,), dtype="f64")


if __name__ == "__main__":
    with_server.main()
