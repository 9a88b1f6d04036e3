"""Messages name the user's tensors, options and what was given, and say what would work; no exception is another library's."""

import unittest

import with_server
import numpy as np
import scipy.sparse as sp

with_server.daemon()
import schaas

SEED = 20261125


class Messages(unittest.TestCase):
    def setUp(self):
        self.b, self.x = sp.random(6, 5, 0.4, format="csr", random_state=SEED), np.ones(5)
        self.f = schaas.kernel("y(i) = B(i,j) * x(j)")

    def says(self, work, code, *parts):
        with self.subTest(parts=parts), self.assertRaises(schaas.Error) as raised:
            work()
        self.assertEqual(raised.exception.code, code)
        for part in parts:
            self.assertIn(part, str(raised.exception))
        return str(raised.exception)

    def call(self, **options):
        return lambda: self.f(B=self.b, x=self.x, **options)

    def test_misspelt_words_are_guessed(self):
        kernel = schaas.kernel
        self.says(self.call(schedule="liner"), "unknown-directive", "did you mean `linear`?")
        self.says(self.call(thread=2), "unknown-tensor", "did you mean `threads`?")
        self.says(lambda: self.f(b=self.b, x=self.x), "unknown-tensor", "did you mean `B`?")
        self.says(lambda: kernel("y(i) = B(i,j) * x(j)", dtype="flot32"), "value-type", "did you mean `float32`?")
        self.says(lambda: kernel("y(i) = B(i,j) * x(j)", B="crs"), "unknown-format", "did you mean `csr`?")
        self.says(lambda: kernel("y(i) = sigmod(x(i))"), "unknown-function", "did you mean `sigmoid`?")
        self.says(lambda: kernel("min-pls: y(i) = B(i,j) * x(j)"), "unknown-semiring", "did you mean `min-plus`?")
        self.says(lambda: kernel("y(i) = x(i)**2"), "operator", "a power is written `pow(a,b)`")
        self.says(lambda: kernel("A = B @ C"), "operator", "`A(i,k) = B(i,j) * C(j,k)`")
        with self.assertRaises(KeyError) as raised:
            self.f.frontier["s99"]
        self.assertIn("there are s1", str(raised.exception))

    def test_options_of_another_type_are_refused(self):
        for work, code, part in (
                (self.call(schedule=5), "option", "schedule=5: expected a text"),
                (self.call(threads="2"), "threads", "threads='2'; expected a whole number, 0 for all processors"),
                (self.call(threads=2.5), "threads", "threads=2.5"),
                (self.call(extents=[3]), "option", "extents=[3]: expected a dict of whole numbers, such as {'j': 3}"),
                (self.call(extents={"i": "3"}), "option", "extents={'i': '3'}"),
                (lambda: schaas.kernel(5), "option", "expression=5: expected a text"),
                (lambda: schaas.kernel("y(i) = x(i)\0 * z(i)"), "option", "'y(i) = x(i)\\x00 * z(i)' has a character NUL"),
                (lambda: schaas.kernel("y(i) = x(i)", where=["i <= 5\0"]), "option", "has a character NUL"),
                (lambda: schaas.kernel("y(i) = x(i)", where=5), "option", "where=5: expected a text"),
                (lambda: schaas.kernel("y(i) = x(i)", space=5), "option", "space=5: expected a text"),
                (lambda: schaas.kernel("y(i) = x(i)", patience="x"), "option", "patience='x': expected a number of seconds"),
                (lambda: schaas.kernel("y(i) = x(i)", budget=-1), "option", "budget=-1"),
                (lambda: schaas.kernel("y(i) = x(i)", session="unix:/x"), "option", "session='unix:/x': expected a schaas.Session"),
                (lambda: schaas.connect(5), "option", "5: expected a text"),
                (lambda: schaas.tensor([0], [1.0], 3).convert(5), "option", "format=5: expected a text")):
            self.says(work, code, part)
        np.testing.assert_allclose(self.call(threads=np.int64(1), deterministic=np.True_)(), self.b @ self.x, rtol=1e-13)

    def test_results_have_the_users_names(self):
        text = self.says(lambda: schaas.kernel("Y(p,q) += S(p,q)", Y="csr")(S=self.b, Y=self.b), "sparse-result",
                         "the result `Y` has the sparse format")
        self.assertNotIn("`A`", text)
        for out in (np.ones(5), np.ones((6, 1))):
            self.says(self.call(out=out), "result-shape", "`y", "has shape")


if __name__ == "__main__":
    with_server.main()
