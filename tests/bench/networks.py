#!/usr/bin/env python3
"""Random networks of 10, 20 and 40 tensors as one product: seconds to the first result, and the order found beside opt_einsum's.

    networks.py [--operands 10,20,40] [--draws 5] [--regularity 3]

Needs numpy and a build: SCHAAS_LIBRARY, PYTHONPATH and schaasd on PATH. Each draw has a process and a server of its own. Networks are
those of opt_einsum's rand_equation: each index joins two tensors drawn by chance, or is one of the result's. With opt_einsum on PYTHONPATH its orders
(`auto-hq`, 128 random greedy ones, `dp` up to 20 tensors) are counted too, the best of them in multiplications; else numpy's greedy one.
"""

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import schaas

from timing import least_milliseconds

try:
    import opt_einsum
except ImportError:
    opt_einsum = None
# Modes of an operand at most; orders whose intermediates have more are marked.
MAX_MODES = 8


def network(operands, regularity, seed, modes):
    """Names of the indices of each tensor and of the result, and the extent of each index."""
    draw = np.random.default_rng(seed)
    while True:
        indices = operands * regularity // 2 + 1
        ends = draw.permutation([0] + [index for index in range(1, indices) for _ in range(2)])
        inputs = [[int(index)] for index in ends[:operands]]
        for index in ends[operands:]:
            others = [names for names in inputs if index not in names]
            others[draw.integers(len(others))].append(int(index))
        if max(len(names) for names in inputs) <= modes:
            return inputs, [0], {index: int(draw.integers(2, 5)) for index in range(indices)}


def multiplications(order, inputs, result, extents):
    """Of an order as opt_einsum writes it: positions of the tensors contracted, the new one behind all others; and its most modes."""
    left, count, modes = [set(names) for names in inputs], 0, 0
    for step in order:
        taken = [left.pop(at) for at in sorted(step, reverse=True)]
        every = set().union(*taken)
        count += math.prod(extents[index] for index in every)
        kept = every & set(result).union(*left)
        modes = max(modes, len(kept))
        left.append(kept)
    return count, modes


def other_orders(inputs, result, extents, arrays):
    """Orders by name."""
    given = [part for array, names in zip(arrays, inputs) for part in (array, names)] + [result]
    if opt_einsum is None:
        return {"numpy greedy": np.einsum_path(*given, optimize="greedy")[0][1:]}
    kinds = ["auto-hq", "random-greedy-128"] + (["dp"] if len(inputs) <= 20 else [])
    return {kind: opt_einsum.contract_path(*given, optimize=kind)[0] for kind in kinds}


def draw_of(operands, seed, regularity):
    """Prints the line of one draw, whose kernels nobody has asked for before, and returns our multiplications over the others'."""
    inputs, result, extents = network(operands, regularity, seed, MAX_MODES)
    draw = np.random.default_rng(seed)
    arrays = [draw.random([extents[index] for index in names]) for names in inputs]
    product = " * ".join(f"T{n}({','.join(f'i{index}' for index in names)})" for n, names in enumerate(inputs))
    schaas.kernel("y(i) = 2 * x(i)")(np.ones(3))  # starts the server
    start = time.perf_counter()
    kernel = schaas.kernel(f"r({','.join(f'i{index}' for index in result)}) = {product}")
    bound = kernel.bind(*arrays, threads=1)
    made = bound()
    first = time.perf_counter() - start
    ours = float(bound.describe()["reason"].split(": ")[-1].split(" ")[0])
    orders = {kind: (*multiplications(order, inputs, result, extents), order) for kind, order in other_orders(inputs, result, extents, arrays).items()}
    kind = min(orders, key=lambda one: orders[one][0])
    best, modes, order = orders[kind]
    given = [part for array, names in zip(arrays, inputs) for part in (array, names)] + [result]
    theirs = (lambda: opt_einsum.contract(*given, optimize=order)) if opt_einsum else (lambda: np.einsum(*given, optimize=["einsum_path", *order]))
    np.testing.assert_allclose(made, theirs(), rtol=1e-9)
    print(f"{operands:7} {seed:4} {first:8.2f} {least_milliseconds(bound, 3):8.3f} {least_milliseconds(theirs, 3):9.3f} {ours:16.3g} "
          f"{best:16.3g} {ours / best:.3f} {kind}{'' if modes <= MAX_MODES else f', {modes} modes'}", flush=True)
    return ours / best


def in_a_process_of_its_own(operands, seed, regularity):
    """With a server of its own, which is ended with it: nothing else is compiled meanwhile."""
    with tempfile.TemporaryDirectory(prefix="schaas-bench-", ignore_cleanup_errors=True) as state:
        names = ("XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME")
        words = [sys.executable, __file__, "--alone", "--operands", str(operands), "--seed", str(seed), "--regularity", str(regularity)]
        try:
            done = subprocess.run(words, env={**os.environ, **dict.fromkeys(names, state)}, stdout=subprocess.PIPE, text=True, check=True)
        finally:
            subprocess.run(["pkill", "-f", f"data-dir {state}"], check=False)
    line = done.stdout.rstrip()
    print(line, flush=True)
    return float(line.split()[7])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operands", default="10,20,40")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--regularity", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="of the first draw")
    parser.add_argument("--alone", action="store_true", help="one draw, by the server that the environment names")
    options = parser.parse_args()
    if options.alone:
        draw_of(int(options.operands), options.seed, options.regularity)
        return
    print(f"{'tensors':>7} {'seed':>4} {'first s':>8} {'run ms':>8} {'theirs ms':>9} {'multiplications':>16} {'best other':>16} ratio")
    ratios = [in_a_process_of_its_own(operands, seed, options.regularity)
              for operands in map(int, options.operands.split(",")) for seed in range(options.seed, options.seed + options.draws)]
    print(f"multiplications over those of the best other order: {statistics.geometric_mean(ratios):.3f} in the mean, {max(ratios):.3f} at most")


if __name__ == "__main__":
    main()
