#!/usr/bin/env python3
"""Writes a folder that measures kernels for GPUs on a machine with nothing but nvcc, cuSPARSE and Python 3.

    make_travel.py --bin build/release/bin --data DIR --out FOLDER      then, over there: python3 FOLDER/run.py

The folder holds generated sources, the runner, and matrices: of SpMM the points of the four families of Sgap, and of SpMM, SDDMM
and the fused nest of both, and of SpMM of bf16, what the search proposes. `run.py --emulated` checks all of it on a machine without a GPU.
"""

import argparse
import array
import gzip
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
MATRICES = ["cora", "pubmed", "ca-HepPh", "p2p-Gnutella31", "wiki-Vote", "cage10", "bcsstk16", "memplus"]


PROBLEMS = {
    "spmm": ["C(i,k) = A(i,j) * B(j,k)", "-f", "A=csr"],
    "sddmm": ["Y(i,j) = A(i,j) * C(i,k) * D(j,k)", "-f", "A=csr", "-f", "Y=csr"],
    "fused": ["Y(i,l) = A(i,j) * C(i,k) * D(j,k) * E(j,l)", "-f", "A=csr"],
    "spmm bf16": ["C(i,k) = A(i,j) * B(j,k)", "-f", "A=csr"],
}


def question(problem):
    """The arguments that ask about a problem: expression, formats and types."""
    return [*PROBLEMS[problem], "--dtype", "bf16" if problem.endswith(" bf16") else "f32", "--positions", "32"]


def points():
    """Of SpMM: (short name, family, take, width, columns, trace)"""
    for c in (1, 2, 4):
        first = f"reorder(order={{k,i,j}}); threads(loop=k, each={c}); "
        entries = first + "pos(loop=j, from=i); "
        for x in (1, 4):
            yield f"{x} row {c} col 1", "row", x, 1, c, first + f"threads(loop=i, each={x})"
        for g in (2, 4, 8, 16, 32):
            shared = first + f"threads(loop=i, each=1/{g}); group(loop=i, width={g}, reduce=parallel)"
            yield f"1/{g} row {c} col {g}", "row shared", g, g, c, shared
        for r in (4, 8, 16):
            atomic = first + f"threads(loop=i, each=1/32); group(loop=i, width={r}, reduce=atomic)"
            yield f"1/32 row {c} col {r}", "row shared, atomic", 32, r, c, atomic
        for g in (4, 16, 32):
            yield f"{g} nnz {c} col 1", "entries", g, 1, c, entries + f"threads(loop=i, each={g})"
        for r in (4, 8, 16, 32):
            segment = entries + f"threads(loop=i, each=1); group(loop=i, width={r}, reduce=segment)"
            yield f"1 nnz {c} col {r}", "entries segment", 1, r, c, segment
            chunk = entries + f"threads(loop=i, each=8); group(loop=i, width={r}, reduce=segment)"
            yield f"8 nnz {c} col {r}", "entries segment", 8, r, c, chunk


def asked(program, server, *arguments):
    done = subprocess.run([program, *arguments, "--server", server], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{arguments}\n{done.stderr}")
    return done.stdout


def proposed(program, server, problem):
    """What the search proposes: as of points(), the schedule's id in place of the trace."""
    answer = json.loads(asked(program, server, "schedule", *question(problem), "--gpu", "--json"))
    for schedule in answer["gpu"]:
        yield f"{schedule['id']} {schedule['point']} of {schedule['entry']} {schedule['tree']}", "proposed", 0, 0, 0, schedule["id"]


def write_sources(program, server, out, every):
    rows = [("spmm", *point) for point in points()]
    for problem in PROBLEMS:
        found = [(problem, *point) for point in proposed(program, server, problem)]
        if not found:
            raise SystemExit(f"the search proposes nothing for {problem}")
        rows += found
    table = []
    for number, (problem, name, family, take, width, columns, which) in enumerate(rows[::every]):
        symbol = f"kernel_{number}"
        source = asked(program, server, "emit", *question(problem), "--schedule", which, "--lang", "cuda")
        source = source.replace("schaas_gpu_kernel", symbol).replace("schaas_phase_", f"{symbol}_phase_")
        (out / f"{symbol}.cu").write_text(source)
        table.append((problem, name, family, take, width, columns, symbol))
    text = "".join(f'extern "C" const schaas_gpu_descriptor {row[-1]};\n' for row in table)
    text += "static const Point points[] = {\n"
    text += "".join(f'    {{"{row[0]}", "{row[1]}", "{row[2]}", {row[3]}, {row[4]}, {row[5]}, &{row[6]}}},\n' for row in table) + "};\n"
    (out / "kernels.inc").write_text(text)
    (out / "problems.json").write_text(json.dumps(sorted({row[0] for row in table})))
    return len(table)


def write_csr(path, rows, columns, lists):
    pos = array.array("i", [0])
    crd = array.array("i")
    for row in lists:
        crd.extend(sorted(row))
        pos.append(len(crd))
    generator = random.Random(1)
    values = array.array("f", (generator.randrange(1, 17) / 8 for _ in range(len(crd))))
    with open(path, "wb") as file:
        array.array("q", [rows, columns, len(crd)]).tofile(file)
        for part in (pos, crd, values):
            part.tofile(file)


def read_market(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        symmetric = "symmetric" in file.readline()
        line = file.readline()
        while line.startswith("%"):
            line = file.readline()
        rows, columns, _ = map(int, line.split())
        lists = [set() for _ in range(rows)]
        for line in file:
            words = line.split()
            i, j = int(words[0]) - 1, int(words[1]) - 1
            lists[i].add(j)
            if symmetric:
                lists[j].add(i)
    return rows, columns, lists


def generated(kind, rows, entries, seed):
    """Large enough to fill a device: even rows, or rows by a power law."""
    generator = random.Random(seed)
    mean = entries // rows
    lists = []
    for _ in range(rows):
        count = mean if kind == "even" else min(rows // 4, int(mean / 3 * generator.paretovariate(1.5)))
        lists.append({generator.randrange(rows) for _ in range(count)})
    return rows, rows, lists


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--data", type=pathlib.Path, help="where matrices/ lies; without it only generated ones")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--entries", type=int, default=4_000_000, help="of each generated matrix")
    parser.add_argument("--every", type=int, default=1, help="only every so many kernels: to check the folder itself")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in ("runner.cu", "run.py", "emulated_runtime.h"):
        shutil.copy(HERE / name, options.out)
    for name in ("proto/gpu_abi.h", "proto/kernel_abi.h", "tests/support/cuda_emulation.h"):
        (options.out / name.split("/")[-1]).write_text((ROOT / name).read_text().replace("proto/", ""))
    with tempfile.TemporaryDirectory() as home:
        server = f"unix:{home}/socket"
        daemon = subprocess.Popen([options.bin / "schaasd", "--data-dir", home, "--listen", server], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            while not os.path.exists(f"{home}/socket") and daemon.poll() is None:
                time.sleep(0.05)
            count = write_sources(str(options.bin / "schaas"), server, options.out, options.every)
        finally:
            daemon.terminate()
            daemon.wait()
    found = sorted(options.data.glob("matrices/*.mtx*")) if options.data else []
    for path in found:
        name = path.name.split(".")[0]
        if name in MATRICES:
            write_csr(options.out / f"{name}.bin", *read_market(path))
    # To check with: empty rows, rows of one entry, a full one.
    tiny = [{j for j in range(31) if i == 7 or (i * j) % 11 == 3} if i % 4 else set() for i in range(45)]
    tiny[7] = set(range(31))
    write_csr(options.out / "tiny.bin", 45, 31, tiny)
    # Rows on both sides of 32 entries, empty ones beside a long one. Never measured.
    lengths = (31, 0, 32, 33, 0, 0, 0, 1, 70)
    write_csr(options.out / "ragged.check", 27, 70, [set(range(lengths[i % 9])) for i in range(27)])
    for kind in ("even", "skewed"):
        if not options.entries:
            continue
        write_csr(options.out / f"{kind}.bin", *generated(kind, options.entries // 16, options.entries, 7))
    print(f"{count} kernels, {len(list(options.out.glob('*.bin')))} matrices in {options.out}")


if __name__ == "__main__":
    main()
