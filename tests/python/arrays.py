"""What tests beside numpy share: kernels that come at once, random matrices, and arrays in a format. Imported after with_server."""

import numpy as np
import scipy.sparse as sp

import schaas


def kernel(statement, **options):
    """Runs the first kernel there is."""
    return schaas.kernel(statement, patience=0.01, **options)


def dense(result):
    result = result.to_dense() if hasattr(result, "to_dense") else result
    return result.toarray() if hasattr(result, "toarray") else np.asarray(result)


def matrix(rows, columns, seed):
    return sp.random(rows, columns, 0.4, random_state=seed).toarray()


def stored(array, format):
    if format == "dense":
        return array
    coordinates = np.nonzero(array)
    return schaas.tensor(list(coordinates), array[coordinates], array.shape, format)
