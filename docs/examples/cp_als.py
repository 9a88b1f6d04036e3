"""CP decomposition by alternating least squares: the tensor as a sum of rank-one tensors.

Nearly all the time is in the product of the tensor with all factors but one (MTTKRP). scipy has to write out the Khatri-Rao
product of these factors first.
"""

import numpy as np
import scipy.sparse as sp

import comparison
import schaas


class BySchaas:
    def __init__(self, tensor, rank):
        shape = tensor.shape
        self.factors = [np.ones((extent, rank)) for extent in shape]
        a, b, c = self.factors
        self.steps = [schaas.kernel("M(i,r) = T(i,j,k) * B(j,r) * C(k,r)").bind(T=tensor, B=b, C=c),
                      schaas.kernel("M(j,r) = T(i,j,k) * A(i,r) * C(k,r)").bind(T=tensor, A=a, C=c),
                      schaas.kernel("M(k,r) = T(i,j,k) * A(i,r) * B(j,r)").bind(T=tensor, A=a, B=b)]

    def mttkrp(self, mode):
        return self.steps[mode]()


class ByScipy:
    def __init__(self, coords, values, shape, rank):
        self.factors = [np.ones((extent, rank)) for extent in shape]
        self.unfolded = []
        for mode in range(3):
            one, two = [other for other in range(3) if other != mode]
            columns = coords[one] * shape[two] + coords[two]
            self.unfolded.append(sp.csr_matrix((values, (coords[mode], columns)), (shape[mode], shape[one] * shape[two])))

    def mttkrp(self, mode):
        one, two = [factor for other, factor in enumerate(self.factors) if other != mode]
        return self.unfolded[mode] @ (one[:, None, :] * two[None, :, :]).reshape(-1, one.shape[1])


def sweep(method):
    """One iteration over all modes; factors are written where they lie."""
    for mode in range(3):
        others = [factor for other, factor in enumerate(method.factors) if other != mode]
        gram = (others[0].T @ others[0]) * (others[1].T @ others[1])
        method.factors[mode][:] = method.mttkrp(mode) @ np.linalg.pinv(gram)
        method.factors[mode] /= np.linalg.norm(method.factors[mode], axis=0)
    return method.factors[2]


def start(method, seed):
    random = np.random.default_rng(seed)
    for factor in method.factors:
        factor[:] = random.random(factor.shape)


def main():
    options = comparison.arguments(__doc__.splitlines()[0], extent=120, entries=40000, rank=16, iterations=2)
    coords, values, shape = comparison.tensor(options, (options.extent, options.extent + 20, options.extent - 20), options.entries)
    ours = BySchaas(schaas.tensor(coords, values, shape), options.rank)
    theirs = ByScipy(coords, values, shape, options.rank)

    def iterate(method):
        start(method, options.seed)
        for _ in range(options.iterations):
            found = sweep(method)
        return found.copy()

    comparison.compare("CP-ALS", lambda: iterate(ours), lambda: iterate(theirs), options.repeat, 1e-6)


if __name__ == "__main__":
    main()
