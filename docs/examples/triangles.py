"""Counting triangles: L is the part of the graph below the diagonal, each triangle is one i > j > k with all three edges.

scipy multiplies L with itself and keeps only what meets an edge; here nothing is stored.
"""

import numpy as np
import scipy.sparse as sp

import comparison
import schaas


def main():
    options = comparison.arguments(__doc__.splitlines()[0], nodes=3000, degree=12)
    graph = comparison.graph(options, options.nodes, options.degree)
    graph = graph + graph.T
    lower = sp.tril(graph, -1).tocsr()
    lower.data = np.ones(lower.nnz)
    lower.sort_indices()
    count = schaas.kernel("t = L(i,j) * L(j,k) * L(i,k)").bind(L=lower)
    ratio = comparison.compare("triangles", count, lambda: (lower @ lower).multiply(lower).sum(), options.repeat)
    print(f"  {int(count())} triangles")
    return ratio


if __name__ == "__main__":
    main()
