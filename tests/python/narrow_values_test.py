"""Operands of bf16 and f16: rounded to nearest, ties to even; computed with as f32, and results are f32."""

import unittest

import with_server

import numpy as np
import scipy.sparse as sp

import schaas

HALF = 2.0**-8  # half the distance of 1 and its neighbour


def rounded(array):
    """By search among the two neighbours of each number, which shares nothing with the library's way."""
    array = np.asarray(array, np.float32)
    below = (array.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    above = ((array.view(np.uint32) & np.uint32(0xFFFF0000)) + np.uint32(0x10000)).view(np.float32)
    to_below, to_above = np.abs(array.astype(float) - below), np.abs(above.astype(float) - array)
    even = below.view(np.uint32) >> np.uint32(16) & np.uint32(1) == 0
    return np.where((to_below < to_above) | ((to_below == to_above) & even), below, above)


class NarrowValues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with_server.daemon()

    def setUp(self):
        self.random = np.random.default_rng(7)

    def test_operands_are_rounded_to_even(self):
        x = np.concatenate([self.random.standard_normal(1000), [1 + HALF, 1 + 3 * HALF, -1 - HALF, 0.0, -0.0, 1e-40, np.inf, 3e38]]).astype(np.float32)
        found = schaas.kernel("y(i) = x(i)", dtype="bf16")(x=x)
        self.assertEqual(found.dtype, np.float32)
        finite = np.isfinite(x)
        np.testing.assert_array_equal(found[finite], rounded(x[finite]))
        self.assertEqual(found[~finite][0], np.inf)

    def test_halves_are_numpys(self):
        x = np.concatenate([self.random.standard_normal(1000) * 100, [1 + 2.0**-11, 1 + 3 * 2.0**-11, -65504, 65519.9, 65520, 2.0**-25, 3 * 2.0**-25,
                                                                      6e-8, -0.0, np.inf, -np.inf, np.nan]])
        with np.errstate(over="ignore"):
            half = x.astype(np.float16)
        for given in (x, half):
            found = schaas.kernel("y(i) = x(i)", dtype="f16")(x=given)
            self.assertEqual(found.dtype, np.float32)
            np.testing.assert_array_equal(found, half.astype(np.float32))
        every = np.arange(2**16, dtype=np.uint16).view(np.float16)  # each half there is
        np.testing.assert_array_equal(schaas.kernel("y(i) = x(i)")(x=every), every.astype(np.float32))
        made = schaas.tensor([np.arange(x.size)], x, x.shape, dtype="f16")
        np.testing.assert_array_equal(np.asarray(made), half)

    def test_products_of_halves(self):
        b = sp.random(300, 200, 0.05, format="csr", random_state=1).astype(np.float32)
        narrow = sp.csr_matrix((b.data.astype(np.float16).astype(np.float32), b.indices, b.indptr), b.shape)
        for columns in (1, 5, 33, 64):
            c = self.random.standard_normal((200, columns)).astype(np.float16)
            for format in ("csr", "coo"):
                with self.subTest(columns=columns, format=format):
                    found = schaas.kernel("Y(i,k) = B(i,j) * C(j,k)", dtype="f16", B=format)(B=b, C=c)
                    self.assertEqual(found.dtype, np.float32)
                    np.testing.assert_allclose(found, narrow @ c.astype(np.float32), rtol=1e-5, atol=1e-5)

    def test_products_are_those_of_the_rounded_operands(self):
        b = sp.random(300, 200, 0.05, format="csr", random_state=1)
        for columns in (1, 3, 16, 33, 64, 100):
            c = self.random.standard_normal((200, columns))
            plain = sp.csr_matrix((rounded(b.data), b.indices, b.indptr), b.shape) @ rounded(c)
            for format in ("csr", "csc", "coo", "dcsr"):
                with self.subTest(columns=columns, format=format):
                    found = schaas.kernel("Y(i,k) = B(i,j) * C(j,k)", dtype="bf16", B=format)(B=b, C=c)
                    self.assertEqual(found.dtype, np.float32)
                    np.testing.assert_allclose(found, plain, rtol=1e-5, atol=1e-5)

    def test_operands_that_are_bf16_are_read_in_place(self):
        x = self.random.standard_normal((50, 20)).astype(np.float32)
        b = sp.random(40, 50, 0.2, format="csr", random_state=1)
        plain = sp.csr_matrix((rounded(b.data), b.indices, b.indptr), b.shape) @ rounded(x)
        stored = schaas.tensor(np.array(b.nonzero()), b.data, b.shape, "csr", dtype="bf16")
        f = schaas.kernel("Y(i,k) = B(i,j) * X(j,k)", dtype="bf16", B="csr")
        narrow = schaas.bfloat16(x)
        step = f.bind(B=stored, X=narrow)
        np.testing.assert_allclose(step(), plain, rtol=1e-5, atol=1e-6)
        narrow[:] = schaas.bfloat16(2 * x)
        np.testing.assert_allclose(step(), 2 * plain, rtol=1e-5, atol=1e-6)

    def test_sparse_results_and_sampled_products(self):
        b, c = (sp.random(80, 80, 0.1, format="csr", random_state=seed) for seed in (1, 2))
        narrow = [sp.csr_matrix((rounded(one.data), one.indices, one.indptr), one.shape) for one in (b, c)]
        found = schaas.kernel("Y(i,k) = B(i,j) * C(j,k)", dtype="bf16", Y="csr")(B=b, C=c)
        self.assertEqual(found.dtype, np.float32)
        np.testing.assert_allclose(found.toarray(), (narrow[0] @ narrow[1]).toarray(), rtol=1e-5, atol=1e-6)
        x, y = self.random.standard_normal((80, 40)), self.random.standard_normal((80, 40))
        found = schaas.kernel("Y(i,j) = B(i,j) * X(i,k) * Z(j,k)", dtype="bf16", Y="csr")(B=b, X=x, Z=y)
        np.testing.assert_allclose(found.toarray(), narrow[0].multiply(rounded(x) @ rounded(y).T).toarray(), rtol=1e-4, atol=1e-5)

    def test_vectors_and_bound_operands_whose_values_change(self):
        b, x = sp.random(100, 100, 0.1, format="csr", random_state=1), self.random.standard_normal(100)
        step = schaas.kernel("y(i) = B(i,j) * x(j)", dtype="bf16").bind(B=b, x=x)
        for _ in range(2):
            plain = sp.csr_matrix((rounded(b.data), b.indices, b.indptr), b.shape) @ rounded(x)
            np.testing.assert_allclose(step(), plain, rtol=1e-5, atol=1e-6)
            x *= 3


if __name__ == "__main__":
    with_server.main()
