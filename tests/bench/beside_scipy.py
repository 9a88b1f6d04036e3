"""Plain calls beside scipy's, one thread, every result compared: what operations.py and sparse_programs.py share.

Both sides allocate their results. Marks in the table: `<` slower than scipy, `<<` slower than two thirds of its speed, `<<<` than a tenth.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "service"))
import schaas_program as program
import timing


def with_values(b, values):
    """A csr matrix with the structure of `b`."""
    import scipy.sparse as sp
    return sp.csr_matrix((values, b.indices, b.indptr), shape=b.shape)


def random_rows(seed, height, columns, each):
    """A csr matrix with up to so many entries in each row, from 0.5 to 1.5, at random columns."""
    import numpy as np
    import scipy.sparse as sp
    random = np.random.default_rng(seed)
    made = sp.csr_matrix((random.random(each * height) + 0.5, (np.repeat(np.arange(height), each), random.integers(0, columns, each * height))),
                         shape=(height, columns))
    made.sum_duplicates()
    return made


def equal(ours, theirs):
    import numpy as np
    import scipy.sparse as sp
    rounding = 1e-5 if getattr(theirs, "dtype", None) == np.float32 else 1e-8
    if hasattr(ours, "tocsr") or hasattr(theirs, "tocsr"):
        ours, theirs = sp.csr_matrix(ours), sp.csr_matrix(theirs)
        beside = abs(ours - theirs)
        return beside.nnz == 0 or beside.max() <= rounding * max(1, abs(theirs).max())
    return np.allclose(np.asarray(ours, float), np.asarray(theirs, float), rtol=rounding)


def medians_ms(works, seconds):
    """The median of each of the works. They run in turns of five, so that what else the machine does slows all alike."""
    times, end = [[] for _ in works], time.monotonic() + seconds * len(works)
    while len(times[0]) < 5 or (time.monotonic() < end and len(times[0]) < 200):
        for work, own in zip(works, times):
            own.extend(timing.milliseconds(work)[0] for _ in range(5))
    return [statistics.median(own) for own in times]


def measure(case, options):
    import schaas
    expression, format, operands, theirs = case
    name = expression.split("=")[0].split("(")[0].strip() if ";" not in expression else "A"
    f = schaas.kernel(expression, **({name: format} if format else {}))
    first, result = timing.milliseconds(lambda: f(**operands, threads=1))
    right = equal(result, theirs())
    timing.settle(f, operands, 1, options.settle)
    call, scipy = medians_ms([lambda: f(**operands, threads=1), theirs], options.seconds)
    return {"first": first, "call": call, "scipy": scipy, "right": bool(right)}


def parser_of(description):
    """Options of all these benches; `cases` are the names that are measured, all where there are none."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--settle", type=float, default=60, help="most seconds to wait for the server's best kernel")
    parser.add_argument("--json", type=pathlib.Path)
    return parser


def compare(options, made):
    """Measures the cases of `made()`, by name: expression, format of the result, operands, what scipy does. Ends the program."""
    warnings.filterwarnings("ignore")  # divisions by zero in empty rows, on both sides
    import schaas
    figures, wrong = [], 0
    with program.asked(options.bin):
        known = made()
        print(f"1 thread, ms\n{'':24} {'first':>9} {'call':>9} {'scipy':>9} {'scipy/call':>11}")
        for name in options.cases or known:
            try:
                found = measure(known[name], options)
            except schaas.Error as error:
                wrong += 1
                print(f"{name:24} refused: {str(error).splitlines()[0]}", flush=True)
                continue
            figures.append({"case": name, **found})
            wrong += not found["right"]
            ratio = found["scipy"] / found["call"]
            mark = "wrong" if not found["right"] else "<<<" if ratio < 0.1 else "<<" if ratio < 0.67 else "<" if ratio < 1 else ""
            print(f"{name:24} {found['first']:9.1f} {found['call']:9.3f} {found['scipy']:9.3f} {ratio:11.2f} {mark}", flush=True)
    if figures:
        ratios = [one["scipy"] / one["call"] for one in figures]
        print(f"{sum(ratio >= 1 for ratio in ratios)} of {len(ratios)} at least as fast as scipy, geometric mean {statistics.geometric_mean(ratios):.2f}, "
              f"{wrong} refused or wrong")
    if options.json:
        options.json.write_text(json.dumps(figures))
    sys.exit(wrong != 0)
