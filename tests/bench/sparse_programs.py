#!/usr/bin/env python3
"""Programs of several sparse operands on real graphs and matrices, plain calls beside the shortest program of scipy.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so PYTHONPATH=client/python python3 tests/bench/sparse_programs.py [--data DIR] [--bin DIR]
        [--seconds 0.5] [--json FILE] [CASE ...]

What it prints is that of operations.py. Graphs are symmetric, with values from 0.5 to 1.5.
"""

import pathlib

import beside_scipy
from beside_scipy import random_rows, with_values

GRAPHS = "facebook_combined", "ca-HepPh", "email-Enron", "wiki-Vote"


def read(data, name):
    """A matrix of `data`, csr and sorted, with drawn values."""
    import numpy as np
    import scipy.io
    import scipy.sparse as sp
    made = sp.csr_matrix(scipy.io.mmread(str(data / "matrices" / f"{name}.mtx.gz")), dtype=float)
    made.sum_duplicates()
    made.data = np.random.default_rng(1).random(made.nnz) + 0.5
    return made


def graph(data, name):
    """The adjacency matrix without direction and loops, all ones."""
    import scipy.sparse as sp
    made = read(data, name)
    made = sp.csr_matrix(made + made.T)
    made.setdiag(0)
    made.eliminate_zeros()
    made.data[:] = 1
    return made


def softmax_of_edges(b, scores):
    """Rows of scores, one for each entry of `b`, that sum to one."""
    import numpy as np
    import scipy.sparse as sp
    e = with_values(b, np.exp(scores))
    sums = np.asarray(e.sum(1)).ravel()
    return sp.diags(1 / np.where(sums == 0, 1, sums)) @ e


def cases(data):
    """By name: expression, format of the result, operands, what scipy does."""
    import numpy as np
    import scipy.sparse as sp
    draw = np.random.default_rng(5)
    enron, pubmed, cora, cage, solid = (read(data, name) for name in ("email-Enron", "pubmed", "cora", "cage8", "bcsstk16"))
    peers = read(data, "p2p-Gnutella31")
    graphs = {name: graph(data, name) for name in GRAPHS}

    def sparse_vector(size, entries, seed):
        own = np.random.default_rng(seed)
        row = sp.csr_matrix((own.random(entries) + 0.5, (np.zeros(entries, int), np.sort(own.choice(size, entries, False)))), shape=(1, size))
        import schaas
        return schaas.tensor(row.indices[None].astype(np.int64), row.data, (size,)), row

    def entries(b):
        return np.repeat(np.arange(b.shape[0]), np.diff(b.indptr)), b.indices

    whole = draw.random(cage.shape)
    big = random_rows(3, 100000, 100000, 5)
    some, some_row = sparse_vector(enron.shape[1], 10000, 4)
    few, few_row = sparse_vector(big.shape[1], 1000, 5)
    short, short_row = sparse_vector(4000000, 10, 6)
    long, long_row = sparse_vector(4000000, 2000000, 7)
    other = random_rows(8, *solid.shape, 20)
    c, d, e = (draw.random((solid.shape[0], 16)) for _ in range(3))
    n = pubmed.shape[0]
    features, weights, s, t = draw.random((n, 16)), draw.random((16, 16)), draw.random(n), draw.random(n)
    groups = sp.csr_matrix((np.ones(solid.shape[0]), (np.arange(solid.shape[0]), np.arange(solid.shape[0]) // 4)))
    edges = with_values(pubmed, np.ones(pubmed.nnz))
    row, column = entries(pubmed)
    cora_mask = with_values(cora, draw.random(cora.nnz) - 0.5)
    chain = [random_rows(11, 20000, 2000, 5), random_rows(12, 2000, 20000, 50), random_rows(13, 20000, 2000, 5)]

    def sampled():
        i, j = entries(solid)
        return with_values(solid, solid.data * np.einsum("ek,ek->e", c[i], d[j]))

    def degrees(b):
        return np.asarray(b.sum(1)).ravel()

    known = {
        "row maxima": ("y(i) = max(j)(B(i,j))", None, dict(B=enron), lambda: enron.max(axis=1).toarray().ravel()),
        "transposed": ("A(j,i) = B(i,j)", "csr", dict(B=enron), lambda: enron.T.tocsr()),
        "rows by rows, dense": ("A(i,j) = B(i,k) * C(j,k)", None, dict(B=cage, C=cage), lambda: (cage @ cage.T).toarray()),
        "rows by rows": ("A(i,j) = B(i,k) * C(j,k)", "csr", dict(B=cage, C=cage), lambda: cage @ cage.T),
        "rows by rows, sampled": ("A(i,j) = D(i,j) * B(i,k) * C(j,k)", "csr", dict(B=cage, C=cage, D=cage), lambda: cage.multiply(cage @ cage.T)),
        "product, then scaled": ("T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) * 2", "csr", dict(B=cora, C=cora), lambda: (cora @ cora) * 2),
        "the same, 100,000 rows": ("T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) * 2", "csr", dict(B=big, C=big), lambda: (big @ big) * 2),
        "2 B C": ("A(i,k) = 2 * B(i,j) * C(j,k)", "csr", dict(B=cora, C=cora), lambda: 2 * (cora @ cora)),
        "-B C": ("A(i,k) = -B(i,j) * C(j,k)", "csr", dict(B=cora, C=cora), lambda: -(cora @ cora)),
        "B C / d": ("A(i,k) = B(i,j) * C(j,k) / d(k)", "csr", dict(B=pubmed, C=pubmed, d=s + 1), lambda: (pubmed @ pubmed) @ sp.diags(1 / (s + 1))),
        "B C outside D": ("T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) * (D(i,k) == 0)", "csr", dict(B=cora, C=cora, D=cora),
                          lambda: (lambda p: p - p.multiply(cora != 0))(cora @ cora)),
        "2 B transposed": ("A(j,i) = 2 * B(i,j)", "csr", dict(B=enron), lambda: (2 * enron).T.tocsr()),
        "2 B by columns": ("A(i,j) = 2 * B(i,j)", "csc", dict(B=enron), lambda: (2 * enron).tocsc()),
        "B + C by columns": ("A(i,j) = B(i,j) + C(i,j)", "csc", dict(B=solid, C=other), lambda: (solid + other).tocsc()),
        "relu by columns": ("A(i,j) = relu(B(i,j))", "csc", dict(B=cora_mask), lambda: cora_mask.maximum(0).tocsc()),
        "B B B": ("A(i,l) = B(i,j) * B(j,k) * B(k,l)", "csr", dict(B=pubmed), lambda: pubmed @ pubmed @ pubmed),
        "B C D, narrow between": ("A(i,l) = B(i,j) * C(j,k) * D(k,l)", "csr", dict(zip("BCD", chain)), lambda: chain[0] @ (chain[1] @ chain[2])),
        "square of a square": ("T(i,k) = B(i,j) * B(j,k); A(i,l) = T(i,k) * T(k,l)", "csr", dict(B=peers), lambda: (peers @ peers) @ (peers @ peers)),
        "Galerkin product": ("A(i,l) = P(j,i) * B(j,k) * P(k,l)", "csr", dict(P=groups, B=solid), lambda: groups.T @ solid @ groups),
        "sum, sampled, times E": ("A(i,l) = (B(i,j) + G(i,j)) * C(i,k) * D(j,k) * E(j,l)", None, dict(B=solid, G=other, C=c, D=d, E=e),
                                  lambda: (lambda m: with_values(m, m.data * np.einsum("ek,ek->e", c[entries(m)[0]], d[entries(m)[1]])) @ e)(solid + other)),
        "sampled": ("A(i,j) = B(i,j) * C(i,k) * D(j,k)", "csr", dict(B=solid, C=c, D=d), sampled),
        "where B, T": ("A(i,j) = where(B(i,j) > 0, T(i,j), 0)", "csr", dict(B=cage, T=whole), lambda: (cage > 0).multiply(whole).tocsr()),
        "mask of B times T": ("A(i,j) = (B(i,j) > 0) * T(i,j)", "csr", dict(B=cage, T=whole), lambda: (cage > 0).multiply(whole).tocsr()),
        "two sparse vectors": ("s = x(i) * y(i)", None, dict(x=short, y=long), lambda: short_row.multiply(long_row).sum()),
        "the same, exchanged": ("s = y(i) * x(i)", None, dict(x=short, y=long), lambda: short_row.multiply(long_row).sum()),
        "times sparse vector": ("y(i) = B(i,j) * x(j)", None, dict(B=enron, x=some), lambda: (enron @ some_row.T.tocsc()).toarray().ravel()),
        "times sparser vector": ("y(i) = B(i,j) * x(j)", None, dict(B=big, x=few), lambda: (big @ few_row.T.tocsc()).toarray().ravel()),
        "by columns, the same": ("y(i) = B(i,j) * x(j)", None, dict(B=big.tocsc(), x=few), lambda m=big.tocsc(): (m @ few_row.T.tocsc()).toarray().ravel()),
        "GCN layer": ("Z(i,k) = relu(sum(j,l)(d(i) * B(i,j) * d(j) * X(j,l) * W(l,k)))", None, dict(B=edges, d=s, X=features, W=weights),
                      lambda: np.maximum(sp.diags(s) @ edges @ sp.diags(s) @ (features @ weights), 0)),
        "GraphSAGE layer": ("Z(i,k) = relu(sum(l)(X(i,l) * V(l,k)) + sum(j,l)(B(i,j) * X(j,l) * W(l,k)) / sum(j)(B(i,j)))", None,
                            dict(B=edges, X=features, V=weights, W=weights),
                            lambda: np.maximum(features @ weights + sp.diags(1 / degrees(edges)) @ edges @ (features @ weights), 0)),
        "GAT layer": ("H(i,k) = X(i,l) * W(l,k); E(i,j) = where(B(i,j) != 0, exp(max(s(i) + t(j), 0.2 * (s(i) + t(j)))), 0); n(i) = E(i,j); Z(i,k) = E(i,j) * H(j,k) / n(i)", None,
                      dict(B=edges, X=features, W=weights, s=s, t=t), lambda: softmax_of_edges(edges, np.maximum(s[row] + t[column], 0.2 * (s[row] + t[column]))) @ (features @ weights)),
        "attention, three statements": ("E(i,j) = B(i,j) * exp(s(i) + t(j)); n(i) = E(i,j); A(i,j) = E(i,j) / n(i)", "csr", dict(B=edges, s=s, t=t),
                                        lambda: softmax_of_edges(edges, s[row] + t[column])),
    }
    for name, g in graphs.items():
        known[f"triangles, {name}"] = ("s = B(i,j) * B(j,k) * B(i,k)", None, dict(B=g), lambda g=g: (g @ g).multiply(g).sum())
        known[f"support, {name}"] = ("A(i,j) = B(i,j) * B(i,k) * B(j,k)", "csr", dict(B=g), lambda g=g: g.multiply(g @ g))
    return known


if __name__ == "__main__":
    parser = beside_scipy.parser_of(__doc__)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[3] / "shared" / "data")
    options = parser.parse_args()
    beside_scipy.compare(options, lambda: cases(options.data))
