#!/usr/bin/env python3
"""128 ordinary operations on sparse matrices, plain calls beside scipy's: what a user of scipy writes, in one table.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so PYTHONPATH=client/python python3 tests/bench/operations.py [--bin DIR] [--rows 20000]
        [--seconds 0.5] [--json FILE] [CASE ...]

Matrices have 5 random entries a row; uneven ones have 1 and more, 5 in the mean. `first` is the first call, `call` the median of later ones, in turns with scipy's, one thread, after
the server compiled what is best; both sides allocate their results. Every result is compared with scipy's. Marks: `<` slower than scipy,
`<<` slower than two thirds of its speed, `<<<` than a tenth.
"""

import beside_scipy
from beside_scipy import random_rows, with_values


def cases(rows):
    """By name: expression, format of the result, operands, what scipy does."""
    import numpy as np
    import scipy.sparse as sp
    diag = sp.diags
    draw = np.random.default_rng(5)

    def matrix(seed, columns=rows, height=rows, each=5):
        return random_rows(seed, height, columns, each)

    def sums(b, axis=1):
        return np.asarray(b.sum(axis)).ravel()

    b, c, d = matrix(1), matrix(2), matrix(3)
    bc, cc = b.tocsc(), c.tocsc()
    p = matrix(9, columns=rows // 4, each=2)
    small, square = matrix(7, 2000, 2000, 10), draw.random((2000, 2000))
    x, y, dense, other, weight = draw.random(rows), draw.random(rows), draw.random((rows, 8)), draw.random((rows, 8)), draw.random((8, 8))
    wide, wave = np.ascontiguousarray(dense.T), x + 1j * y
    v = sp.csr_matrix((draw.random(rows // 100), (np.zeros(rows // 100, int), np.sort(draw.choice(rows, rows // 100, False)))), shape=(1, rows))
    import schaas
    vector = schaas.tensor(v.indices[None].astype(np.int64), v.data, (rows,))
    row_of = np.repeat(np.arange(rows), np.diff(b.indptr))
    mask = (x > 0.9) * 1.0
    two, three = dict(B=b, C=c), dict(B=b, C=c, D=d)
    of_type = {dtype: [(one * 4).astype(dtype) for one in (b, c)] for dtype in ("int8", "bool", "complex128")}
    complex_pair = [(one * (1 + 2j)).astype("complex64") for one in (b, c)]
    eye = sp.eye(rows, format="csr")
    signs = np.where(draw.random(rows) < 0.5, -1.0, 1.0)
    groups = sp.csr_matrix((np.ones(rows), (np.arange(rows), draw.integers(0, 50, rows))), shape=(rows, 50))
    degrees = sums(b)
    keys = np.unique(draw.integers(0, 2000 * 1500 * 1000, 10 * rows))
    tensor_values = draw.random(len(keys)) + 0.5
    tensor = schaas.tensor(np.stack([keys // 1500000, keys // 1000 % 1500, keys % 1000]), tensor_values, (2000, 1500, 1000))
    first = np.searchsorted(keys // 1500000, np.arange(2000))

    lengths = 1 + draw.poisson(4, rows)
    u = sp.csr_matrix((draw.random(lengths.sum()) + 0.5, draw.integers(0, rows, lengths.sum()), np.concatenate([[0], np.cumsum(lengths)])), shape=(rows, rows))
    u.sum_duplicates()
    b32, u32, x32, dense32 = b.astype("f"), u.astype("f"), x.astype("f"), dense.astype("f")

    blocks, near = b.tobsr((2, 2)), sp.dia_matrix(diag([x[:-1], y, x[1:]], [-1, 0, 1]))
    points, centres = matrix(10, 2000, 1500, 12), matrix(11, 2000, 1200, 10)

    def distances():
        return sums(points.multiply(points))[:, None] + sums(centres.multiply(centres)) - 2 * (points @ centres.T).toarray()

    corners = draw.integers(0, rows, (rows // 4, 3))  # of triangles
    corner = schaas.tensor(np.stack([np.repeat(np.arange(rows // 4), 3), np.tile(np.arange(3), rows // 4), corners.ravel()]), np.ones(3 * (rows // 4)),
                           (rows // 4, 3, rows))
    stiffness = draw.random((rows // 4, 3, 3))

    def variances():
        mean = sums(b, 0) / rows
        return sums(b.multiply(b), 0) / rows - mean**2

    def forces():
        apart = dense[b.indices] - dense[row_of]
        length = np.sqrt((apart**2).sum(1))
        pull = with_values(b, np.where(length > 0, (length - b.data) / np.where(length > 0, length, 1), 0))
        return pull @ dense - sums(pull)[:, None] * dense

    def softmax(values):
        scores = with_values(b, values)
        return diag(1 / sums(scores)) @ scores

    def softmax_of_rows(a):
        scores = np.exp(a.data)
        return with_values(a, scores / np.repeat(np.add.reduceat(scores, a.indptr[:-1]), np.diff(a.indptr)))

    def with_unit_diagonal():
        out = b.copy()
        out.setdiag(1)
        return out

    return {
        "trace": ("s = B(i,i)", None, dict(B=b), lambda: b.diagonal().sum()),
        "diagonal": ("d(i) = B(i,i)", None, dict(B=b), lambda: b.diagonal()),
        "row sums": ("y(i) = B(i,j)", None, dict(B=b), lambda: sums(b)),
        "column sums": ("y(j) = B(i,j)", None, dict(B=b), lambda: sums(b, 0)),
        "total": ("s = B(i,j)", None, dict(B=b), lambda: b.sum()),
        "squared norm": ("s = B(i,j) * B(i,j)", None, dict(B=b), lambda: (b.data**2).sum()),
        "row norms": ("y(i) = sqrt(sum(j)(B(i,j) * B(i,j)))", None, dict(B=b), lambda: np.sqrt(sums(b.multiply(b)))),
        "row maxima": ("y(i) = max(j)(B(i,j))", None, dict(B=b), lambda: b.max(1).toarray().ravel()),
        "column maxima": ("y(j) = max(i)(B(i,j))", None, dict(B=b), lambda: b.max(0).toarray().ravel()),
        "log-sum-exp of rows": ("y(i) = log(sum(j)(exp(B(i,j))))", None, dict(B=b),
                                lambda: np.log(np.add.reduceat(np.exp(b.data), b.indptr[:-1]) + (b.shape[1] - np.diff(b.indptr)))),
        "distances to rows' means": ("y(i) = sum(j)(abs(B(i,j) - m(i)))", None, dict(B=b, m=x),
                                     lambda: np.add.reduceat(abs(b.data - np.repeat(x, np.diff(b.indptr))), b.indptr[:-1])
                                     + (b.shape[1] - np.diff(b.indptr)) * abs(x)),
        "entries by row": ("y(i) = B(i,j) != 0", None, dict(B=b), lambda: np.diff(b.indptr) * 1.0),
        "normalised rows": ("A(i,j) = B(i,j) / sum(k)(B(i,k))", "csr", dict(B=b), lambda: diag(1 / sums(b)) @ b),
        "normalised columns": ("A(i,j) = B(i,j) / d(j)", "csr", dict(B=b, d=x + 1), lambda: b @ diag(1 / (x + 1))),
        "scaled both ways": ("A(i,j) = d(i) * B(i,j) * d(j)", "csr", dict(B=b, d=x), lambda: diag(x) @ b @ diag(x)),
        "softmax of rows": ("A(i,j) = where(B(i,j) != 0, exp(B(i,j)), 0) / sum(k)(where(B(i,k) != 0, exp(B(i,k)), 0))", "csr", dict(B=b),
                            lambda: softmax_of_rows(b)),
        "transposed": ("A(j,i) = B(i,j)", "csr", dict(B=b), lambda: b.T.tocsr()),
        "symmetric part": ("A(i,j) = 0.5 * (B(i,j) + B(j,i))", "csr", dict(B=b), lambda: 0.5 * (b + b.T)),
        "times transposed": ("A(i,j) = B(i,j) * B(j,i)", "csr", dict(B=b), lambda: b.multiply(b.T)),
        "B' B": ("A(i,j) = B(k,i) * B(k,j)", "csr", dict(B=b), lambda: b.T @ b),
        "B B'": ("A(i,j) = B(i,k) * B(j,k)", "csr", dict(B=b), lambda: b @ b.T),
        "B C": ("A(i,k) = B(i,j) * C(j,k)", "csr", two, lambda: b @ c),
        "B C, csc": ("A(i,k) = B(i,j) * C(j,k)", "csc", dict(B=bc, C=cc), lambda: bc @ cc),
        "csr times csc": ("A(i,k) = B(i,j) * C(j,k)", "csr", dict(B=b, C=cc), lambda: b @ cc),
        "csc times csr": ("A(i,k) = B(i,j) * C(j,k)", "csr", dict(B=bc, C=c), lambda: (bc @ c).tocsr()),
        "coo times csr": ("A(i,k) = B(i,j) * C(j,k)", "csr", dict(B=b.tocoo(), C=c), lambda: b.tocoo() @ c),
        "2 B C": ("A(i,k) = 2 * B(i,j) * C(j,k)", "csr", two, lambda: 2 * (b @ c)),
        "B C + D": ("A(i,k) = B(i,j) * C(j,k) + D(i,k)", "csr", three, lambda: b @ c + d),
        "B C at D": ("A(i,k) = B(i,j) * C(j,k) * D(i,k)", "csr", three, lambda: (b @ c).multiply(d)),
        "B (C + D)": ("A(i,k) = B(i,j) * (C(j,k) + D(j,k))", "csr", three, lambda: b @ (c + d)),
        "B C D": ("A(i,l) = B(i,j) * C(j,k) * D(k,l)", "csr", three, lambda: b @ c @ d),
        "P' B P": ("A(i,l) = P(j,i) * B(j,k) * P(k,l)", "csr", dict(P=p, B=b), lambda: p.T @ b @ p),
        "product, then scaled": ("T(i,k) = B(i,j) * C(j,k); A(i,k) = T(i,k) * 2", "csr", two, lambda: (b @ c) * 2),
        "product of a product": ("T(i,k) = B(i,j) * B(j,k); A(i,l) = T(i,k) * T(k,l)", "csr", dict(B=b), lambda: (b @ b) @ (b @ b)),
        "common neighbours": ("A(i,j) = B(i,j) * B(i,k) * B(j,k)", "csr", dict(B=b), lambda: b.multiply(b @ b.T)),
        "gradient of factors": ("A(i,k) = (B(i,j) - sum(l)(X(i,l) * Y(j,l))) * Y(j,k)", None, dict(B=b, X=dense, Y=other),
                                lambda: b @ other - dense @ (other.T @ other)),
        "loss of factors": ("s = sum(i,j)(pow(B(i,j) - sum(l)(X(i,l) * Y(j,l)), 2))", None, dict(B=b, X=dense, Y=other),
                            lambda: (b.data**2).sum() - 2 * (b.data * (dense[row_of] * other[b.indices]).sum(1)).sum()
                            + ((dense.T @ dense) * (other.T @ other)).sum()),
        "weighted loss": ("s = sum(i,j)((1 + B(i,j)) * pow((B(i,j) > 0) - sum(l)(X(i,l) * Y(j,l)), 2))", None, dict(B=b, X=dense, Y=other),
                          lambda: (lambda found: b.nnz - 2 * found.sum() + ((dense.T @ dense) * (other.T @ other)).sum()
                                   + (b.data * (1 - found)**2).sum())((dense[row_of] * other[b.indices]).sum(1))),
        "modularity": ("s = sum(i,j)((B(i,j) - x(i) * y(j) / m) * X(i,k) * X(j,k))", None, dict(B=b, x=x, y=y, m=float(rows), X=dense),
                       lambda: (dense * (b @ dense)).sum() - (x @ dense) @ (y @ dense) / rows),
        "centred product": ("A(j,k) = (B(i,j) - m(j)) * X(i,k)", None, dict(B=b, m=x, X=dense), lambda: b.T @ dense - np.outer(x, dense.sum(0))),
        "largest of neighbours": ("A(i,k) = max(j)(B(i,j) * X(j,k))", None, dict(B=b, X=dense),
                                  lambda: np.maximum(np.maximum.reduceat(b.data[:, None] * dense[b.indices], b.indptr[:-1]), 0)),
        "triangles": ("s = B(i,j) * B(j,k) * B(i,k)", None, dict(B=b), lambda: (b @ b).multiply(b).sum()),
        "abs": ("A(i,j) = abs(B(i,j))", "csr", dict(B=b), lambda: abs(b)),
        "sqrt": ("A(i,j) = sqrt(B(i,j))", "csr", dict(B=b), lambda: b.sqrt()),
        "cubed": ("A(i,j) = pow(B(i,j), 3)", "csr", dict(B=b), lambda: b.power(3)),
        "tanh": ("A(i,j) = tanh(B(i,j))", "csr", dict(B=b), lambda: b.tanh()),
        "log1p": ("A(i,j) = log1p(B(i,j))", "csr", dict(B=b), lambda: b.log1p()),
        "negated": ("A(i,j) = -B(i,j)", "csr", dict(B=b), lambda: -b),
        "scaled": ("A(i,j) = 2 * B(i,j)", "csr", dict(B=b), lambda: 2 * b),
        "above a bound": ("A(i,j) = B(i,j) * (B(i,j) > 1)", "csr", dict(B=b), lambda: b.multiply(b > 1).tocsr()),
        "B + C": ("A(i,j) = B(i,j) + C(i,j)", "csr", two, lambda: b + c),
        "B - C": ("A(i,j) = B(i,j) - C(i,j)", "csr", two, lambda: b - c),
        "2 B - 3 C": ("A(i,j) = 2 * B(i,j) - 3 * C(i,j)", "csr", two, lambda: 2 * b - 3 * c),
        "B + C + D": ("A(i,j) = B(i,j) + C(i,j) + D(i,j)", "csr", three, lambda: b + c + d),
        "B + C, csc": ("A(i,j) = B(i,j) + C(i,j)", "csc", dict(B=bc, C=cc), lambda: bc + cc),
        "csr plus csc": ("A(i,j) = B(i,j) + C(i,j)", "csr", dict(B=b, C=cc), lambda: b + cc),
        "B C, int8": ("A(i,k) = B(i,j) * C(j,k)", "csr", dict(zip("BC", of_type["int8"])), lambda: of_type["int8"][0] @ of_type["int8"][1]),
        "B C, bool": ("A(i,k) = B(i,j) * C(j,k)", "csr", dict(zip("BC", of_type["bool"])), lambda: of_type["bool"][0] @ of_type["bool"][1]),
        "B C, complex64": ("A(i,k) = B(i,j) * C(j,k)", "csr", dict(zip("BC", complex_pair)), lambda: complex_pair[0] @ complex_pair[1]),
        "B C, complex128": ("A(i,k) = B(i,j) * C(j,k)", "csr", dict(zip("BC", of_type["complex128"])),
                            lambda: of_type["complex128"][0] @ of_type["complex128"][1]),
        "transposed, bool": ("A(j,i) = B(i,j)", "csr", dict(B=of_type["bool"][0]), lambda: of_type["bool"][0].T.tocsr()),
        "diagonal matrix": ("D(i,i) = x(i)", "csr", dict(x=x), lambda: diag(x, format="csr")),
        "B + I": ("A(i,j) = B(i,j) + select(i,j)", "csr", dict(B=b), lambda: b + eye),
        "normalised B + I": ("A(i,j) = x(i) * (B(i,j) + select(i,j)) * x(j)", "csr", dict(B=b, x=x), lambda: diag(x) @ (b + eye) @ diag(x)),
        "rows 1000 to 3000": ("A(i,j) = B(i(1000:3000),j)", "csr", dict(B=b), lambda: b[1000:3000]),
        "power iteration": ("t(i) = B(i,j) * x(j); n = sqrt(sum(i)(t(i) * t(i))); y(i) = t(i) / n", None, dict(B=b, x=x),
                            lambda: (lambda t: t / np.sqrt(t @ t))(b @ x)),
        "next of a search": ("or-and: y(j) = x(i) * B(i,j) * not(v(j))", None, dict(B=b, x=mask, v=np.round(y)),
                             lambda: ((b.T @ mask > 0) & (np.round(y) == 0)) * 1.0),
        "maximum": ("A(i,j) = max(B(i,j), C(i,j))", "csr", two, lambda: b.maximum(c)),
        "minimum": ("A(i,j) = min(B(i,j), C(i,j))", "csr", two, lambda: b.minimum(c)),
        "of elements": ("A(i,j) = B(i,j) * C(i,j)", "csr", two, lambda: b.multiply(c)),
        "B x": ("y(i) = B(i,j) * x(j)", None, dict(B=b, x=x), lambda: b @ x),
        "B' x": ("y(j) = B(i,j) * x(i)", None, dict(B=b, x=x), lambda: b.T @ x),
        "B C x": ("y(i) = B(i,j) * C(j,k) * x(k)", None, dict(B=b, C=c, x=x), lambda: b @ (c @ x)),
        "x' B C y": ("s = x(i) * B(i,j) * C(j,k) * y(k)", None, dict(B=b, C=c, x=x, y=y), lambda: x @ (b @ (c @ y))),
        "B' B x": ("y(k) = B(i,k) * B(i,j) * x(j)", None, dict(B=b, x=x), lambda: b.T @ (b @ x)),
        "B B' x": ("y(i) = B(i,j) * B(k,j) * x(k)", None, dict(B=b, x=x), lambda: b @ (b.T @ x)),
        "2 B x + 3 y": ("z(i) = 2 * B(i,j) * x(j) + 3 * y(i)", None, dict(B=b, x=x, y=y), lambda: 2 * (b @ x) + 3 * y),
        "Jacobi step": ("z(i) = (b(i) - sum(j)(B(i,j) * x(j))) / d(i)", None, dict(B=b, x=x, b=y, d=y + 1), lambda: (y - b @ x) / (y + 1)),
        "(B + C) x": ("y(i) = (B(i,j) + C(i,j)) * x(j)", None, dict(B=b, C=c, x=x), lambda: (b + c) @ x),
        "mean of neighbours": ("y(i) = B(i,j) * x(j) / sum(k)(B(i,k))", None, dict(B=b, x=x), lambda: b @ x / sums(b)),
        "reached": ("or-and: y(i) = B(i,j) * x(j)", None, dict(B=b, x=mask), lambda: ((b != 0) @ mask > 0) * 1.0),
        "nearest": ("min-plus: y(i) = B(i,j) * x(j)", None, dict(B=b, x=x), lambda: np.minimum.reduceat(b.data + x[b.indices], b.indptr[:-1])),
        "B times sparse x": ("y(i) = B(i,j) * x(j)", None, dict(B=bc, x=vector), lambda: (bc @ v.T.tocsc()).toarray().ravel()),
        "sparse x times y": ("s = v(i) * x(i)", None, dict(v=vector, x=x), lambda: (v @ x)[0]),
        "sparse outer product": ("A(i,j) = v(i) * v(j)", "csr", dict(v=vector), lambda: v.T @ v),
        "B X": ("Z(i,k) = B(i,j) * X(j,k)", None, dict(B=b, X=dense), lambda: b @ dense),
        "B X, csc": ("Z(i,k) = B(i,j) * X(j,k)", None, dict(B=bc, X=dense), lambda: bc @ dense),
        "B' X": ("Z(j,k) = B(i,j) * X(i,k)", None, dict(B=b, X=dense), lambda: b.T @ dense),
        "X B": ("Z(k,j) = X(k,i) * B(i,j)", None, dict(X=wide, B=b), lambda: wide @ b),
        "X' B Y": ("Z(k,l) = X(i,k) * B(i,j) * Y(j,l)", None, dict(X=dense, B=b, Y=other), lambda: dense.T @ (b @ other)),
        "layer": ("Z(i,k) = relu(sum(j,l)(B(i,j) * X(j,l) * W(l,k)))", None, dict(B=b, X=dense, W=weight),
                  lambda: np.maximum(b @ (dense @ weight), 0)),
        "X Y' at B": ("A(i,j) = B(i,j) * X(i,k) * Y(j,k)", "csr", dict(B=b, X=dense, Y=other),
                      lambda: with_values(b, b.data * np.einsum("ek,ek->e", dense[row_of], other[b.indices]))),
        "scores of edges": ("A(i,j) = where(B(i,j) != 0, x(i) + y(j), 0)", "csr", dict(B=b, x=x, y=y),
                            lambda: with_values(b, x[row_of] + y[b.indices])),
        "B + dense": ("Z(i,j) = B(i,j) + D(i,j)", None, dict(B=small, D=square), lambda: np.asarray(small + square)),
        "B times dense, elements": ("A(i,j) = B(i,j) * D(i,j)", "csr", dict(B=small, D=square), lambda: small.multiply(square).tocsr()),
        "B over dense": ("A(i,j) = B(i,j) / D(i,j)", "csr", dict(B=small, D=square + 1), lambda: small.multiply(1 / (square + 1)).tocsr()),
        "as dense": ("Z(i,j) = B(i,j)", None, dict(B=small), lambda: small.toarray()),
        "B C, dense": ("Z(i,k) = B(i,j) * C(j,k)", None, dict(B=small, C=small), lambda: (small @ small).toarray()),
        "B square": ("Z(i,k) = B(i,j) * D(j,k)", None, dict(B=small, D=square), lambda: small @ square),
        "square B": ("Z(i,k) = D(i,j) * B(j,k)", None, dict(B=small, D=square), lambda: square @ small),
        "Laplacian": ("A(i,j) = d(i) * (i == j) - B(i,j)", "csr", dict(B=b, d=degrees), lambda: sp.csr_matrix(diag(degrees) - b)),
        "unit diagonal": ("A(i,j) = where(i == j, 1, B(i,j))", "csr", dict(B=b), with_unit_diagonal),
        "(B + B') x": ("y(i) = (B(i,j) + B(j,i)) * x(j)", None, dict(B=b, x=x), lambda: b @ x + b.T @ x),
        "modularity of groups": ("s = B(i,j) * L(i,c) * L(j,c) - d(i) * d(j) * L(i,c) * L(j,c) / m", None, dict(B=b, L=groups, d=degrees, m=degrees.sum()),
                       lambda: (b @ groups).multiply(groups).sum() - ((groups.T @ degrees) ** 2).sum() / degrees.sum()),
        "coupled phases": ("z(i) = B(i,j) * sin(x(j) - x(i))", None, dict(B=b, x=x),
                           lambda: np.bincount(row_of, b.data * np.sin(x[b.indices] - x[row_of]), rows)),
        "complex norm": ("s = sum(i)(abs(x(i)) * abs(x(i)))", None, dict(x=wave), lambda: (np.abs(wave)**2).sum()),
        "logistic loss": ("z(i) = B(i,j) * x(j); s = sum(i)(log(1 + exp(-(y(i) * z(i)))))", None, dict(B=b, x=x, y=signs),
                          lambda: np.log1p(np.exp(-signs * (b @ x))).sum()),
        "logistic gradient": ("z(i) = B(i,j) * x(j); p(i) = -(y(i)) / (1 + exp(y(i) * z(i))); g(j) = B(i,j) * p(i)", None, dict(B=b, x=x, y=signs),
                              lambda: b.T @ (-signs / (1 + np.exp(signs * (b @ x))))),
        "attention": ("E(i,j) = where(B(i,j) != 0, exp(x(i) + y(j)), 0); n(i) = E(i,j); Z(i,k) = E(i,j) * X(j,k) / n(i)", None,
                      dict(B=b, x=x, y=y, X=dense), lambda: softmax(np.exp(x[row_of] + y[b.indices])) @ dense),
        "uneven row sums": ("y(i) = U(i,j)", None, dict(U=u), lambda: sums(u)),
        "uneven row maxima": ("y(i) = max(j)(U(i,j))", None, dict(U=u), lambda: u.max(1).toarray().ravel()),
        "uneven shortest paths": ("min-plus: y(i) = U(i,j) * x(j)", None, dict(U=u, x=x), lambda: np.minimum.reduceat(u.data + x[u.indices], u.indptr[:-1])),
        "uneven rows normalised": ("A(i,j) = U(i,j) / sum(k)(U(i,k))", "csr", dict(U=u), lambda: diag(1 / sums(u)) @ u),
        "uneven rows centred": ("A(i,j) = (U(i,j) - x(i)) * (U(i,j) != 0)", "csr", dict(U=u, x=x),
                                lambda: with_values(u, u.data - np.repeat(x, np.diff(u.indptr)))),
        "uneven softmax": ("A(i,j) = where(U(i,j) != 0, exp(U(i,j)), 0) / sum(k)(where(U(i,k) != 0, exp(U(i,k)), 0))", "csr", dict(U=u),
                           lambda: softmax_of_rows(u)),
        "uneven softmax, f32": ("A(i,j) = where(U(i,j) != 0, exp(U(i,j)), 0) / sum(k)(where(U(i,k) != 0, exp(U(i,k)), 0))", "csr", dict(U=u32),
                                lambda: softmax_of_rows(u32)),
        "uneven row maxima, f32": ("y(i) = max(j)(U(i,j))", None, dict(U=u32), lambda: u32.max(1).toarray().ravel()),
        "B x, f32": ("y(i) = B(i,j) * x(j)", None, dict(B=b32, x=x32), lambda: b32 @ x32),
        "B X, f32": ("A(i,k) = B(i,j) * X(j,k)", None, dict(B=b32, X=dense32), lambda: b32 @ dense32),
        "column variances": ("m(j) = B(i,j) / n; v(j) = sum(i)(pow(B(i,j) - m(j), 2)) / n", None, dict(B=b, n=float(rows)), variances),
        "column deviations": ("y(j) = sum(i)(abs(B(i,j) - m(j)))", None, dict(B=b, m=x),
                              lambda: np.bincount(b.indices, abs(b.data - x[b.indices]) - abs(x[b.indices]), rows) + rows * abs(x)),
        "columns over maxima": ("m(j) = max(i)(abs(B(i,j))); A(i,j) = B(i,j) / m(j)", "csr", dict(B=b),
                                lambda: b @ diag(1 / np.maximum(abs(b).max(0).toarray().ravel(), 1e-300))),
        "naive Bayes": ("S(i,c) = B(i,j) * log(P(c,j)) + p(c)", None, dict(B=b, P=wide + 0.1, p=weight[0]), lambda: b @ np.log(wide + 0.1).T + weight[0]),
        "spring forces": ("D(i,j) = where(B(i,j) != 0, sqrt(sum(k)(pow(X(i,k) - X(j,k), 2))), 0); "
                          "F(i,k) = where(D(i,j) != 0, (D(i,j) - B(i,j)) / D(i,j), 0) * (X(j,k) - X(i,k))", None, dict(B=b, X=dense), forces),
        "kernel matrix": ("K(i,k) = exp(-0.1 * sum(j)(pow(B(i,j) - C(k,j), 2)))", None, dict(B=points, C=centres), lambda: np.exp(-0.1 * distances())),
        "loss of products": ("s = sum(i,k)(log(1 + exp(sum(j)(B(i,j) * C(k,j)))))", None, dict(B=points, C=centres),
                             lambda: np.log1p(np.exp((points @ centres.T).toarray())).sum()),
        "finite elements": ("A(i,j) = P(e,a,i) * K(e,a,b) * P(e,b,j)", "csr", dict(P=corner, K=stiffness),
                            lambda: sp.coo_matrix((stiffness.ravel(), (np.repeat(corners, 3, axis=1).ravel(), np.tile(corners, (1, 3)).ravel())),
                                                  shape=(rows, rows)).tocsr()),
        "blocks x": ("y(i) = B(i,j) * x(j)", None, dict(B=blocks, x=x), lambda: blocks @ x),
        "diagonals x": ("y(i) = B(i,j) * x(j)", None, dict(B=near, x=x), lambda: near @ x),
        "tensor maxima": ("y(i) = max(j,k)(T(i,j,k))", None, dict(T=tensor), lambda: np.maximum.reduceat(tensor_values, first)),
    }


if __name__ == "__main__":
    parser = beside_scipy.parser_of(__doc__)
    parser.add_argument("--rows", type=int, default=20000)
    options = parser.parse_args()
    beside_scipy.compare(options, lambda: cases(options.rows))
