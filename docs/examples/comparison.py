"""What the examples share: data from a file or generated, and two ways to compute one thing, compared and timed in turns."""

import argparse
import time

import numpy as np
import scipy.sparse as sp

import schaas


def arguments(what, **sizes):
    """--data FILE, --seed, --repeat and one option for each size."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--data", metavar="FILE", help="a .mtx or .tns file (also .gz); without it data is generated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=5, help="runs of each, in turns; the least time counts")
    for name, default in sizes.items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=default, help=f"default: {default}")
    return parser.parse_args()


def graph(options, nodes, degree):
    """A square matrix without explicit zeros."""
    if options.data:
        found = schaas.read(options.data).tocsr()
        size = min(found.shape)
        found = found[:size, :size]
        found.sort_indices()
        return found
    return sp.random(nodes, nodes, degree / nodes, format="csr", random_state=options.seed)


def tensor(options, shape, entries):
    """A tensor of order three: coordinates, values, shape."""
    if options.data:
        found = schaas.read(options.data)
        coords, values = found.coords()
        return coords, values, found.shape
    random = np.random.default_rng(options.seed)
    coordinates = np.unique(np.stack([random.integers(0, extent, entries) for extent in shape]), axis=1)
    return coordinates, random.random(coordinates.shape[1]), shape


def compare(name, ours, theirs, repeat, tolerance=1e-9):
    """Runs both, checks that they agree, and prints the times."""
    mine, other = ours(), theirs()
    scale = np.abs(other).max() or 1.0
    worst = np.abs(np.asarray(mine) - np.asarray(other)).max() / scale
    if not worst <= tolerance:
        raise SystemExit(f"{name}: results differ by {worst:.3g}")
    times = {ours: [], theirs: []}
    for _ in range(repeat):
        for run in (ours, theirs):
            start = time.perf_counter()
            run()
            times[run].append(time.perf_counter() - start)
    mine, other = min(times[ours]), min(times[theirs])
    print(f"{name:28} schaas {mine * 1e3:10.3f} ms   numpy/scipy {other * 1e3:10.3f} ms   {other / mine:6.2f} times   "
          f"(largest difference {worst:.1e})")
    return other / mine
