"""Products of more than eight operands, contracted by an order, beside numpy."""

import itertools
import unittest

import with_server
import numpy as np
import scipy.sparse as sp

with_server.daemon()
import schaas


def network(operands, seed, extent=3):
    """Random operands of two to four indices, each index on two operands or on one and the result, as of opt_einsum's generator."""
    draw = np.random.default_rng(seed)
    edges = [(n, n + 1) for n in range(operands - 1)] + [tuple(draw.choice(operands, 2, False)) for _ in range(operands // 3)]
    inputs = [[] for _ in range(operands)]
    for number, (a, b) in enumerate(edges):
        inputs[a].append(f"i{number}")
        inputs[b].append(f"i{number}")
    inputs[0].append("out")
    sizes = {name: int(draw.integers(2, extent + 2)) for name in itertools.chain(*inputs)}
    arrays = [draw.random([sizes[name] for name in names]) for names in inputs]
    return inputs, arrays


def expected(inputs, arrays):
    numbers = {name: number for number, name in enumerate(dict.fromkeys(itertools.chain(*inputs)))}
    given = itertools.chain(*((array, [numbers[name] for name in names]) for names, array in zip(inputs, arrays)))
    return np.einsum(*given, [numbers["out"]], optimize="greedy")


class LongProducts(unittest.TestCase):
    def test_agree_with_numpy(self):
        for operands in (9, 12, 16):
            inputs, arrays = network(operands, operands)
            product = " * ".join(f"T{n}({','.join(names)})" for n, names in enumerate(inputs))
            f = schaas.kernel(f"r(out) = {product}")
            with self.subTest(operands=operands):
                for _ in range(2):
                    np.testing.assert_allclose(f(*arrays), expected(inputs, arrays), rtol=1e-10)

    def test_keep_chains_of_sparse_matrices_sparse(self):
        draw = np.random.default_rng(3)
        n = 20_000
        matrices = [sp.csr_matrix((draw.random(n), (np.arange(n), draw.integers(0, n, n))), (n, n)) for _ in range(9)]
        product = " * ".join(f"M{k}(i{k},i{k + 1})" for k in range(9))
        made = schaas.kernel(f"A(i0,i9) = {product}", A="csr")(*matrices)
        wanted = matrices[0]
        for matrix in matrices[1:]:
            wanted = wanted @ matrix
        self.assertLess(abs(sp.csr_matrix(made) - wanted).max(), 1e-12)

    def test_take_tensors_of_ten_modes(self):
        draw = np.random.default_rng(4)
        tensor, vectors = draw.random([2] * 10), [draw.random(2) for _ in range(9)]
        modes = [f"b{n}" for n in range(9)]
        product = " * ".join([f"T(a,{','.join(modes)})"] + [f"v{n}(b{n})" for n in range(9)])
        wanted = tensor
        for vector in reversed(vectors):
            wanted = wanted @ vector
        np.testing.assert_allclose(schaas.kernel(f"y(a) = {product}")(tensor, *vectors), wanted)

    def test_follow_operands_that_change(self):
        inputs, arrays = network(10, 5)
        product = " * ".join(f"T{n}({','.join(names)})" for n, names in enumerate(inputs))
        step = schaas.kernel(f"r(out) = {product}").bind(*arrays)
        for _ in range(2):
            np.testing.assert_allclose(step(), expected(inputs, arrays), rtol=1e-10)
            arrays[4] *= 2

    def test_have_limits(self):
        product = " * ".join(f"v{n}(i)" for n in range(65))
        with self.assertRaises(schaas.Error) as raised:
            schaas.kernel(f"s = {product}")(*[np.ones(3)] * 65)
        self.assertIn("65 operands; at most 64 are supported", str(raised.exception))


if __name__ == "__main__":
    with_server.main()
