"""Ranges and fixed coordinates beside numpy's slices: every form, in every format, with bounds in the text and given at each call."""

import itertools
import os
import random
import unittest

import with_server
import numpy as np
import scipy.sparse as sp

with_server.daemon()
import schaas
from arrays import dense, kernel, matrix, stored

SEED = 20261127
DRAWS = int(os.environ.get("SCHAAS_DRAWS", 8))
MATRICES = ("dense", "csr", "csc", "dcsr", "coo", "csf", "bitmap", "banded", "hashed", "dense:1,0")


def setUpModule():
    print(f"seed {SEED}")


def bound_texts(bounds):
    return ":".join("" if bound is None else str(bound) for bound in bounds)


class Ranges(unittest.TestCase):
    def check(self, expected, statement, formats=None, **operands):
        got = dense(kernel(statement, **(formats or {}))(**operands))
        self.assertEqual(got.shape, np.shape(expected), statement)
        np.testing.assert_allclose(got, expected, err_msg=statement)

    def test_every_format_is_read_in_part(self):
        B = matrix(9, 7, 1)
        for format in MATRICES:
            with self.subTest(format=format):
                self.check(B[2:8:2, -4:], "A(i,j) = B(i(2:8:2),j(-4:))", B=stored(B, format))
                self.check(B[:, 3], "y(i) = B(i,3)", B=stored(B, format))
        for format in ("dense", "csr", "coo"):
            self.check(B[-1], "y(j) = B(-1,j)", B=stored(B, format))
            self.check(B[4, 2], "y = B(4,2)", B=stored(B, format))

    def test_sparse_results_hold_the_part(self):
        B = matrix(9, 7, 2)
        for operand, result in itertools.product(("dense", "csr", "csc"), ("csr", "dcsr")):
            with self.subTest(operand=operand, result=result):
                self.check(B[1:-1, ::-2], "A(i,j) = B(i(1:-1),j(::-2))", {"A": result}, B=stored(B, operand))

    def test_tensors_of_order_three(self):
        B = np.where(np.random.default_rng(3).random((5, 4, 6)) < 0.4, 1.5, 0)
        for format in ("dense", "csf", "coo", "dense,compressed,dense", "csf:2,0,1"):
            with self.subTest(format=format):
                self.check(B[1:4, 2, ::-1], "A(i,k) = B(i(1:4),2,k(::-1))", B=stored(B, format))

    def test_one_kernel_serves_all_bounds(self):
        """The exhaustive small world of numpy's slices of up to three elements."""
        part = kernel("y(i) = x(i(lo:hi:step))")
        for extent in range(4):
            x = np.arange(1.0, extent + 1)
            bounds = range(-extent - 2, extent + 3)
            for lo, hi, step in itertools.product(bounds, bounds, (-3, -2, -1, 1, 2, 3)):
                got = part(x=x, lo=lo, hi=hi, step=step)
                self.assertEqual(list(got), list(x[lo:hi:step]), (extent, lo, hi, step))
        sets = part._sets
        self.assertEqual(len(sets), 1)

    def test_bounds_may_be_left_out(self):
        x = np.arange(7.0)
        for bounds in itertools.product((None, -3), (None, 5), (None, -2)):
            self.check(x[slice(*bounds)], f"y(i) = x(i({bound_texts(bounds)}))", x=x)

    def test_a_name_is_a_fixed_coordinate(self):
        B = matrix(5, 4, 4)
        column = kernel("y[i] = B[i,[c]]")
        for c in range(-4, 4):
            np.testing.assert_allclose(column(B=sp.csr_array(B), c=c), B[:, c])

    def test_repeated_calls_read_the_bounds_anew(self):
        B, out = sp.csr_array(matrix(6, 6, 5)), np.empty((3, 6))
        part = kernel("A(i,j) = B(i(lo:hi),j)")
        for lo in (0, 3, 1, 3):
            part(B=B, lo=lo, hi=lo + 3, out=out)
            np.testing.assert_allclose(out, B.toarray()[lo:lo + 3])

    def test_repeated_calls_read_other_arrays(self):
        part, row, stencil = kernel("A(i,j) = B(i(1:4),j)", A="csr"), kernel("y(j) = B(2,j)"), kernel("y(i) = x(i(1:)) - x(i(:-1))")
        for seed in range(6):
            entries = random.Random(seed).sample(range(36), 9)  # as many each time, at other rows
            B = np.zeros(36)
            B[entries] = np.arange(1.0, 10) + seed
            B, x = B.reshape(6, 6), np.random.default_rng(seed).random(8)
            np.testing.assert_array_equal(dense(part(B=sp.csr_array(B))), B[1:4])
            np.testing.assert_array_equal(row(B=sp.csr_array(B)), B[2])
            np.testing.assert_array_equal(stencil(x=x), x[1:] - x[:-1])

    def test_bound_computations_see_new_values(self):
        x = np.arange(5.0)
        last = kernel("y(i) = 2 * x(i(3:))").bind(x=x)
        np.testing.assert_array_equal(last(), [6, 8])
        x[:] = 1
        np.testing.assert_array_equal(last(), [2, 2])

    def test_parts_are_read_in_disorder(self):
        B = sp.csr_array((np.arange(1.0, 7), np.array([2, 0, 1, 3, 0, 2]), np.array([0, 2, 3, 6])), shape=(3, 4))
        x = np.arange(1.0, 5)
        self.check(B.toarray()[1:] @ x, "y(i) = B(i(1:),j) * x(j)", B=B, x=x)
        self.check(B.toarray()[2] * x, "y(j) = B(2,j) * x(j)", B=B, x=x)

    def test_constraints_name_tensors_as_written(self):
        B = matrix(6, 6, 5)
        got = kernel("A(i,j) = B(i(1:4),j)", where="density(B) <= 1")(B=sp.csr_array(B))
        np.testing.assert_allclose(dense(got), B[1:4])

    def test_parts_are_factors_and_terms(self):
        B, C, x = matrix(8, 6, 6), np.random.default_rng(7).random((8, 6)) + 1, np.random.default_rng(8).random(9)
        sparse = sp.csr_array(B)
        self.check(x[1:] - x[:-1], "y(i) = x(i(1:)) - x(i(:-1))", x=x)
        self.check(x[2:] - 2 * x[1:-1] + x[:-2], "y(i) = x(i(2:)) - 2 * x(i(1:-1)) + x(i(:-2))", x=x)
        self.check(x[1:] * x[:-1], "y(i) = x(i(1:)) * x(i(:-1))", x=x)
        self.check(B[2:6] @ C.T[:, ::2], "A(i,k) = B(i(2:6),j) * C(k(::2),j)", B=sparse, C=C)
        self.check(B[:, 1:4] @ C[:3], "A(i,k) = B(i,j(1:4)) * D(j,k)", B=sparse, D=C[:3])
        self.check(np.exp(B[2:5]), "A(i,j) = exp(B(i(2:5),j))", B=sparse)
        self.check(B[2:5] / C[2:5], "A(i,j) = B(i(2:5),j) / C(i(2:5),j)", B=sparse, C=C)
        self.check(B[:, 1:5].max(1), "y(i) = max(j)(B(i,j(1:5)))", B=sparse)
        self.check(B[2:5].sum(1) * B[2:5, 0], "y(i) = sum(j)(B(i(2:5),j)) * B(i(2:5),0)", B=sparse)
        self.check(np.where(B[:5] > 0, C[3:], 0), "A(i,j) = where(B(i(:5),j) > 0, C(i(3:),j), 0)", B=sparse, C=C)
        self.check((B[:, 2:] - B[:, :-2]).max(1), "y(i) = max(j)(B(i,j(2:)) - B(i,j(:-2)))", B=sparse)

    def test_intermediates_are_read_in_part(self):
        B = matrix(6, 6, 9)
        self.check(np.exp(B @ B)[1:4, 0], "T(i,k) = B(i,j) * B(j,k); y(l) = exp(T(l(1:4),0))", B=sp.csr_array(B))
        self.check((B @ B)[::2] @ B, "T(i,k) = B(i,j) * B(j,k); A(l,m) = T(l(::2),k) * B(k,m)", B=sp.csr_array(B))

    def test_semirings(self):
        B, C = matrix(6, 5, 10), np.random.default_rng(11).random((5, 4))
        far = np.where(B[1:4] != 0, B[1:4], np.inf)
        self.check(np.min(far[:, :, None] + C[None], 1), "min-plus: A(i,k) = B(i(1:4),j) * C(j,k)", B=sp.csr_array(B), C=C)
        self.check(np.max(B[1:4, :, None] * C[None], 1), "max-times: A(i,k) = B(i(1:4),j) * C(j,k)", B=sp.csr_array(B), C=C)

    def test_parts_are_written(self):
        x, before = np.arange(1.0, 4), np.full(9, 10.0)
        after = before.copy()
        after[2:8:2] += x
        self.check(after, "y(i(2:8:2)) += x(i)", x=x, y=before)
        placed = np.zeros((9, 3))
        placed[4:7, 1] = x
        out = np.empty((9, 3))
        kernel("A(i(4:7),1) = x(i)")(x=x, out=out)
        np.testing.assert_allclose(out, placed)
        got = kernel("A(i(4:7),1) = x(i)")(x=x, extents={"A_mode1": 9, "A_mode2": 3})
        np.testing.assert_allclose(got, placed)

    def test_diagonals_are_written(self):
        x, B = np.arange(1.0, 5), matrix(4, 4, 17)
        self.check(np.diag(x), "D(i,i) = x(i)", x=x)
        self.check(np.diag(x), "D(i,i) = x(i)", {"D": "csr"}, x=x)
        self.check(np.diag((B @ B).sum(1)), "D(i,i) = B(i,j) * B(j,k)", B=sp.csr_array(B))
        self.check(B + np.diag(x), "D(i,i) += x(i)", x=x, D=B)

    def test_gradients_reach_the_part(self):
        B, C, dA = matrix(9, 4, 12), np.random.default_rng(13).random(4), np.random.default_rng(14).random((3, 4))
        by_b = kernel(schaas.gradient("A(i,j) = B(i(2:5),j) * C(j)", of="B"))(dA=dA, C=C, extents={"B_mode1": 9})
        expected = np.zeros_like(B)
        expected[2:5] = dA * C
        np.testing.assert_allclose(by_b, expected)
        by_c = kernel(schaas.gradient("A(i,j) = B(i(2:5),j) * C(j)", of="C"))(dA=dA, B=sp.csr_array(B))
        np.testing.assert_allclose(by_c, (dA * B[2:5]).sum(0))
        by_x = kernel(schaas.gradient("s = (x(i(1:)) - x(i(:-1))) * (x(i(1:)) - x(i(:-1)))", of="x"))
        x = np.random.default_rng(15).random(6)
        expected = np.zeros(6)
        expected[1:] += 2 * np.diff(x)
        expected[:-1] -= 2 * np.diff(x)
        np.testing.assert_allclose(by_x(x=x), expected)

    def test_bound_computations_keep_their_part(self):
        B = matrix(6, 5, 16)
        x = np.ones(5)
        bound = kernel("y(i) = B(i(1:4),j) * x(j)").bind(B=sp.csr_array(B), x=x)
        np.testing.assert_allclose(bound(), B[1:4].sum(1))
        x[:] = 2
        np.testing.assert_allclose(bound(), 2 * B[1:4].sum(1))

    def test_random_statements(self):
        draw = random.Random(SEED)
        for number in range(DRAWS):
            extents = [draw.randint(1, 8) for _ in range(3)]
            slices = [[draw.choice((None, draw.randint(-9, 9))), draw.choice((None, draw.randint(-9, 9))),
                       draw.choice((None, 1, 2, -1, -3))] for _ in range(3)]
            inner = len(range(extents[1])[slice(*slices[1])])
            formats = [draw.choice(MATRICES) for _ in range(2)]
            B, C = matrix(extents[0], extents[1], draw.randint(0, 999)), matrix(inner, extents[2], draw.randint(0, 999))
            i, j, k = map(bound_texts, slices)
            if draw.random() < 0.3:  # searches of products in three ranges with a sparse result take long
                result = draw.choice(("csr", "dcsr"))
                self.check(B[slice(*slices[0]), slice(*slices[1])], f"A(i,j) = B(i({i or ':'}),j({j or ':'}))", {"A": result},
                           B=stored(B, formats[0]))
                continue
            statement = f"A(i,k) = B(i({i or ':'}),j({j or ':'})) * C(j,k({k or ':'}))"
            with self.subTest(number=number, statement=statement, formats=formats, extents=extents):
                expected = B[slice(*slices[0]), slice(*slices[1])] @ C[:, slice(*slices[2])]
                self.check(expected, statement, B=stored(B, formats[0]), C=stored(C, formats[1]))


class Refused(unittest.TestCase):
    def check(self, code, message, statement, **operands):
        with self.assertRaises(schaas.Error) as caught:
            kernel(statement)(**operands)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(message, str(caught.exception))

    def test_coordinates_outside(self):
        B = np.ones((4, 3))
        self.check("coordinate-range", "the coordinate 3 of index `B_mode2` is outside of its extent 3", "y(i) = B(i,3)", B=B)
        self.check("coordinate-range", "the coordinate -5 of index `B_mode1` is outside", "y(j) = B((c),j)", B=B, c=-5)

    def test_bounds(self):
        x = np.ones(4)
        self.check("range", "`lo` is 0.5", "y(i) = x(i(lo:))", x=x, lo=0.5)
        self.check("range", "the step of `i(::s)` is 0", "y(i) = x(i(::s))", x=x, s=0)
        self.check("missing-operand", "`lo`", "y(i) = x(i(lo:))", x=x)

    def test_extents_that_differ(self):
        self.check("extent-conflict", "index `i` has extent 4 by mode 1 of `z(i)` but 2 by the range `i(1:3)` of extent 4",
                   "y(i) = x(i(1:3)) * z(i)", x=np.ones(4), z=np.ones(4))

    def test_gradients_of_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        self.check("gradient", "has ranges", "y(i) = x(i(1:3))", x=torch.ones(4, requires_grad=True))


if __name__ == "__main__":
    with_server.main()
