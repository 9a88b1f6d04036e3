"""Shortest paths from some sources at once: products over (min, +), until nothing changes.

scipy has no product over another semiring: its own way is Dijkstra's algorithm from each source.
"""

import numpy as np
from scipy.sparse.csgraph import dijkstra

import comparison
import schaas


def main():
    options = comparison.arguments(__doc__.splitlines()[0], nodes=1500, degree=6, sources=32)
    graph = comparison.graph(options, options.nodes, options.degree)
    graph.data = np.abs(graph.data) + 0.1
    nodes = graph.shape[0]
    sources = np.arange(min(options.sources, nodes))
    incoming = graph.T.tocsr()
    incoming.sort_indices()
    distances = np.empty((nodes, sources.size))
    relax = schaas.kernel("min-plus: D(i,k) = B(i,j) * C(j,k)").bind(B=incoming, C=distances)

    def by_schaas():
        distances[:] = np.inf
        distances[sources, np.arange(sources.size)] = 0
        while True:
            nearer = np.minimum(relax(), distances)
            if np.array_equal(nearer, distances):
                return np.where(np.isinf(nearer), -1, nearer)
            distances[:] = nearer

    def by_scipy():
        found = dijkstra(graph, indices=sources).T
        return np.where(np.isinf(found), -1, found)

    comparison.compare("shortest paths", by_schaas, by_scipy, options.repeat)


if __name__ == "__main__":
    main()
