#!/usr/bin/env python3
"""Sparse results: products and sums of sparse matrices against plain loops, Eigen and GraphBLAS, and sums of many operands against pairwise ones.

    tests/bench/sparse_results.py [--data DIR] [--bin DIR] [--sets a,b] [--repeat 7] [--rounds 3] [--json FILE]

Products: C(i,k) = A(i,j) * B(j,k), all csr, B a copy of A, against the papers' loops (plain_operations.cc, -ffast-math), Eigen's `A * B` (row major, sorted) and GraphBLAS's mxm (sorted), one thread; and into
rows without order (`dense,compressed(unordered)`). Sums of 2 to
8 operands: random matrices of the same shape and number of entries, one statement against Eigen's one expression, Eigen
pairwise, GraphBLAS pairwise, and our own pairwise sums. Ours and the others in turn, --rounds times; times are the least seconds, allocation of
the result included, all with huge pages; number of entries and sum of values must agree, ours is verified as well. g++ -O3 -march=native builds
Eigen's side; without Eigen (libeigen3-dev) or GraphBLAS (libgraphblas-dev) their columns say inf.
"""

import gzip
import math
import os
import random
import subprocess
import sys
import tempfile

import schaas_runs
from schaas_runs import mean

HERE = os.path.dirname(os.path.abspath(__file__))
SETS = ["cora", "bcsstk16", "email-Enron", "cage10", "ca-HepPh", "p2p-Gnutella31", "bcsstk25", "wiki-Vote", "pubmed", "memplus"]


def build(directory, name, header, *words):
    """The program, or None where what it is made with is not installed."""
    if not os.path.exists(header):
        return None
    program = os.path.join(directory, name)
    subprocess.run(["g++", "-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-o", program, os.path.join(HERE, name + ".cc"), *words], check=True)
    return program


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


def ours(options, expression, files, verify, result="csr"):
    words = ["-f", f"C={result}", "--threads", "1", "--repeat", options.repeat]
    for name, stem in files.items():
        words += ["-t", f"{name}={stem}.mtx", "-f", f"{name}=csr"]
    answer = schaas_runs.run(options, expression, *words, verify=verify)
    return answer["run_seconds"]["min"], answer


def theirs(options, program, operation, stems):
    """(least seconds, entries) of a library's program; inf where it is not installed."""
    if program is None:
        return math.inf, None
    lines = schaas_runs.competitor(options, program, operation, options.repeat, *(stem + ".txt" for stem in stems)).splitlines()
    return min(map(float, lines[0].split())), int(lines[1].split()[0])


def products(options, directory, figures):
    print("C(i,k) = A(i,j) * B(j,k), csr, one thread")
    print(f"  {'set':18} {'entries':>9} {'of C':>10} {'ours ms':>9} {'unsorted':>9} {'plain ms':>9} {'Eigen ms':>9} {'GraphBLAS':>9} {'plain/ours':>10} {'Eigen/ours':>10} {'GraphBLAS/ours':>14} "
          f"{'sorted/unsorted':>15}")
    ratios = {"plain": [], "eigen": [], "graphblas": []}
    gains = []
    for name in options.sets.split(","):
        rows, columns, entries = read_market(os.path.join(options.data, "matrices", name + ".mtx.gz"))
        if rows != columns:
            continue
        stem = os.path.join(directory, name)
        write_both(stem, rows, columns, entries)
        best, loose, stored = math.inf, math.inf, None
        others = dict.fromkeys(ratios, math.inf)
        for turn in range(options.rounds):
            seconds, answer = ours(options, "C(i,k) = A(i,j) * B(j,k)", {"A": stem, "B": stem}, turn == 0)
            best, stored = min(best, seconds), answer.get("nnz", {}).get("C")
            loose = min(loose, ours(options, "C(i,k) = A(i,j) * B(j,k)", {"A": stem, "B": stem}, turn == 0,
                                    "dense,compressed(unordered)")[0])
            for library in others:
                seconds, found = theirs(options, options.libraries[library], "product", [stem, stem])
                others[library] = min(others[library], seconds)
                if None not in (stored, found) and stored != found:
                    sys.exit(f"{name}: {stored} entries, {library} has {found}")
        gains.append(best / loose)
        for library, seconds in others.items():
            ratios[library].append(seconds / best)
        figures.append({"operation": "product", "set": name, "ours": best, "unsorted": loose, **others, "entries": stored})
        print(f"  {name:18} {len(entries):9} {stored or 0:10} {best * 1e3:9.3f} {loose * 1e3:9.3f} {others['plain'] * 1e3:9.3f} {others['eigen'] * 1e3:9.3f} {others['graphblas'] * 1e3:9.3f} "
              f"{others['plain'] / best:10.2f} {others['eigen'] / best:10.2f} {others['graphblas'] / best:14.2f} {best / loose:15.2f}", flush=True)
    print(f"  geometric mean plain / ours: {mean(ratios['plain']):.2f} (least {min(ratios['plain']):.2f}), Eigen / ours: {mean(ratios['eigen']):.2f}, GraphBLAS / ours: {mean(ratios['graphblas']):.2f} (least {min(ratios['graphblas']):.2f}), "
          f"sorted / unsorted: {mean(gains):.2f}\n")


def sums(options, directory, figures):
    print(f"C = A1 + ... + An, csr, {options.rows} x {options.rows}, {options.entries} random entries each, one thread; ms")
    print(f"  {'n':>2} {'ours':>9} {'ours pairwise':>14} {'plain':>9} {'Eigen':>9} {'Eigen pairwise':>14} {'GraphBLAS':>9} {'pairwise/ours':>14}")
    draw = random.Random(1)
    stems = []
    for n in range(8):
        stems.append(os.path.join(directory, f"sum{n}"))
        entries = {(draw.randrange(options.rows), draw.randrange(options.rows)): draw.uniform(0.5, 1.5)
                   for _ in range(options.entries)}
        write_both(stems[-1], options.rows, options.rows, entries)
    names = ["A", "B", "D", "E", "F", "G", "H", "K"]
    for n in range(2, 9):
        expression = "C(i,j) = " + " + ".join(f"{name}(i,j)" for name in names[:n])
        best, pairs, plain, one, two, three = (math.inf,) * 6
        for turn in range(options.rounds):
            best = min(best, ours(options, expression, dict(zip(names[:n], stems)), turn == 0)[0])
            # Partial sums written to files once, then each addition timed alone.
            pairs = min(pairs, pairwise(options, directory, stems[:n], turn))
            plain = min(plain, theirs(options, options.libraries["plain"], "sum", stems[:n])[0])
            one = min(one, theirs(options, options.libraries["eigen"], "sum", stems[:n])[0])
            two = min(two, theirs(options, options.libraries["eigen"], "pairwise", stems[:n])[0])
            three = min(three, theirs(options, options.libraries["graphblas"], "pairwise", stems[:n])[0])
        figures.append({"operation": "sum", "operands": n, "ours": best, "ours_pairwise": pairs, "plain": plain, "eigen": one,
                        "eigen_pairwise": two, "graphblas_pairwise": three})
        print(f"  {n:2} {best * 1e3:9.3f} {pairs * 1e3:14.3f} {plain * 1e3:9.3f} {one * 1e3:9.3f} {two * 1e3:14.3f} {three * 1e3:9.3f} {pairs / best:14.2f}", flush=True)


def pairwise(options, directory, stems, turn):
    total, partial = 0.0, stems[0]
    for n, stem in enumerate(stems[1:]):
        seconds, _ = ours(options, "C(i,j) = A(i,j) + B(i,j)", {"A": partial, "B": stem}, False)
        total += seconds
        following = os.path.join(directory, f"partial{n}")
        if not os.path.exists(following + ".mtx"):
            rows, columns, left = read_plain(partial + ".txt")
            for place, value in read_plain(stem + ".txt")[2].items():
                left[place] = left.get(place, 0) + value
            write_both(following, rows, columns, left)
        partial = following
    return total


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
        options.libraries = {
            "plain": build(directory, "plain_operations", HERE, "-ffast-math"),
            "eigen": build(directory, "eigen_operations", "/usr/include/eigen3/Eigen/SparseCore", "-isystem", "/usr/include/eigen3"),
            "graphblas": build(directory, "graphblas_operations", "/usr/include/GraphBLAS.h", "-lgraphblas"),
        }
        products(options, directory, figures)
        sums(options, directory, figures)
    schaas_runs.write_json(options, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
