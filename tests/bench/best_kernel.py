#!/usr/bin/env python3
"""How soon a Python user has a first kernel and the best one, and what that costs the processor.

    SCHAAS_LIBRARY=build/release/lib/libschaas.so PYTHONPATH=client/python python3 tests/bench/best_kernel.py [--bin DIR]
        [--statements sddmm,chain] [--json FILE]

One server, with nothing stored, compiles as users' servers do; between two statements it is left to come to rest. `first` is the first call,
`best` the time from its beginning until a call that waits has run the best kernel for these sizes. Last comes the processor time of server,
compilers, solver and trials for all statements. Seconds.
"""

import argparse
import json
import pathlib
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))
import schaas_program as program

STATEMENTS = {
    "spmm": "A(i,k) = B(i,j) * C(j,k)",
    "sddmm": "A(i,j) = B(i,j) * C(i,k) * D(j,k)",
    "scored": "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)",
    "chain": "A(i,l) = B(i,j) * C(j,k) * W(k,l)",
    "spgemm": "A(i,k) = B(i,j) * G(j,k)",
    "sum": "A(i,j) = B(i,j) + 2 * G(i,j)",
    "maximum": "y(i) = max(j)(B(i,j))",
    "attention": "S(i,j) = B(i,j) * C(i,k) * D(j,k); m(i) = max(j)(S(i,j)); P(i,j) = exp(S(i,j) - m(i)) * (B(i,j) != 0); "
                 "z(i) = sum(j)(P(i,j)); A(i,l) = P(i,j) / z(i) * E(j,l)",
    "summed": "A(i,l) = (B(i,j) + G(i,j)) * C(j,k) * W(k,l)",
    "triangles": "t = B(i,j) * B(j,k) * B(k,i)",
}
SPARSE_RESULTS = ("sddmm", "spgemm", "sum")
ROWS, COLUMNS = 3000, 16
REST_SECONDS = 1.5


def operands_of(statement):
    import numpy as np
    import scipy.sparse as sp
    draw = np.random.default_rng(1)
    made = {name: sp.random(ROWS, ROWS, 0.003, format="csr", random_state=seed) for seed, name in enumerate("BG")}
    made |= {name: draw.random((ROWS, COLUMNS)) for name in "CDE"} | {"W": draw.random((COLUMNS, COLUMNS))}
    return {name: value for name, value in made.items() if f"{name}(" in statement}


def processor_seconds():
    """Of all processes that were started here and have ended, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(name):
    import schaas
    statement = STATEMENTS[name]
    given = operands_of(statement)
    f = schaas.kernel(statement, **({"A": "csr"} if name in SPARSE_RESULTS else {}))
    start = time.monotonic()
    f(**given, threads=1)
    first = time.monotonic() - start
    f(**given, threads=1, wait=600)
    best = time.monotonic() - start
    time.sleep(REST_SECONDS)
    return {"first": first, "best": best}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--statements", default=",".join(STATEMENTS))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    figures = {}
    with program.asked(options.bin):
        for name in options.statements.split(","):
            figures[name] = measure(name)
            print(f"{name:12}  first {figures[name]['first']:6.2f}  best {figures[name]['best']:6.2f}", flush=True)
    total = {what: sum(one[what] for one in figures.values()) for what in ("first", "best")}
    print(f"{'together':12}  first {total['first']:6.2f}  best {total['best']:6.2f}  processor {processor_seconds():6.2f}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="ascii")


if __name__ == "__main__":
    main()
