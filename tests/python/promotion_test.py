"""Operands of several types: numpy is the judge of the type that is computed in; operands of narrower ones are read in place."""

import unittest

import with_server

import numpy as np
import scipy.sparse as sp

import schaas
from schaas._promotion import computed_type
from schaas._recognise import recognise
from schaas._tensors import NUMBERS, BF16, F2, F4, narrower

KINDS = [dtype for dtype in NUMBERS if dtype != BF16]


def values(random, shape, dtype):
    if dtype == bool:
        return random.random(shape) < 0.5
    if dtype.kind == "c":
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(max(limits.min, -9), 9, shape, dtype, endpoint=True)


class Promotion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with_server.daemon()

    def setUp(self):
        self.random = np.random.default_rng(11)

    def test_types_are_promoted_as_numpys(self):
        for one in KINDS:
            for other in KINDS:
                given = [recognise("x", np.zeros(3, one)), recognise("z", np.zeros(3, other))]
                wanted = np.result_type(one, other)
                self.assertEqual(computed_type(given, None, lambda dtype: True), F4 if wanted == F2 else wanted, (one, other))

    def test_narrower_types_are_those_that_numpy_casts_safely(self):
        for one in KINDS:
            for other in KINDS:
                # A real number is read as the real part.
                part = np.dtype(f"f{other.itemsize // 2}") if other.kind == "c" and one.kind != "c" else other
                safe = one == part != other or np.can_cast(one, part) and one.itemsize < part.itemsize and other != F2
                self.assertEqual(narrower(one, other), safe, (one, other))

    def test_numbers_take_the_type_of_arrays(self):
        f = schaas.kernel("y(i) = a * x(i)")
        for dtype in (np.int8, np.float32, np.uint64):
            x = values(self.random, 5, np.dtype(dtype))
            self.assertEqual(f(a=2, x=x).dtype, dtype)
            np.testing.assert_array_equal(f(a=2, x=x), 2 * x)
        x = np.arange(5, dtype=np.int8)
        np.testing.assert_array_equal(f(a=0.5, x=x), 0.5 * x)

    def test_products_of_two_types(self):
        pairs = ((np.int8, np.float32), (np.float32, np.float64), (np.int16, np.int64), (np.bool_, np.float64), (np.int8, np.uint8),
                 (np.float16, np.float32), (np.int64, np.float32), (np.uint16, np.int32), (np.int64, np.uint64))
        for one, other in pairs:
            with self.subTest(one=one, other=other):
                b = sp.random(70, 60, 0.1, format="csr", random_state=1)
                b = sp.csr_matrix((values(self.random, b.nnz, np.dtype(one)), b.indices, b.indptr), b.shape)
                c = values(self.random, (60, 37), np.dtype(other))
                f = schaas.kernel("Y(i,k) = B(i,j) * C(j,k)")
                found, wide = f(B=b, C=c), np.result_type(one, other)
                plain = sp.csr_matrix((b.data.astype(wide), b.indices, b.indptr), b.shape).toarray() @ c.astype(wide)  # scipy has no halves
                self.assertEqual(found.dtype, wide)
                np.testing.assert_allclose(found, plain, rtol=1e-4 if wide == np.float32 else 1e-12, atol=1e-4 if wide == np.float32 else 1e-12)
                told = f.bind(B=b, C=c).describe()["operands"]["B"]
                self.assertEqual(told["dtype"], str(np.dtype(one if narrower(np.dtype(one), wide) else wide)))

    def test_a_wider_sum_by_request(self):
        b, x = np.full((3, 100), 100, np.int8), np.full(100, 100, np.int8)
        f = schaas.kernel("y(i) = B(i,j) * x(j)", dtype="i32")
        np.testing.assert_array_equal(f(B=b, x=x), b.astype(np.int32) @ x.astype(np.int32))
        self.assertEqual(f.bind(B=b, x=x).describe()["operands"]["B"]["dtype"], "int8")

    def test_a_format_says_in_which_type_values_are_stored(self):
        b, x = sp.random(50, 40, 0.2, format="csr", random_state=1), self.random.standard_normal(40)
        f = schaas.kernel("y(i) = B(i,j) * x(j)", B="csr@f32")
        np.testing.assert_allclose(f(B=b, x=x), b.astype(np.float32).astype(float) @ x)
        step = f.bind(B=b, x=x)
        b.data *= 2
        np.testing.assert_allclose(step(), b.astype(np.float32).astype(float) @ x)
        for text, part in (("csr@i64", "values of `B` are stored as i64, which f64 does not widen"), ("csr@f46", "unknown value type `f46`")):
            with self.assertRaises(schaas.Invalid) as raised:
                schaas.kernel("y(i) = B(i,j) * x(j)", B=text)
            self.assertIn(part, str(raised.exception))

    def test_quotients_of_integers_are_real(self):
        x = np.arange(1, 6)
        np.testing.assert_array_equal(schaas.kernel("y(i) = x(i) / 2")(x=x), x / 2)
        np.testing.assert_allclose(schaas.kernel("y(i) = exp(x(i))")(x=x.astype(np.int16)), np.exp(x))

    def test_complex_numbers_are_refused_where_real_ones_are_asked_for(self):
        with self.assertRaises(schaas.Invalid) as raised:
            schaas.kernel("y(i) = x(i)", dtype="f64")(x=np.ones(3, complex))
        self.assertIn("`x` has values of type complex128; expected real numbers: pass `.real`, or dtype=\"c128\"", str(raised.exception))


if __name__ == "__main__":
    with_server.main()
