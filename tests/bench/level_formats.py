#!/usr/bin/env python3
"""Level formats side by side: banded against compressed rows, and a frontier as bitmap, dense and compressed vector.

    tests/bench/level_formats.py [--bin DIR] [--repeat 21] [--json FILE]

Band matrices: every coordinate within some distance of the diagonal, times a vector and times a matrix of 32 columns. Frontiers: one
or-and step y(i) = A(i,j) * x(j) over a random graph stored by columns, for several shares of vertices in x. One thread, least
seconds, every result verified.
"""

import os
import random
import tempfile

import schaas_runs


def write_matrix(path, rows, entries):
    with open(path, "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {len(entries)}\n")
        out.writelines(f"{i + 1} {j + 1} {1 + (i + j) % 7}\n" for i, j in entries)


def write_vector(path, coordinates):
    with open(path, "w", encoding="ascii") as out:
        out.writelines(f"{j + 1} 1\n" for j in coordinates)


def seconds(options, expression, *words):
    answer = schaas_runs.run(options, expression, "--threads", 1, "--repeat", options.repeat, *words, verify=True)
    return answer["run_seconds"]["min"]


def in_turn(forms, measure):
    """Least of several rounds, in each of which all are measured: the machine may be busy."""
    rounds = [[measure(form) for form in forms] for _ in range(3)]
    return [min(column) for column in zip(*rounds)]


def bands(options, directory, figures):
    print(f"{'rows':>8} {'width':>6} {'':>12} {'csr ms':>9} {'banded ms':>10} {'csr/banded':>10}")
    for rows, reach in ((100000, 2), (100000, 16), (20000, 64)):
        path = os.path.join(directory, "band.mtx")
        write_matrix(path, rows, [(i, j) for i in range(rows) for j in range(max(0, i - reach), min(rows, i + reach + 1))])
        for name, expression, words in (("SpMV", "y(i) = B(i,j) * x(j)", []), ("SpMM, 32", "Y(i,k) = B(i,j) * C(j,k)", ["-d", "k=32"])):
            took = in_turn(("csr", "banded"),
                           lambda form: seconds(options, expression, "-t", f"B={path}", "-f", f"B={form}", *words))
            print(f"{rows:8} {2 * reach + 1:6} {name:>12} {1e3 * took[0]:9.3f} {1e3 * took[1]:10.3f} {took[0] / took[1]:10.2f}")
            figures.append({"rows": rows, "width": 2 * reach + 1, "kernel": name, "csr": took[0], "banded": took[1]})


def frontiers(options, directory, figures):
    vertices, degree = 200000, 8
    draw = random.Random(20260401)
    path = os.path.join(directory, "graph.mtx")
    edges = sorted({(draw.randrange(vertices), j) for j in range(vertices) for _ in range(degree)})
    write_matrix(path, vertices, edges)
    forms = ("dense", "bitmap", "compressed", "hashed")
    print(f"\n{'frontier':>9} " + " ".join(f"{form + ' ms':>14}" for form in forms))
    for share in (0.001, 0.05, 0.5):
        vector = os.path.join(directory, "x.tns")
        write_vector(vector, sorted(draw.sample(range(vertices), int(share * vertices))))
        took = in_turn(forms, lambda form: seconds(options, "or-and: y(i) = A(i,j) * x(j)", "-t", f"A={path}", "-f", "A=csc",
                                                   "-t", f"x={vector}", "-f", f"x={form}"))
        print(f"{share:9} " + " ".join(f"{1e3 * each:14.3f}" for each in took))
        figures.append({"share": share, **dict(zip(forms, took))})


def main():
    options = schaas_runs.parser(__doc__)
    options.set_defaults(repeat=21)
    options = options.parse_args()
    figures = []
    with tempfile.TemporaryDirectory() as directory:
        bands(options, directory, figures)
        frontiers(options, directory, figures)
    schaas_runs.write_json(options, figures)


if __name__ == "__main__":
    main()
