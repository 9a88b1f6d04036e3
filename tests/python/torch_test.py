"""Gradients for torch, compared with torch's own of the same product of dense tensors."""

import sys
import unittest

import with_server

try:
    import torch
except ImportError as error:
    print(f"SKIP: {error}; apt-get install python3-torch")
    sys.exit(77)

with_server.daemon()
import schaas

SEED = 20261123


def setUpModule():
    print(f"seed {SEED}, torch {torch.__version__}")


def pattern(rows, columns, generator):
    dense = torch.rand(rows, columns, generator=generator, dtype=torch.float64)
    return dense * (torch.rand(rows, columns, generator=generator) < 0.3)


class Results(unittest.TestCase):
    """A result is a torch tensor where an operand or `out` is one."""

    def setUp(self):
        self.generator = torch.Generator().manual_seed(SEED)
        self.dense = pattern(6, 5, self.generator)
        self.x = torch.rand(5, generator=self.generator, dtype=torch.float64)

    def test_sparse_results_have_the_layout_of_their_format(self):
        for format, given, layout in (("csr", self.dense.to_sparse_csr(), torch.sparse_csr), ("coo", self.dense.to_sparse(), torch.sparse_coo)):
            for dtype in (torch.float64, torch.float32):
                found = schaas.kernel("A(i,j) = 2 * B(i,j)", A=format)(given.to(dtype))
                self.assertEqual((found.layout, found.dtype), (layout, dtype))
                torch.testing.assert_close(found.to_dense(), (2 * self.dense).to(dtype))
        vector = (self.x * (self.x > 0.5)).to_sparse()
        found = schaas.kernel("a(i) = 2 * b(i)", a="compressed")(vector)
        self.assertEqual(found.layout, torch.sparse_coo)
        torch.testing.assert_close(found.to_dense(), 2 * vector.to_dense())
        tensor = pattern(3, 20, self.generator).reshape(3, 4, 5)
        found = schaas.kernel("A(i,j,k) = 2 * B(i,j,k)", A="coo")(tensor.to_sparse())
        torch.testing.assert_close(found.to_dense(), 2 * tensor)
        self.assertIsInstance(schaas.kernel("A(i,j,k) = 2 * B(i,j,k)", A="csf")(tensor.to_sparse()), schaas.Tensor)

    def test_scalars_and_mixed_operands(self):
        found = schaas.kernel("s = x(i) * y(i)")(self.x, self.x.numpy())
        self.assertEqual((type(found), found.shape, found.dtype), (torch.Tensor, (), torch.float64))
        f = schaas.kernel("y(i) = B(i,j) * x(j)")
        torch.testing.assert_close(f(self.dense.numpy(), self.x), self.dense @ self.x)
        torch.testing.assert_close(f.bind(self.dense, self.x.numpy())(), self.dense @ self.x)

    def test_out_is_written_and_returned(self):
        f = schaas.kernel("y(i) = B(i,j) * x(j)")
        out = torch.empty(6, dtype=torch.float64)
        for compute in (lambda: f(self.dense, self.x, out=out), lambda: f(self.dense.numpy(), self.x.numpy(), out=out),
                        f.bind(self.dense, self.x, out=out)):
            out.zero_()
            self.assertIs(compute(), out)
            torch.testing.assert_close(out, self.dense @ self.x)
        loss = (torch.ones(6, dtype=torch.float64, requires_grad=True) * out).sum()
        f(self.dense, self.x, out=out)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            loss.backward()

    def test_out_that_cannot_be_written_is_refused(self):
        f = schaas.kernel("y(i) = B(i,j) * x(j)")
        for out, why in ((torch.empty(6), "float64"), (torch.empty(12, dtype=torch.float64)[::2], "not contiguous"),
                         (torch.empty(6, dtype=torch.float64, requires_grad=True), "requires a gradient")):
            with self.assertRaisesRegex(schaas.Invalid, why):
                f(self.dense, self.x, out=out)


class Gradients(unittest.TestCase):
    def setUp(self):
        self.generator = torch.Generator().manual_seed(SEED)

    def dense(self, *shape, dtype=torch.float64):
        return torch.rand(*shape, generator=self.generator, dtype=dtype).requires_grad_()

    def compare(self, statement, subscripts, operands, scale=1.0):
        """Both ways from the same leaves."""
        f = schaas.kernel(statement)
        weights = None
        found = []
        for compute in (lambda: f(*operands), lambda: scale * torch.einsum(subscripts, *[one.to_dense() for one in operands])):
            result = compute()
            if weights is None:
                weights = torch.rand(result.shape, generator=self.generator, dtype=result.dtype)
            leaves = [one for one in operands if one.requires_grad]
            found.append((result, torch.autograd.grad((result * weights).sum(), leaves)))
        torch.testing.assert_close(found[0][0], found[1][0])
        for mine, theirs in zip(found[0][1], found[1][1]):
            torch.testing.assert_close(mine.to_dense(), theirs.to_dense())

    def test_of_dense_factors(self):
        b = pattern(9, 7, self.generator)
        for sparse in (b.to_sparse(), b.to_sparse_csr()):
            self.compare("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "ij,ik,jk,jl->il",
                         [sparse, self.dense(9, 4), self.dense(7, 4), self.dense(7, 3)])
        self.compare("A(i,k) = 2 * C(i,j) * D(j,k)", "ij,jk->ik", [self.dense(4, 5), self.dense(5, 3)], scale=2.0)
        self.compare("s = x(i) * y(i)", "i,i->", [self.dense(6), self.dense(6)])
        self.compare("y(i) = C(i,j)", "ij->i", [self.dense(6, 3)])  # j is in no other factor

    def test_of_a_sparse_factor_at_its_pattern(self):
        b = pattern(9, 7, self.generator)
        c, d, e = self.dense(9, 4), self.dense(7, 4), self.dense(7, 3)
        f = schaas.kernel("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)")
        leaf = b.clone().requires_grad_()
        torch.einsum("ij,ik,jk,jl->il", leaf, c, d, e).sum().backward()
        for layout in ("coo", "csr"):
            sparse = (b.to_sparse() if layout == "coo" else b.to_sparse_csr()).requires_grad_()
            (found,) = torch.autograd.grad(f(sparse, c, d, e).sum(), [sparse])
            self.assertEqual(found.layout, sparse.layout)
            torch.testing.assert_close(found.to_dense(), leaf.grad * (b != 0))

    def test_of_a_tensor_that_stands_twice(self):
        c = self.dense(5, 5)
        found = schaas.kernel("y(i,k) = C(i,j) * C(j,k)")(c)
        (mine,) = torch.autograd.grad((found * found).sum(), [c])
        expected = c @ c
        (theirs,) = torch.autograd.grad((expected * expected).sum(), [c])
        torch.testing.assert_close(mine, theirs)

    def test_of_gradients(self):
        b = pattern(6, 5, self.generator).to_sparse()
        f = schaas.kernel("A(i,k) = B(i,j) * C(j,k) * x(k)")
        c, x = self.dense(5, 3), self.dense(3)
        self.assertTrue(torch.autograd.gradcheck(lambda c, x: f(b, c, x), (c, x)))
        self.assertTrue(torch.autograd.gradgradcheck(lambda c, x: f(b, c, x), (c, x)))

    def test_a_step_of_descent(self):
        b = pattern(8, 6, self.generator)
        target, c = torch.rand(8, 2, generator=self.generator, dtype=torch.float64), self.dense(6, 2)
        f = schaas.kernel("A(i,k) = B(i,j) * C(j,k)")
        sparse, optimizer, losses = b.to_sparse_csr(), torch.optim.SGD([c], lr=0.05), []
        for _ in range(20):
            optimizer.zero_grad()
            loss = ((f(sparse, c) - target) ** 2).sum()
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        self.assertLess(losses[-1], 0.7 * losses[0])

    def test_says_what_has_none(self):
        x = self.dense(4)
        for statement, why in (("y(i) = exp(x(i))", "gradients are of one statement that is a product of tensors"),
                               ("s = x(i) * x(i) + x(i)", "gradients are of one statement that is a product of tensors")):
            with self.assertRaises(schaas.Unsupported) as raised:
                schaas.kernel(statement)(x)
            self.assertEqual(str(raised.exception), f"unsupported [gradient]: `{statement}`: {why}; detach its operands and write the "
                                                    "gradient as a kernel of its own")
        with torch.no_grad():
            torch.testing.assert_close(schaas.kernel("y(i) = exp(x(i))")(x.detach()), torch.exp(x))


if __name__ == "__main__":
    with_server.main()
