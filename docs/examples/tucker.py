"""Tucker decomposition by higher-order orthogonal iteration: the product of the tensor with all factors but one (TTMc).

scipy has to write out the Kronecker product of the factors.
"""

import numpy as np
import scipy.sparse as sp

import comparison
import schaas


def leading(matrix, rank):
    """Orthonormal columns that span the most of it."""
    return np.linalg.eigh(matrix @ matrix.T)[1][:, ::-1][:, :rank] if matrix.shape[0] <= matrix.shape[1] \
        else np.linalg.svd(matrix, full_matrices=False)[0][:, :rank]


def main():
    options = comparison.arguments(__doc__.splitlines()[0], extent=120, entries=40000, rank=8)
    coords, values, shape = comparison.tensor(options, (options.extent, options.extent + 20, options.extent - 20), options.entries)
    random = np.random.default_rng(options.seed)
    u, v, w = (np.linalg.qr(random.random((extent, options.rank)))[0] for extent in shape)
    ttmc = schaas.kernel("Y(i,r,s) = T(i,j,k) * V(j,r) * W(k,s)").bind(T=schaas.tensor(coords, values, shape), V=v, W=w)
    unfolded = sp.csr_matrix((values, (coords[0], coords[1] * shape[2] + coords[2])), (shape[0], shape[1] * shape[2]))

    def by_scipy():
        return (unfolded @ np.kron(v, w)).reshape(shape[0], options.rank, options.rank)

    comparison.compare("Tucker, TTMc", ttmc, by_scipy, options.repeat)
    new = leading(ttmc().reshape(shape[0], -1), options.rank)
    core = np.einsum("irs,ip->prs", ttmc(), new)
    print(f"  the core of {core.shape} holds {np.linalg.norm(core) / np.linalg.norm(values):.4f} of the tensor's norm")


if __name__ == "__main__":
    main()
