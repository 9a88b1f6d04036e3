#!/usr/bin/env python3
"""Sparse results: products and sums of sparse matrices against plain loops, Eigen and GraphBLAS, and sums of many operands against pairwise ones.

    tests/bench/sparse_results.py [--data DIR] [--bin DIR] [--sets a,b] [--repeat 7] [--rounds 3] [--json FILE]

Products: C(i,k) = A(i,j) * B(j,k), all csr, B a copy of A, against the papers' loops (plain_operations.cc, -ffast-math), Eigen's `A * B` (row major, sorted) and GraphBLAS's mxm (sorted), one thread; and into
rows without order (`dense,compressed(unordered)`). Sums of 2 to
8 operands: random matrices of the same shape and number of entries, one statement against the papers' loops at once and pairwise, Eigen's one expression, Eigen
pairwise, GraphBLAS pairwise, and our own pairwise sums. Ours and the others in turn, --rounds times; times are medians of the rounds' medians
(--json also has their spread and the least), all with huge pages. `ours` finds the structure of the result in each run, but writes to the
arrays of the run before. `calls` are plain calls from Python, which allocate their results in each run, as the others do: ratios are of those. They need numpy, SCHAAS_LIBRARY and
PYTHONPATH (fresh_results.py). The number of entries and the sum of values
of every other program must agree with our result's, which is verified besides: exits 1 with the first that does not. g++ -O3 -march=native builds
the others; without Eigen (libeigen3-dev) or GraphBLAS (libgraphblas-dev) their columns say -.
"""

import gzip
import os
import random
import subprocess
import sys
import tempfile
import time

import schaas_runs
from schaas_runs import mean

SETS = ["cora", "bcsstk16", "email-Enron", "cage10", "ca-HepPh", "p2p-Gnutella31", "bcsstk25", "wiki-Vote", "pubmed", "memplus"]


def read_market(path):
    """(rows, columns, {(row, column): value}); symmetric ones are made general."""
    with gzip.open(path, "rt") as lines:
        head = next(lines).lower().split()
        line = next(lines)
        while line.startswith("%"):
            line = next(lines)
        rows, columns, _ = map(int, line.split())
        entries = {}
        for line in lines:
            words = line.split()
            if not words:
                continue
            row, column = int(words[0]) - 1, int(words[1]) - 1
            value = float(words[2]) if len(words) > 2 else 1.0
            entries[row, column] = entries.get((row, column), 0) + value
            if head[4] != "general" and row != column:
                entries[column, row] = -value if head[4].startswith("skew") else value
    return rows, columns, entries


def write_both(stem, rows, columns, entries):
    """The same matrix for schaas (.mtx) and for Eigen (.txt)."""
    ordered = sorted(entries.items())
    with open(stem + ".mtx", "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {columns} {len(ordered)}\n")
        out.writelines(f"{r + 1} {c + 1} {v!r}\n" for (r, c), v in ordered)
    with open(stem + ".txt", "w", encoding="ascii") as out:
        out.write(f"{rows} {columns} {len(ordered)}\n")
        out.writelines(f"{r} {c} {v!r}\n" for (r, c), v in ordered)


class Ours:
    """One statement of ours on some files; a call runs it. `total` is of its verified first result: entries, sum of values, of absolute values."""

    def __init__(self, options, expression, files, result="csr"):
        self.options, self.words = options, [expression, "-f", f"C={result}", "--threads", "1"]
        for name, stem in files.items():
            self.words += ["-t", f"{name}={stem}.mtx", "-f", f"{name}=csr"]
        written = os.path.join(options.directory, "ours.mtx")
        schaas_runs.run(options, *self.words, "-o", written, verify=True)
        said = subprocess.run([options.pack, "total", written], capture_output=True, text=True, check=True).stdout.split()
        self.total = int(said[0]), float(said[1]), float(said[2])

    def __call__(self):
        return schaas_runs.our_batch(schaas_runs.run(self.options, *self.words, "--repeat", self.options.repeat, verify=False))


class Calls:
    """Plain calls from Python: each makes a new result. The first waits for the best kernel; the last result is compared with `total`."""

    def __init__(self, options, expression, files, total):
        import schaas
        self.repeat, self.total, self.expression = options.repeat, total, expression
        self.operands = {name: schaas.read(stem + ".mtx").tocsr() for name, stem in files.items()}
        self.kernel = schaas.kernel(expression, C="csr")
        self.kernel(**self.operands, threads=1, wait=60)

    def __call__(self):
        seconds = []
        for _ in range(self.repeat):
            start = time.perf_counter()
            result = self.kernel(**self.operands, threads=1)
            seconds.append(time.perf_counter() - start)
        check(f"{self.expression} called", result.nnz, float(result.data.sum()), self.total)
        return schaas_runs.batch(seconds)


def check(what, entries, values, total):
    expected, sum_of_values, size = total
    if entries != expected or not abs(values - sum_of_values) <= 1e-9 * size:
        sys.exit(f"{what}: {entries} entries, values {values} in all; ours: {expected}, {sum_of_values}")


class Theirs:
    """An operation of another program; each call compares its result with `total`."""

    def __init__(self, options, program, operation, stems, total):
        self.options, self.command, self.total = options, [options.programs[program], operation, options.repeat, *(stem + ".txt" for stem in stems)], total

    def __call__(self):
        seconds, result = schaas_runs.competitor(self.options, *self.command).splitlines()
        entries, values = result.split()
        check(" ".join(map(str, self.command)), int(entries), float(values), self.total)
        return schaas_runs.batch([float(word) for word in seconds.split()])


def in_turns(options, contestants):
    """Figures by name."""
    batches = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, found in batches.items():
            found.append(contestants[name]())
    return {name: schaas_runs.figure(found) for name, found in batches.items()}


def milliseconds(figures, name, width):
    return f"{figures[name]['median'] * 1e3:{width}.3f}" if name in figures else f"{'-':>{width}}"


def ratio(figures, name, other, width):
    return f"{figures[name]['median'] / figures[other]['median']:{width}.2f}" if name in figures else f"{'-':>{width}}"


def products(options, figures):
    print("C(i,k) = A(i,j) * B(j,k), csr, one thread")
    print(f"  {'set':18} {'entries':>9} {'of C':>10} {'ours ms':>9} {'unsorted':>9} {'calls ms':>9} {'+-':>4} {'plain ms':>9} {'Eigen ms':>9} {'GraphBLAS':>9} {'plain/calls':>11} "
          f"{'Eigen/calls':>11} {'GraphBLAS/calls':>15}")
    statement, of_products = "C(i,k) = A(i,j) * B(j,k)", []
    for name in options.sets.split(","):
        rows, columns, entries = read_market(os.path.join(options.data, "matrices", name + ".mtx.gz"))
        if rows != columns:
            continue
        stem = os.path.join(options.directory, name)
        write_both(stem, rows, columns, entries)
        contestants = {"ours": Ours(options, statement, {"A": stem, "B": stem}),
                       "unsorted": Ours(options, statement, {"A": stem, "B": stem}, "dense,compressed(unordered)")}
        total = contestants["ours"].total
        contestants["calls"] = Calls(options, statement, {"A": stem, "B": stem}, total)
        for library in options.programs:
            contestants[library] = Theirs(options, library, "product", [stem, stem], total)
        found = in_turns(options, contestants)
        of_products.append(found)
        figures.append({"operation": "product", "set": name, "entries": total[0], "seconds": found})
        print(f"  {name:18} {len(entries):9} {total[0]:10} " + " ".join(milliseconds(found, other, 9) for other in ("ours", "unsorted", "calls"))
              + f" {schaas_runs.spread(found['calls']):4.0%} " + " ".join(milliseconds(found, other, 9) for other in ("plain", "eigen", "graphblas"))
              + f" {ratio(found, 'plain', 'calls', 11)} {ratio(found, 'eigen', 'calls', 11)} {ratio(found, 'graphblas', 'calls', 15)}", flush=True)
    for name in [*options.programs, "ours", "unsorted"] if of_products else []:
        ratios = [found[name]["median"] / found["calls"]["median"] for found in of_products]
        print(f"  {name} / calls: geometric mean {mean(ratios):.2f}, least {min(ratios):.2f}")
    print()


def sums(options, figures):
    print(f"C = A1 + ... + An, csr, {options.rows} x {options.rows}, {options.entries} random entries each, one thread; ms")
    print(f"  {'n':>2} {'ours':>9} {'calls':>9} {'+-':>4} {'ours pairwise':>14} {'plain':>9} {'plain pairwise':>14} {'Eigen':>9} {'Eigen pairwise':>14} {'GraphBLAS':>9} "
          f"{'pairwise/ours: ours':>19} {'pairwise/calls: plain':>21} {'Eigen':>6} {'GraphBLAS':>9}")
    draw = random.Random(1)
    stems = []
    for n in range(8):
        stems.append(os.path.join(options.directory, f"sum{n}"))
        entries = {(draw.randrange(options.rows), draw.randrange(options.rows)): draw.uniform(0.5, 1.5)
                   for _ in range(options.entries)}
        write_both(stems[-1], options.rows, options.rows, entries)
    names = ["A", "B", "D", "E", "F", "G", "H", "K"]
    for n in range(2, 9):
        statement, files = "C(i,j) = " + " + ".join(f"{name}(i,j)" for name in names[:n]), dict(zip(names[:n], stems))
        ours = Ours(options, statement, files)
        contestants = {"ours": ours, "calls": Calls(options, statement, files, ours.total), "pairwise": Pairwise(options, stems[:n], ours.total)}
        for name, program, operation in (("plain", "plain", "sum"), ("plain_pairwise", "plain", "pairwise"), ("eigen", "eigen", "sum"), ("eigen_pairwise", "eigen", "pairwise"),
                                         ("graphblas", "graphblas", "pairwise")):
            if program in options.programs:
                contestants[name] = Theirs(options, program, operation, stems[:n], ours.total)
        found = in_turns(options, contestants)
        figures.append({"operation": "sum", "operands": n, "entries": ours.total[0], "seconds": found})
        print(f"  {n:2} {milliseconds(found, 'ours', 9)} {milliseconds(found, 'calls', 9)} {schaas_runs.spread(found['calls']):4.0%} {milliseconds(found, 'pairwise', 14)} "
              f"{milliseconds(found, 'plain', 9)} {milliseconds(found, 'plain_pairwise', 14)} {milliseconds(found, 'eigen', 9)} "
              f"{milliseconds(found, 'eigen_pairwise', 14)} {milliseconds(found, 'graphblas', 9)} {ratio(found, 'pairwise', 'ours', 19)} "
              f"{ratio(found, 'plain_pairwise', 'calls', 21)} {ratio(found, 'eigen_pairwise', 'calls', 6)} {ratio(found, 'graphblas', 'calls', 9)}", flush=True)


class Pairwise:
    """Our sums of two, one after the other; partial sums are written to files once, then each addition is timed alone."""

    def __init__(self, options, stems, total):
        self.additions, partial = [], stems[0]
        for n, stem in enumerate(stems[1:]):
            self.additions.append(Ours(options, "C(i,j) = A(i,j) + B(i,j)", {"A": partial, "B": stem}))
            following = os.path.join(options.directory, f"partial{n}")
            if not os.path.exists(following + ".mtx"):
                rows, columns, left = read_plain(partial + ".txt")
                for place, value in read_plain(stem + ".txt")[2].items():
                    left[place] = left.get(place, 0) + value
                write_both(following, rows, columns, left)
            partial = following
        entries, values, size = self.additions[-1].total
        if entries != total[0] or not abs(values - total[1]) <= 1e-9 * size:
            sys.exit(f"ours in pairs: {entries} entries, values {values} in all; at once: {total[0]}, {total[1]}")

    def __call__(self):
        batches = [addition() for addition in self.additions]
        return sum(least for least, _ in batches), sum(median for _, median in batches)


def read_plain(path):
    with open(path, encoding="ascii") as lines:
        rows, columns, _ = map(int, next(lines).split())
        entries = {}
        for line in lines:
            row, column, value = line.split()
            entries[int(row), int(column)] = float(value)
    return rows, columns, entries


def main():
    parser = schaas_runs.parser(__doc__)
    parser.set_defaults(repeat=7)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--entries", type=int, default=200000)
    options = parser.parse_args()
    figures = []
    with tempfile.TemporaryDirectory(prefix="schaas-bench-") as directory:
        schaas_runs.private_server(directory)
        options.directory, options.pack = directory, schaas_runs.compiled(directory, "pack_operands", "-lz")
        eigen, graphblas = "/usr/include/eigen3", "/usr/include/GraphBLAS.h"
        options.programs = {
            "plain": schaas_runs.compiled(directory, "plain_operations", "-ffast-math"),
            "eigen": schaas_runs.compiled(directory, "eigen_operations", "-isystem", eigen, needs=[eigen + "/Eigen/SparseCore"]),
            "graphblas": schaas_runs.compiled(directory, "graphblas_operations", "-lgraphblas", needs=[graphblas]),
        }
        options.programs = {name: program for name, program in options.programs.items() if program is not None}
        products(options, figures)
        sums(options, figures)
    schaas_runs.write_json(options, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
