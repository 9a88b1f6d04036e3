"""schaas.einsum beside numpy.einsum: forms of subscripts, options, sparse results, and random draws of all of these.
SCHAAS_EINSUM_DRAWS: their number (30)."""

import os
import unittest

import with_server
import numpy as np
import scipy.sparse as sp

with_server.daemon()
import schaas

SEED = int(os.environ.get("SCHAAS_EINSUM_SEED", "20261125"))
DRAWS = int(os.environ.get("SCHAAS_EINSUM_DRAWS", "30"))


def dense(given):
    return given.toarray() if sp.issparse(given) else np.asarray(given)


def oracle(*arguments, **options):
    """numpy's result for the same arguments, stored densely."""
    return np.einsum(*[one if isinstance(one, (str, list)) else dense(one) for one in arguments], **options)


class Subscripts(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(SEED)
        self.b = sp.random(6, 5, 0.4, format="csr", random_state=SEED)
        self.c = self.random.random((5, 4))
        self.t = self.random.random((2, 3, 4))

    def check(self, *arguments, **options):
        found, wanted = schaas.einsum(*arguments, **options), oracle(*arguments, **options)
        np.testing.assert_allclose(dense(found), wanted, rtol=1e-12)
        return found

    def test_ellipses_stand_for_the_other_modes(self):
        for text, operands in (("...ij,jk->...ik", (self.t, self.random.random((4, 5)))), ("i...", (self.t,)), ("...,...", (self.t, self.t[0])),
                               ("...i->...", (self.t,)), ("i...,i->...", (self.t, np.ones(2))), ("...->...", (2.0,)),
                               ("ij...->j...i", (self.t,)), ("...ij->ij", (self.c,)), ("ij->...ij", (self.c,))):
            with self.subTest(text=text):
                self.check(text, *operands)

    def test_the_interleaved_form_is_numpys(self):
        for arguments in ((self.b, [0, 1], self.c, [1, 2], [0, 2]), (self.b, [0, 1], self.c, [1, 2]), (self.c, [1, 0]),
                          (self.t, [Ellipsis, 3], [3, Ellipsis]), (self.c, [30, 4]), (self.c, [0, 1], [])):
            self.check(*arguments)

    def test_extents_of_1_go_with_any(self):
        column, row = self.random.random((6, 1)), self.random.random((1, 5))
        for text, operands in (("ij,ij->ij", (self.b, column)), ("ij,ij", (row, column)), ("ij,ij->", (self.b, row)),
                               ("ij,ij->ij", (self.b, sp.csr_matrix(column))), ("...,...->...", (column, row)), ("ij,ij->ij", (row, row)),
                               ("ij,ij,ij->i", (column, row, np.ones((1, 1)))), ("i,i->i", (np.ones(0), np.ones(1)))):
            with self.subTest(text=text):
                self.check(text, *operands)

    def test_blanks_mean_nothing(self):
        np.testing.assert_allclose(schaas.einsum(" i j ,\n j k\t-> i k", self.b, self.c), self.b @ self.c, rtol=1e-13)

    def test_repeated_indices_are_diagonals(self):
        square = self.random.random((4, 4))
        for text, operands in (("ii", (square,)), ("ii->i", (square,)), ("ii->i", (sp.csc_matrix(square),)), ("ii,ij->j", (square, self.c[:4])),
                               ("iij->ij", (np.stack([square] * 4),))):
            with self.subTest(text=text):
                self.check(text, *operands)

    def test_numbers_and_lists_are_operands(self):
        self.check(",ij->ij", 3, self.b)
        self.check("", 5.0)
        np.testing.assert_array_equal(schaas.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1]), [3, 7])

    def test_messages_speak_of_the_users_letters(self):
        b, c, cube = self.b, self.c, self.t
        for arguments, code, text in (
                (("ij,jk->ik", b, c.T), "extent-conflict", "`ij,jk->ik`: index `j` has extent 5 in operand 1, but 4 in operand 2"),
                (("ii->i", c), "extent-conflict", "`ii->i`: index `i` has extents 5 and 4 in operand 1 of shape (5, 4)"),
                (("...ij,...jk", cube, np.ones((3, 4, 2))), "extent-conflict",
                 "`...ij,...jk`: mode -1 of the ellipsis has extent 2 in operand 1, but 3 in operand 2"),
                (("ij,jk->iz", b, c), "einsum-subscripts", "`ij,jk->iz`: index `z` of the result is in no operand"),
                (("ij->ii", c), "einsum-subscripts", "`ij->ii`: the result has index `i` more than once"),
                (("...ij->ij", cube), "einsum-subscripts", "`...ij->ij`: the result has no ellipsis `...` for the 1 modes of that of the operands"),
                (("i..j", c), "einsum-subscripts", "`i..j`: operand 1 has a `.` that is not part of one ellipsis `...`"),
                (("ij,j!->i", b, c), "einsum-subscripts", "`ij,j!->i`: `!` is no index; indices are letters"),
                (("ij->i->j", c), "einsum-subscripts", "`ij->i->j`: there is more than one `->`"),
                (("ij,jk->ik", b, c[0]), "operand-rank", "`ij,jk->ik`: operand 2 has 2 subscripts, but order 1"),
                (("ij->i", cube), "operand-rank", "`ij->i`: operand 1 has 2 subscripts, but order 3; an ellipsis `...` stands for the other modes"),
                (("ij,jk->ik", b), "argument-count", "`ij,jk->ik` takes 2 tensors, 1 were given"),
                ((b, [0, 1], c, [0, 2]), "extent-conflict", "`[0][1],[0][2]`: index `0` has extent 6 in operand 1, but 5 in operand 2"),
                ((c, [0, 60]), "einsum-subscripts", "[0, 60]: 60 is no index; indices are 0 to 51"),
                ((c, "ij"), "einsum-subscripts", "'ij': expected a list of whole numbers and Ellipsis after each operand, or subscripts as one "
                                                 "text before them")):
            with self.subTest(code=code, text=text), self.assertRaises(schaas.Invalid) as raised:
                schaas.einsum(*arguments)
            self.assertEqual((raised.exception.code, raised.exception.message), (code, text))


class Options(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(SEED)
        self.b, self.c = self.random.random((6, 5)), self.random.random((5, 4))

    def test_optimize_is_taken(self):
        for optimize in (True, False, "greedy", "optimal", ["einsum_path", (0, 1)]):
            np.testing.assert_allclose(schaas.einsum("ij,jk->ik", self.b, self.c, optimize=optimize), self.b @ self.c, rtol=1e-13)

    def test_dtype_and_casting_are_numpys(self):
        narrow = self.b.astype(np.float32)
        self.assertEqual(schaas.einsum("ij,jk->ik", narrow, self.c.astype(np.float32)).dtype, np.float32)
        self.assertEqual(schaas.einsum("ij,jk->ik", narrow, self.c.astype(np.float32), dtype=np.float64).dtype, np.float64)
        self.assertEqual(schaas.einsum("ij,jk->ik", narrow, self.c, dtype="f4", casting="same_kind").dtype, np.float32)
        for options, text in ((dict(dtype="f4"), "operand 1 holds float64, which dtype='f4' does not take with casting='safe'; "
                                                 "casting='same_kind' or 'unsafe' does"),
                              (dict(dtype="f46"), "dtype='f46': expected f64, f32, i64, i32, bf16, f16, i8, i16, u8, u16, u32, u64, bool, c64 or c128; did you mean `f64`?"),
                              (dict(dtype=np.clongdouble), f"dtype={np.clongdouble}: expected f64, f32, i64, i32, bf16, f16, i8, i16, u8, u16, u32, u64, bool, c64 or c128"),
                              (dict(order="Q"), "order='Q': expected 'C', 'F', 'A', 'K'"),
                              (dict(casting="x"), "casting='x': expected 'no', 'equiv', 'safe', 'same_kind', 'unsafe'")):
            with self.assertRaises(schaas.Invalid) as raised:
                schaas.einsum("ij,jk->ik", self.b, self.c, **options)
            self.assertEqual(raised.exception.message, text)

    def test_order_is_the_layout_of_the_result(self):
        for order, by_columns in (("C", False), ("F", True), ("K", False), ("A", False)):
            found = schaas.einsum("ij,jk->ik", self.b, self.c, order=order)
            np.testing.assert_allclose(found, self.b @ self.c, rtol=1e-13)
            self.assertEqual(found.flags.f_contiguous, by_columns)

    def test_out_is_any_array_that_casting_allows(self):
        wanted = self.b @ self.c
        wide = np.zeros((6, 8))
        for out in (np.zeros((6, 4)), np.zeros((4, 6)).T, wide[:, ::2]):
            self.assertIs(schaas.einsum("ij,jk->ik", self.b, self.c, out=out), out)
            np.testing.assert_allclose(out, wanted, rtol=1e-13)
        self.assertFalse(wide[:, 1::2].any())
        narrow = np.zeros((6, 4), np.float32)
        schaas.einsum("ij,jk->ik", self.b, self.c, out=narrow, casting="same_kind")
        np.testing.assert_allclose(narrow, wanted, rtol=1e-6)
        for out, code in ((narrow, "out"), (np.zeros((6, 5)), "result-shape"), (np.zeros((5, 6)).T, "result-shape")):
            with self.assertRaises(schaas.Invalid) as raised:
                schaas.einsum("ij,jk->ik", self.b, self.c, out=out)
            self.assertEqual(raised.exception.code, code)


class SparseResults(unittest.TestCase):
    def test_have_the_pattern_of_sparse_operands(self):
        random = np.random.default_rng(SEED)
        b = sp.random(6, 5, 0.4, format="csr", random_state=SEED)
        c, d, x = random.random((6, 2)), random.random((5, 2)), random.random(5)
        t = schaas.tensor([[0, 2, 2], [1, 0, 3], [4, 2, 2]], [1.0, 2.0, 3.0], (5, 6, 5))
        v = schaas.tensor([[1, 3]], [2.0, 3.0], (5,))
        for text, operands, kind in (
                ("ij,ik,jk->ij", (b, c, d), "csr"), ("ij,ik,jk->ji", (b, c, d), "csc"), ("ij->ji", (b.tocsc(),), "csr"),
                ("ij,kj->ik", (b, b), "csr"), ("ij,kl->ijkl", (b, b), "csf"), ("ijk->ijk", (t,), "csf"), ("ijk,k->ij", (t, x), "csr"),
                (",ij->ij", (2.0, b), "csr"), ("i,i->i", (v, x), "compressed"),
                ("ij,j->i", (b, x), None), ("ij->j", (b,), None), ("ij,jk->ik", (b, d), None), ("ij,ij->", (b, b), None)):
            with self.subTest(text=text):
                found = schaas.einsum(text, *operands)
                self.assertEqual(getattr(found, "format", None), kind)
                np.testing.assert_allclose(dense(found), oracle(text, *operands), rtol=1e-12)

    def test_are_dense_where_out_is_given(self):
        b = sp.random(6, 5, 0.4, format="csr", random_state=SEED)
        out = np.empty((6, 6))
        schaas.einsum("ij,kj->ik", b, b, out=out)
        np.testing.assert_allclose(out, (b @ b.T).toarray(), rtol=1e-12)


class Drawn(unittest.TestCase):
    """Subscripts, operands and options at random; numpy computes, or refuses, the same."""

    def operand(self, random, shape):
        values = random.integers(-8, 9, shape) / 4 * (random.random(shape) < 0.6)
        kind = random.choice(["dense", "sparse", "by columns", "f4", "int"], p=[0.35, 0.35, 0.1, 0.1, 0.1])
        if kind == "sparse" and len(shape) == 2:
            return getattr(sp, random.choice(["csr_matrix", "csc_matrix", "coo_matrix", "csr_array"]))(values)
        if kind == "sparse" and len(shape) > 0:
            return schaas.tensor(np.array(np.nonzero(values)), values[np.nonzero(values)], shape)
        if kind == "by columns":
            return np.asfortranarray(values)
        return values.astype({"f4": np.float32, "int": np.int64}.get(kind, np.float64))

    def form(self, random):
        """Subscripts and shapes, mostly such that go together."""
        letters = list(random.choice(list("ijkABz"), 3, replace=False))
        extents = {letter: int(random.choice([0, 1, 2, 3, 4], p=[0.04, 0.16, 0.3, 0.3, 0.2])) for letter in letters}
        wide = [int(random.integers(1, 4)) for _ in range(2)]  # of an ellipsis
        inputs, shapes = [], []
        for _ in range(random.integers(1, 4)):
            labels = [str(one) for one in random.choice(letters, random.integers(0, 4), replace=random.random() < 0.15)]
            shape = [1 if random.random() < 0.12 and labels.count(one) == 1 else extents[one] for one in labels]
            if random.random() < 0.03 and shape:
                shape[0] += 1
            if random.random() < 0.25 and len(labels) < 3:
                at, count = int(random.integers(0, len(labels) + 1)), int(random.integers(0, 3))
                labels.insert(at, "...")
                shape[at:at] = [extent if random.random() < 0.8 else 1 for extent in wide[2 - count:]]
            inputs.append(labels)
            shapes.append(tuple(shape))
        output = None
        if random.random() < 0.7:
            known = sorted({label for labels in inputs for label in labels if label != "..."})
            output = [str(one) for one in random.permutation(known)[:random.integers(0, len(known) + 1)]]
            if any("..." in labels for labels in inputs) and random.random() < 0.9:
                output.insert(int(random.integers(0, len(output) + 1)), "...")
        return inputs, output, shapes

    def arguments(self, random):
        inputs, output, shapes = self.form(random)
        operands = [self.operand(random, shape) for shape in shapes]
        if random.random() < 0.2:
            number = {letter: at for at, letter in enumerate("ABijkz")}
            lists = [[Ellipsis if one == "..." else number[one] for one in labels] for labels in inputs]
            arguments = [one for pair in zip(operands, lists) for one in pair]
            return arguments + ([] if output is None else [[Ellipsis if one == "..." else number[one] for one in output]])
        text = ",".join(map("".join, inputs)) + ("" if output is None else "->" + "".join(output))
        return [text.replace(",", random.choice([",", " , "])), *operands]

    def test_is_what_numpy_gives(self):
        print(f"seed {SEED}, {DRAWS} draws")
        random, refused = np.random.default_rng(SEED), 0
        for draw in range(DRAWS):
            arguments = self.arguments(random)
            shown = [one if isinstance(one, (str, list)) else (type(one).__name__, one.shape) for one in arguments]
            with self.subTest(draw=draw, arguments=shown):
                try:
                    wanted = oracle(*arguments)
                except ValueError:
                    refused += 1
                    with self.assertRaises(schaas.Invalid):
                        schaas.einsum(*arguments)
                    continue
                found = dense(schaas.einsum(*arguments))
                self.assertEqual(found.shape, wanted.shape)
                np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-12)
        self.assertLess(refused, DRAWS / 3)


if __name__ == "__main__":
    with_server.main()
