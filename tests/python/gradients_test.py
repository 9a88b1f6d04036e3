"""Programs of derivatives, compiled and run: against differences, and against torch's gradients where it is installed."""

import os
import unittest

import with_server
import numpy as np
import scipy.sparse as sp

try:
    import torch
except ImportError:
    torch = None

with_server.daemon()
import schaas

SEED = 20261126
STEP = 1e-5
MANY = "SCHAAS_MANY" in os.environ  # every program and operand, not one operand of one program in three


def setUpModule():
    print(f"seed {SEED}, torch {torch.__version__ if torch else 'is not installed'}")


def kernel(statement, **options):
    """Runs the first kernel there is."""
    return schaas.kernel(statement, patience=0.01, **options)


def attention(B, Q, K, V):
    weights = B * torch.exp(Q @ K.T)
    return weights / weights.sum(1, keepdim=True).clamp(min=1e-300) @ V


GAT = """E(i,j) = B(i,j) * exp(relu(s(i) + t(j)) - 0.2 * relu(-s(i) - t(j))); Z(i) = E(i,j); H(i,k) = E(i,j) * X(j,k) / Z(i)"""
ATTENTION = "T(i,j) = Q(i,k) * K(j,k); E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j); Y(i,l) = E(i,j) / S(i) * V(j,l)"
N, M = 7, 6

# (program, shapes, sparse operands, the same with torch). The first are the worked examples of docs/examples.
CASES = [
    ("f = (T(i,j,k) - sum(r)(A(i,r) * B(j,r) * C(k,r))) * (T(i,j,k) - sum(r)(A(i,r) * B(j,r) * C(k,r)))",
     {"T": (4, 3, 5), "A": (4, 2), "B": (3, 2), "C": (5, 2)}, (),
     lambda T, A, B, C: (T - torch.einsum("ir,jr,kr->ijk", A, B, C)).square().sum()),
    ("Y(i,r,s) = T(i,j,k) * V(j,r) * W(k,s)", {"T": (4, 3, 5), "V": (3, 2), "W": (5, 2)}, (),
     lambda T, V, W: torch.einsum("ijk,jr,ks->irs", T, V, W)),
    ("t = L(i,j) * L(j,k) * L(i,k)", {"L": (N, N)}, ("L",), lambda L: torch.einsum("ij,jk,ik->", L, L, L)),
    ("D(i,k) = min(j)(B(i,j) + C(j,k))", {"B": (4, 3), "C": (3, 5)}, (), lambda B, C: (B[:, :, None] + C[None]).amin(1)),
    (GAT, {"B": (N, N), "s": (N,), "t": (N,), "X": (N, 3)}, ("B",),
     lambda B, s, t, X: (lambda w: w / w.sum(1, keepdim=True).clamp(min=1e-300) @ X)(
         B * torch.exp(torch.nn.functional.leaky_relu(s[:, None] + t[None, :], 0.2)))),
    ("Y(i,k) = relu(sum(j,l)(A(i,j) * X(j,l) * W(l,k)) - b(k))", {"A": (N, N), "X": (N, 3), "W": (3, 2), "b": (2,)}, ("A",),
     lambda A, X, W, b: torch.relu(A @ X @ W - b)),
    (ATTENTION, {"B": (N, M), "Q": (N, 3), "K": (M, 3), "V": (M, 2)}, ("B",), attention),
    ("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {"B": (N, M), "C": (N, 3), "D": (M, 3), "E": (M, 2)}, ("B",),
     lambda B, C, D, E: (B * (C @ D.T)) @ E),
    ("y(i) = max(j)(X(i,j)) * prod(j)(X(i,j)) / (1 + pow(z(i), 3))", {"X": (4, 5), "z": (4,)}, (),
     lambda X, z: X.amax(1) * X.prod(1) / (1 + z**3)),
    ("y(i) = where(x(i) > z(i), log(x(i)), tanh(z(i))) + sigmoid(x(i)) * min(x(i), z(i))", {"x": (6,), "z": (6,)}, (),
     lambda x, z: torch.where(x > z, x.log(), z.tanh()) + x.sigmoid() * torch.minimum(x, z)),
    ("y(i) = log1p(x(i)) * expm1(z(i)) + log2(x(i)) * erf(z(i)) + log10(x(i)) * atan(z(i))", {"x": (6,), "z": (6,)}, (),
     lambda x, z: x.log1p() * z.expm1() + x.log2() * z.erf() + x.log10() * z.atan()),
    ("y(i) = sinh(x(i)) * cosh(z(i)) + asin(x(i) / 2) * acos(z(i) / 2)", {"x": (6,), "z": (6,)}, (),
     lambda x, z: x.sinh() * z.cosh() + (x / 2).asin() * (z / 2).acos()),
]


class Derivatives(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(SEED)

    def operands(self, shapes, sparse):
        """Dense values, positive and away from kinks, two of three elements of sparse ones 0."""
        made = {}
        for name, shape in shapes.items():
            made[name] = 0.2 + self.random.random(shape)
            if name in sparse:
                made[name] *= self.random.random(shape) < 0.4
        return made

    def given(self, names, dense, sparse):
        return {name: sp.csr_matrix(dense[name]) if name in sparse else dense[name] for name in names}

    def derivative(self, program, of, dense, sparse, seed):
        """The derivative as the compiled program has it, and the entries that it stores."""
        text = schaas.gradient(program, of, **dict.fromkeys(sparse, "csr"))
        f = kernel(text, **({"d" + of: "csr"} if of in sparse else {}))
        found = f(**self.given(f.operands, {**dense, **seed}, sparse))
        if of in sparse:
            self.assertFalse(np.any(found.toarray()[dense[of] == 0]))
            self.assertEqual(found.nnz, np.count_nonzero(dense[of]))
            found = found.toarray()
        return np.asarray(found)

    def seeds(self, program, dense, sparse):
        f = kernel(program)
        value = np.asarray(f(**self.given(f.operands, dense, sparse)))
        weights = 0.2 + self.random.random(value.shape)
        return f, weights if value.shape else np.float64(1), {"d" + f.result: weights} if value.shape else {}

    def test_equal_differences_and_those_of_torch(self):
        for program, shapes, sparse, reference in CASES if MANY else CASES[::3]:
            dense = self.operands(shapes, sparse)
            f, weights, seed = self.seeds(program, dense, sparse)
            gradients = self.of_torch(reference, dense, weights)
            for of in shapes if MANY else [*sparse, *shapes][:1]:
                with self.subTest(program, of=of):
                    found = self.derivative(program, of, dense, sparse, seed)
                    direction = self.random.standard_normal(shapes[of]) * (dense[of] != 0)
                    up, down = ({**dense, of: dense[of] + sign * STEP * direction} for sign in (1, -1))
                    values = [np.sum(weights * np.asarray(f(**self.given(f.operands, given, sparse)))) for given in (up, down)]
                    slope = (values[0] - values[1]) / (2 * STEP)
                    np.testing.assert_allclose(np.sum(found * direction), slope, rtol=1e-6, atol=1e-6)
                    if gradients:
                        np.testing.assert_allclose(found, gradients[of] * (dense[of] != 0), rtol=1e-9, atol=1e-9)

    def of_torch(self, reference, dense, weights):
        """The gradients of the dense function; None without torch."""
        if not torch:
            return None
        leaves = {name: torch.tensor(value, requires_grad=True) for name, value in dense.items()}
        (reference(**leaves) * torch.tensor(weights)).sum().backward()
        return {name: leaf.grad.numpy() for name, leaf in leaves.items()}

    def test_of_a_derivative_is_a_product_with_the_hessian(self):
        x, a, v = self.random.random(5), self.random.random((5, 5)), self.random.random(5)
        first = schaas.gradient("s = sum(i,j)(exp(x(i) * A(i,j) * x(j)))", "x")
        second = schaas.gradient(first, "x", seed="v", name="Hv")
        f = kernel(second)
        found = f(**{name: {"x": x, "A": a, "v": v}[name] for name in f.operands})
        slope = kernel(first)
        up, down = (slope(**{name: {"x": x + sign * STEP * v, "A": a}[name] for name in slope.operands}) for sign in (1, -1))
        np.testing.assert_allclose(found, (up - down) / (2 * STEP), rtol=1e-6)

    def test_takes_brackets_and_says_what_is_wrong(self):
        self.assertEqual(schaas.gradient("y[i] = A[i,j] * x[j]", of="x"), "dx(j) = dy(i) * A(i,j)")
        for arguments, why in ((("y(i) = x(i)", "z"), "has no operand `z`"), (("y(i) = x(i)", 3), "of=3: expected a text"),
                               (("y(i) = x(j", "x"), r"expected `,` or `\)`")):
            with self.assertRaisesRegex(schaas.Invalid, why):
                schaas.gradient(*arguments)

    def test_refuses_what_has_none(self):
        """Each refusal in full. Functions that are constant almost everywhere have the slope 0."""
        values = "unsupported [gradient]: `x` is stored as {}; derivatives are by real numbers\n  note: {}"
        real = "store it as f64, f32, bf16 or f16; operands that are no variables may be integers"
        parts = "compute with real and imaginary parts in operands of their own"
        integers = [name for name in schaas_types() if name[0] in "iu" or name == "bool"]
        self.assertEqual(len(integers), 9)
        for name in [*integers, "c64", "c128"]:
            with self.assertRaises(schaas.Unsupported) as caught:
                schaas.gradient("y(i) = A(i,j) * x(j)", "x", A="csr", x=f"dense@{name}")
            self.assertEqual(str(caught.exception), values.format(name, parts if name[0] == "c" else real))
            self.assertEqual(schaas.gradient("y(i) = A(i,j) * x(j)", "x", A=f"csr@{name}"), "dx(j) = dy(i) * A(i,j)")
        for name in ("f64", "f32", "bf16", "f16"):
            self.assertEqual(schaas.gradient("y(i) = A(i,j) * x(j)", "x", x=f"dense@{name}"), "dx(j) = dy(i) * A(i,j)")
        with self.assertRaises(schaas.Unsupported) as caught:
            schaas.gradient("A(i,j) = where(i < j, x(i), j)", "j")
        self.assertEqual(str(caught.exception),
                         "unsupported [gradient]: `j` is an index; its coordinates are whole numbers, which have no derivative\n"
                         "  --> expression:1:20\n  | A(i,j) = where(i < j, x(i), j)\n  |                    ^\n"
                         "  note: give the numbers in an operand, as in `t(j)`, and differentiate by that")
        for function in ("conj", "real", "imag"):
            with self.assertRaises(schaas.Unsupported) as caught:
                schaas.gradient(f"y(i) = {function}(x(i))", "x")
            self.assertEqual(str(caught.exception), f"unsupported [gradient]: `{function}(x(i))` has no derivative as real functions do\n"
                             f"  --> expression:1:8\n  | y(i) = {function}(x(i))\n  |        ^~~~~~~~~~\n  note: {parts}")
        with self.assertRaisesRegex(schaas.Unsupported, "is under min-plus; derivatives are of sums and products\n  note: write reductions out"):
            schaas.gradient("min-plus: y(i) = B(i,j) * x(j)", "x")
        x = np.array([-1.5, 0.25, 2.0])
        for function in ("sign", "floor", "ceil", "round", "not"):
            f = kernel(schaas.gradient(f"y(i) = {function}(x(i))", "x"))
            np.testing.assert_array_equal(f(x=x), 0 * x)


def schaas_types():
    from schaas._tensors import TYPE_NAMES
    return TYPE_NAMES.values()


if __name__ == "__main__":
    with_server.main()
