"""Results as torch tensors, and gradients for torch compared with torch's own of the same function of dense tensors."""

import os
import resource
import sys
import threading
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


class Trees(unittest.TestCase):
    """What schaas_parse says of a statement's value."""

    def test_printed_trees_read_the_same(self):
        from schaas._expressions import Access, Call, Number, parsed, printed
        for text in ("a(i) - (b(i) - c(i) / (d(i) / 2)) * -x", "B(i,j) * exp(-s(i) - 2 * max(k,l)(T(j,k,l)))", "(a(i) < b(i)) * (2 <= a(i)) + inf",
                     "where(and(a(i) != 0, not(b(i))), pow(a(i), 1e-3), min(a(i), b(i), 3))", "sum(j)(prod(k)(T(i,j,k)) + or(k)(T(i,j,k)))"):
            tree = parsed(f"r(i) = {text}")["statements"][0]["value"]
            self.assertEqual(parsed(f"r(i) = {printed(tree)}")["statements"][0]["value"], tree, text)
        told = parsed("T(i) = x(i) * 2; y max= T(i)")["statements"]
        self.assertEqual([statement["update"] for statement in told], [None, "max"])
        self.assertEqual(told[0]["value"], Call("*", (Access("x", ("i",)), Number(2.0))))


def kernel(statement, **options):
    """Runs the first kernel there is: others are not better enough to wait for."""
    return schaas.kernel(statement, patience=0.01, **options)


def random(generator, *shape):
    """Positive and away from the kinks of functions."""
    return 0.2 + torch.rand(shape, generator=generator, dtype=torch.float64)


def softmax(scores, mask):
    weights = mask * torch.exp(scores)
    return weights / weights.sum(1, keepdim=True).clamp(min=1e-300)


LAYER = """E(i,j) = B(i,j) * exp(relu(s(i) + t(j)) - 0.2 * relu(-s(i) - t(j)));
           Z(i) = E(i,j);
           H(i,k) = E(i,j) * X(j,k) / Z(i)"""
ATTENTION = "T(i,j) = {}Q(i,k) * K(j,k); E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j); Y(i,l) = E(i,j) / S(i) * V(j,l)"
HEADS = """T(i,j,h) = Q(i,h,k) * K(j,h,k); E(i,j,h) = B(i,j) * exp(T(i,j,h)); S(i,h) = E(i,j,h);
           Y(i,h,l) = E(i,j,h) / S(i,h) * V(j,h,l)"""
STABLE = """T(i,j) = Q(i,k) * K(j,k); M(i) = max(j)(where(B(i,j) != 0, T(i,j), -1000)); E(i,j) = B(i,j) * exp(T(i,j) - M(i));
            S(i) = E(i,j); Y(i,l) = E(i,j) / S(i) * V(j,l)"""


def heads(B, Q, K, V):
    weights = B[:, :, None] * torch.exp(torch.einsum("ihk,jhk->ijh", Q, K))
    return torch.einsum("ijh,jhl->ihl", weights / weights.sum(1, keepdim=True).clamp(min=1e-300), V)


def leaky(s, t):
    return torch.nn.functional.leaky_relu(s[:, None] + t[None, :], 0.2)


# (statement, shapes of operands, of sparse ones with the layout, the same with torch). Operands come by name.
CASES = {
    "functions": [
        ("y(i) = " + " + ".join(f"{name}(x(i))" for name in ("exp", "log", "tan", "tanh", "sigmoid", "sqrt", "sin", "cos", "expm1", "log1p",
                                                           "log2", "log10", "sinh", "cosh", "atan", "erf")), {"x": (6,)},
         lambda x: x.exp() + x.log() + x.tan() + x.tanh() + x.sigmoid() + x.sqrt() + x.sin() + x.cos() + x.expm1() + x.log1p()
         + x.log2() + x.log10() + x.sinh() + x.cosh() + x.atan() + x.erf()),
        ("y(i) = asin(0.5 * x(i) / (1 + x(i))) + acos(0.5 * x(i) / (1 + x(i)))", {"x": (6,)},
         lambda x: (0.5 * x / (1 + x)).asin() + (0.5 * x / (1 + x)).acos()),
        ("y(i) = x(i) * (" + " + ".join(f"{name}(x(i) - 0.7)" for name in ("abs", "relu", "sign", "floor", "ceil", "round")) + ")", {"x": (6,)},
         lambda x: x * sum(f(x - 0.7) for f in (torch.abs, torch.relu, torch.sign, torch.floor, torch.ceil, torch.round))),
    ],
    "arithmetic": [
        ("s = x(i) * x(i) + x(i)", {"x": (6,)}, lambda x: (x * x + x).sum()),
        ("y(i) = x(i) / (x(i) + z(i)) - 3 / z(i)", {"x": (6,), "z": (6,)}, lambda x, z: x / (x + z) - 3 / z),
        ("y(i) = pow(x(i), 3) + pow(x(i), z(i)) - pow(2, x(i))", {"x": (6,), "z": (6,)}, lambda x, z: x**3 + x**z - 2**x),
        ("y(i) = max(x(i), z(i), 0.3) + min(x(i), z(i))", {"x": (6,), "z": (6,)},
         lambda x, z: torch.maximum(torch.maximum(x, z), torch.tensor(0.3, dtype=x.dtype)) + torch.minimum(x, z)),
        ("y(i) = where(x(i) > z(i), log(x(i)), z(i) * z(i)) * (x(i) < 1)", {"x": (6,), "z": (6,)},
         lambda x, z: torch.where(x > z, x.log(), z * z) * (x < 1)),
        ("A(i,j) = alpha * b(i) * x(j) + 2", {"alpha": (), "b": (3,), "x": (4,)}, lambda alpha, b, x: alpha * torch.outer(b, x) + 2),
        ("y(i) = (sum(j)(A(i,j) * x(j)) + b(i)) / 2", {"A": (3, 4), "x": (4,), "b": (3,)}, lambda A, x, b: (A @ x + b) / 2),
        ("y(i) = sum(j)((A(i,j) * x(j) + b(i)) / 2)", {"A": (3, 4), "x": (4,), "b": (3,)}, lambda A, x, b: ((A * x + b[:, None]) / 2).sum(1)),
        ("y(i) = a(i) * sum(j)(A(i,j) * sum(k)(C(j,k) * x(k))) / sum(j)(A(i,j))", {"A": (3, 4), "C": (4, 2), "x": (2,), "a": (3,)},
         lambda A, C, x, a: a * (A @ C @ x) / A.sum(1)),
        ("D(i,j) = sqrt(sum(k)((X(i,k) - Z(j,k)) * (X(i,k) - Z(j,k))))", {"X": (4, 3), "Z": (5, 3)}, lambda X, Z: (X[:, None] - Z[None]).norm(dim=2)),
        ("a = B(i,i) * c(i)", {"B": (4, 4), "c": (4,)}, lambda B, c: (B.diagonal() * c).sum()),
    ],
    "reductions": [
        ("y(i) = max(j)(X(i,j) * c(j))", {"X": (4, 5), "c": (5,)}, lambda X, c: (X * c).amax(1)),
        ("y(i) = min(j)(X(i,j)) + 1", {"X": (4, 5)}, lambda X: X.amin(1) + 1),
        ("y(i) = prod(j)(X(i,j) - c(j))", {"X": (4, 5), "c": (5,)}, lambda X, c: (X - c).prod(1)),
        ("y(i) = max(j)(B(i,j))", {"B": (6, 5, "csr")}, lambda B: B.amax(1)),
        ("M(i) = max(j)(X(i,j)); E(i,j) = exp(X(i,j) - M(i)); S(i) = E(i,j); Y(i,j) = E(i,j) / S(i)", {"X": (4, 5)}, lambda X: X.softmax(1)),
    ],
    "updates": [
        ("Y(i) += 2 * B(i,j) * x(j)", {"B": (6, 5, "csr"), "x": (5,), "Y": (6,)}, lambda B, x, Y: Y + 2 * B @ x),
        ("Y(i) *= x(i)", {"x": (6,), "Y": (6,)}, lambda x, Y: Y * x),
        ("Y(i) max= x(i)", {"x": (6,), "Y": (6,)}, lambda x, Y: torch.maximum(Y, x)),
    ],
    "sparse": [
        ("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {"B": (6, 5, "csr"), "C": (6, 3), "D": (5, 3), "E": (5, 2)},
         lambda B, C, D, E: (B * (C @ D.T)) @ E),
        ("y(i) = b(i) + A(i,j) * x(j) - C(i,j) * x(j) / 3", {"A": (6, 5, "csr"), "C": (6, 5, "coo"), "x": (5,), "b": (6,)},
         lambda A, C, x, b: b + A @ x - C @ x / 3),
        ("T(i,j) = A(i,j) + C(i,j); Y(i,k) = T(i,j) * X(j,k)", {"A": (6, 5, "csr"), "C": (6, 5, "csr"), "X": (5, 2)}, lambda A, C, X: (A + C) @ X),
        ("y(i) = B(i,j) * C(i,j) * x(j)", {"B": (6, 5, "csr"), "C": (6, 5, "csr"), "x": (5,)}, lambda B, C, x: (B * C) @ x),
        ("s = x(i) * A(i,j) * x(j)", {"A": (6, 6, "csr"), "x": (6,)}, lambda A, x: x @ A @ x),
        ("C(i,k) = A(i,j) * A(j,k)", {"A": (6, 6, "csr")}, lambda A: A @ A),
        ("A(i,r) = T(i,j,k) * C(j,r) * D(k,r)", {"T": (3, 4, 5, "coo"), "C": (4, 2), "D": (5, 2)},
         lambda T, C, D: torch.einsum("ijk,jr,kr->ir", T, C, D)),
        ("y(i) = M(i,j) * w(j)", {"M": (4, 6), "w": (6, "coo")}, lambda M, w: M @ w),
        ("A(i,j) = where(B(i,j) > 0, C(i,j) * D(i,j), 0)", {"B": (6, 5, "csr"), "C": (6, 5), "D": (6, 5)},
         lambda B, C, D: torch.where(B > 0, C * D, torch.zeros_like(C))),
        ("R(i,j) = B(i,j) * (X(i,r) * Z(j,r)); s = R(i,j) * R(i,j)", {"B": (6, 5, "csr"), "X": (6, 2), "Z": (5, 2)},
         lambda B, X, Z: (B * (X @ Z.T)).square().sum()),
    ],
    "networks": [
        ("Y(i,k) = relu(sum(j,l)(A(i,j) * X(j,l) * W(l,k)) - b(k))", {"A": (6, 6, "csr"), "X": (6, 3), "W": (3, 2), "b": (2,)},
         lambda A, X, W, b: torch.relu(A @ X @ W - b)),
        ("Y(i,k) = X(i,k) + sum(j)(A(i,j) * X(j,k))", {"A": (6, 6, "csr"), "X": (6, 3)}, lambda A, X: X + A @ X),
        (ATTENTION.format("B(i,j) * "), {"B": (6, 6, "csr"), "Q": (6, 3), "K": (6, 3), "V": (6, 2)},
         lambda B, Q, K, V: softmax(B * (Q @ K.T), B) @ V),
        (ATTENTION.format(""), {"B": (6, 6, "coo"), "Q": (6, 3), "K": (6, 3), "V": (6, 2)}, lambda B, Q, K, V: softmax(Q @ K.T, B) @ V),
        (HEADS, {"B": (6, 6, "csr"), "Q": (6, 2, 3), "K": (6, 2, 3), "V": (6, 2, 4)}, heads),
        (STABLE, {"B": (6, 6, "csr"), "Q": (6, 3), "K": (6, 3), "V": (6, 2)}, lambda B, Q, K, V: softmax(Q @ K.T, B) @ V),
        (LAYER, {"B": (6, 6, "csr"), "s": (6,), "t": (6,), "X": (6, 3)}, lambda B, s, t, X: softmax(leaky(s, t), B) @ X),
    ],
}


class Gradients(unittest.TestCase):
    """The same as torch's own of the same function of dense tensors."""

    def setUp(self):
        self.generator = torch.Generator().manual_seed(SEED)

    def operand(self, shape):
        """(as schaas takes it, dense), both leaves."""
        layout = shape[-1] if shape and isinstance(shape[-1], str) else None
        if layout is None:
            dense = random(self.generator, *shape)
            return dense.clone().requires_grad_(), dense.requires_grad_()
        dense = random(self.generator, *shape[:-1]) * (torch.rand(*shape[:-1], generator=self.generator) < 0.4)
        return (dense.to_sparse() if layout == "coo" else dense.to_sparse_csr()).requires_grad_(), dense.requires_grad_()

    def compare(self, statement, shapes, reference):
        operands = {name: self.operand(shape) for name, shape in shapes.items()}
        found = kernel(statement)(**{name: mine for name, (mine, _) in operands.items()})
        expected = reference(**{name: dense for name, (_, dense) in operands.items()})
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
        weights = random(self.generator, *found.shape)
        (found * weights).sum().backward()
        (expected * weights).sum().backward()
        for name, (mine, dense) in operands.items():
            self.assertEqual(mine.grad.layout, mine.layout, name)
            theirs = torch.zeros_like(dense) if dense.grad is None else dense.grad
            if mine.layout != torch.strided:
                theirs = theirs * (dense != 0)
            torch.testing.assert_close(mine.grad.to_dense(), theirs, rtol=1e-8, atol=1e-8, msg=lambda text, name=name: f"{name}: {text}")

    def test_a_tensor_of_entries_and_its_gradient_of_another_type(self):
        sparse = pattern(6, 5, self.generator).to_sparse_csr().requires_grad_()
        x = torch.rand(5, generator=self.generator).requires_grad_()
        found = kernel("y(i) = B(i,j) * x(j)")(sparse, x)
        found.sum().backward()
        self.assertEqual((found.dtype, sparse.grad.dtype, x.grad.dtype), (torch.float64, torch.float64, torch.float32))
        found = kernel("y(i) = B(i,j) * x(j)")(sparse.detach().to(torch.float32), x)
        self.assertEqual(found.dtype, torch.float32)

    def test_constants_may_be_of_numpy_and_scipy(self):
        import scipy.sparse
        dense = pattern(6, 5, self.generator)
        x = random(self.generator, 5).requires_grad_()
        kernel("y(i) = B(i,j) * x(j) * c(j)")(scipy.sparse.coo_matrix(dense.numpy()), x, dense[0].numpy()).sum().backward()
        torch.testing.assert_close(x.grad, dense.sum(0) * dense[0])

    def test_sparse_results_pass_gradients_on(self):
        dense = pattern(6, 5, self.generator)
        for layout in ("coo", "csr"):
            c, d = random(self.generator, 6, 2).requires_grad_(), random(self.generator, 5, 2).requires_grad_()
            m = random(self.generator, 5, 3)
            sparse = (dense.to_sparse() if layout == "coo" else dense.to_sparse_csr()).requires_grad_()
            found = kernel("A(i,j) = B(i,j) * C(i,k) * D(j,k)", A=layout)(sparse, c, d)
            self.assertEqual(found.layout, sparse.layout)
            mine = torch.autograd.grad(kernel("Y(i,k) = A(i,j) * M(j,k)")(found, m).sum(), [sparse, c, d])
            leaf = dense.clone().requires_grad_()
            theirs = torch.autograd.grad(((leaf * (c @ d.T)) @ m).sum(), [leaf, c, d])
            torch.testing.assert_close(mine[0].to_dense(), theirs[0] * (dense != 0))
            torch.testing.assert_close(mine[1:], theirs[1:])

    def test_of_gradients(self):
        b = pattern(6, 5, self.generator)
        for statement, sparse, shapes in (
                ("A(i,k) = B(i,j) * C(j,k) * x(k)", b.to_sparse(), ((5, 3), (3,))),
                (LAYER, b.to_sparse_csr(), ((6,), (5,), (5, 2))),
                ("y(i) = B(i,j) * prod(k)(X(j,k))", b.to_sparse_csr(), ((5, 2),))):
            f = kernel(statement)
            leaves = tuple(random(self.generator, *shape).requires_grad_() for shape in shapes)
            for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):  # better kernels, which round otherwise, may come meanwhile
                self.assertTrue(check(lambda *given, f=f, sparse=sparse: f(sparse, *given), leaves, nondet_tol=1e-12))

    def test_ties_share_or_are_zero(self):
        x, z = (torch.ones(3, dtype=torch.float64, requires_grad=True) for _ in range(2))
        kernel("y(i) = max(x(i), z(i))")(x, z).sum().backward()
        self.assertEqual((x.grad.tolist(), z.grad.tolist()), ([0.5] * 3, [0.5] * 3))
        x.grad = None
        kernel("s = max(i)(x(i))")(x).backward()
        torch.testing.assert_close(x.grad, torch.full((3,), 1 / 3, dtype=torch.float64))
        zero = torch.zeros(2, dtype=torch.float64, requires_grad=True)
        kernel("y(i) = relu(x(i)) + abs(x(i)) + where(x(i) > 0, log(x(i)), 0)")(zero).sum().backward()
        self.assertEqual(zero.grad.tolist(), [0, 0])
        factors = torch.tensor([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0]], dtype=torch.float64, requires_grad=True)
        kernel("y(i) = prod(j)(X(i,j))")(factors).sum().backward()
        self.assertEqual(factors.grad.tolist(), [[0, 6, 0], [0, 0, 0]])

    def test_graph_attention_learns(self):
        """As docs/examples/graph_attention.py computes it; nothing of the size nodes x nodes is formed."""
        nodes, degree, features = 20000, 8, 16
        columns = torch.randint(0, nodes, (nodes, degree), generator=self.generator).sort(1).values
        rows = torch.arange(nodes).repeat_interleave(degree)
        places = torch.stack([rows, columns.reshape(-1)]).unique(dim=1)
        graph = torch.sparse_coo_tensor(places, torch.ones(places.shape[1], dtype=torch.float64), (nodes, nodes)).to_sparse_csr()
        given = torch.randn(nodes, features, generator=self.generator, dtype=torch.float64)
        target = torch.tanh(given @ torch.randn(features, 4, generator=self.generator, dtype=torch.float64) / 4)
        weights, left, right = (torch.randn(*shape, generator=self.generator, dtype=torch.float64).div_(4).requires_grad_()
                                for shape in ((features, 4), (4,), (4,)))
        layer, optimizer, losses = kernel(LAYER), torch.optim.Adam([weights, left, right], lr=0.05), []
        for _ in range(15):
            hidden = given @ weights
            loss = (layer(B=graph, s=hidden @ left, t=hidden @ right, X=hidden) - target).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        self.assertLess(losses[-1], 0.7 * losses[0])
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 1 << 20)  # KiB; nodes x nodes numbers take 3 GiB

    def test_kernels_of_the_backward_pass_are_there_before_it(self):
        x, z = (random(self.generator, 7).requires_grad_() for _ in range(2))
        f = kernel("y(i) = exp(x(i)) * tanh(z(i)) / x(i)")
        f(x, z)
        for thread in threading.enumerate():
            if thread.name == "schaas-gradients":
                thread.join()
        (plan,) = f._gradients.values()
        made = [kernel._sets for recipes in plan.nodes[0]._recipes.values() for nodes in recipes[1] for kernel in [nodes[-1]._kernel]]
        self.assertEqual([len(sets) for sets in made], [1, 1])

    def test_constraints_hold_for_kernels_of_the_backward_pass(self):
        b, c = (random(self.generator, *shape).requires_grad_() for shape in ((6, 5), (5, 3)))
        for where, kept in (("k <= 4", ["k <= 4"]), (["k <= 4", "2 <= i <= 1e3", "nnz(B) <= 30"], ["k <= 4", "2 <= i <= 1e3"])):
            f = kernel("A(i,k) = B(i,j) * C(j,k)", where=where)
            f(b, c).sum().backward()
            (plan,) = f._gradients.values()
            made = [nodes[-1]._kernel for recipes in plan.nodes[0]._recipes.values() for nodes in recipes[1]]
            self.assertEqual([one._where for one in made], [kept, kept])
        with self.assertRaisesRegex(schaas.Invalid, "bound-violated"):
            kernel("A(i,k) = B(i,j) * C(j,k)", where="k <= 2")(b, c)

    def test_says_what_has_none(self):
        x = random(self.generator, 4, 4).requires_grad_()
        sparse = pattern(4, 4, self.generator).to_sparse_csr()
        for compute, why in (
                (lambda: kernel("min-plus: D(i,k) = B(i,j) * C(j,k)")(x, x), r"under min-plus write the reductions out"),
                (lambda: kernel("y(i) = B(i,j)")(x, out=torch.empty(4, dtype=torch.float64)), "`out` has no gradient; leave it out"),
                (lambda: kernel("y(i) = B(i,j)")(x, schedule="linear"), "`schedule` is of one kernel"),
                (lambda: kernel("C(i,k) = A(i,j) * B(j,k)", C="csr")(sparse.requires_grad_(), sparse), "leave its format out")):
            with self.assertRaisesRegex(schaas.Unsupported, why):
                compute()
        with self.assertRaisesRegex(schaas.Invalid, r"index `j` has extent 3 by mode 2 of `B\(i,j\)` but 4 by mode 1 of `x\(j\)`"):
            kernel("T(i) = B(i,j); y(i) = T(i) + B(i,j) * x(j)")(x[:, :3], x[0])
        with torch.no_grad():
            torch.testing.assert_close(kernel("y(i) = exp(x(i))")(x.detach()[0]), torch.exp(x[0]))


def _case(cases):
    def test(self):
        for statement, shapes, reference in cases:
            with self.subTest(statement):
                self.compare(statement, shapes, reference)
    return test


MANY = "SCHAAS_MANY" in os.environ  # groups that need a hundred kernels, a minute or more of compilers

for _group, _cases in CASES.items():
    _test = _case(_cases)
    if _group in ("arithmetic", "networks"):
        _test = unittest.skipUnless(MANY, "python.many_gradients")(_test)
    setattr(Gradients, f"test_{_group}_equal_those_of_dense_tensors", _test)


if __name__ == "__main__":
    with_server.main()
