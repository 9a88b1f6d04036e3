"""A graph attention layer: each node averages the features of its neighbours, weighted by a softmax over the edges.

The weights of the edges are never stored: scores, softmax and average are one kernel over the rows of the graph.
"""

import numpy as np
import scipy.sparse as sp

import comparison
import schaas

LAYER = """E(i,j) = B(i,j) * exp(relu(s(i) + t(j)) - 0.2 * relu(-s(i) - t(j)));
           Z(i) = E(i,j);
           H(i,k) = E(i,j) * X(j,k) / Z(i)"""


def by_scipy(graph, s, t, features):
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    scores = s[rows] + t[graph.indices]
    weights = sp.csr_matrix((graph.data * np.exp(np.where(scores > 0, scores, 0.2 * scores)), graph.indices, graph.indptr), graph.shape)
    sums = np.asarray(weights.sum(axis=1)).ravel()
    sums[sums == 0] = 1
    return (weights @ features) / sums[:, None]


def main():
    options = comparison.arguments(__doc__.splitlines()[0], nodes=2000, degree=16, features=64)
    graph = comparison.graph(options, options.nodes, options.degree)
    graph.data = np.ones(graph.nnz)
    random = np.random.default_rng(options.seed)
    hidden = random.random((graph.shape[0], options.features))
    s, t = hidden @ random.standard_normal(options.features) / 8, hidden @ random.standard_normal(options.features) / 8
    layer = schaas.kernel(LAYER).bind(B=graph, s=s, t=t, X=hidden)
    comparison.compare("graph attention", layer, lambda: by_scipy(graph, s, t, hidden), options.repeat)


if __name__ == "__main__":
    main()
