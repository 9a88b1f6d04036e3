#!/usr/bin/env python3
"""Writes a folder that measures kernels for GPUs on a machine with nothing but nvcc, cuSPARSE and Python 3.

    make_travel.py --bin build/release/bin --data DIR --out FOLDER      then, over there: python3 FOLDER/run.py

The folder holds the generated sources of SpMM in the four families of Sgap (one for each point), the runner, and matrices.
"""

import argparse
import array
import gzip
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


def points():
    """(short name, family, take, width, columns, trace)"""
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


def emit(program, server, trace):
    done = subprocess.run([program, "emit", "--server", server, "C(i,k) = A(i,j) * B(j,k)", "-f", "A=csr", "--dtype", "f32", "--positions", "32",
                           "--schedule", trace, "--lang", "cuda"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{trace}\n{done.stderr}")
    return done.stdout


def write_sources(program, server, out):
    table = []
    for number, (name, family, take, width, columns, trace) in enumerate(points()):
        symbol = f"kernel_{number}"
        source = emit(program, server, trace).replace("schaas_gpu_kernel", symbol).replace("schaas_phase_", f"{symbol}_phase_")
        (out / f"{symbol}.cu").write_text(source)
        table.append((name, family, take, width, columns, symbol))
    text = "".join(f'extern "C" const schaas_gpu_descriptor {row[-1]};\n' for row in table)
    text += "static const Point points[] = {\n"
    text += "".join(f'    {{"{row[0]}", "{row[1]}", {row[2]}, {row[3]}, {row[4]}, &{row[5]}}},\n' for row in table) + "};\n"
    (out / "kernels.inc").write_text(text)
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
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in ("runner.cu", "run.py"):
        shutil.copy(HERE / name, options.out)
    gpu = (ROOT / "proto/gpu_abi.h").read_text().replace("proto/kernel_abi.h", "kernel_abi.h")
    (options.out / "gpu_abi.h").write_text(gpu)
    shutil.copy(ROOT / "proto/kernel_abi.h", options.out)
    with tempfile.TemporaryDirectory() as home:
        server = f"unix:{home}/socket"
        daemon = subprocess.Popen([options.bin / "schaasd", "--data-dir", home, "--listen", server], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            while not os.path.exists(f"{home}/socket") and daemon.poll() is None:
                time.sleep(0.05)
            count = write_sources(str(options.bin / "schaas"), server, options.out)
        finally:
            daemon.terminate()
            daemon.wait()
    found = sorted(options.data.glob("matrices/*.mtx*")) if options.data else []
    for path in found:
        name = path.name.split(".")[0]
        if name in MATRICES:
            write_csr(options.out / f"{name}.bin", *read_market(path))
    for kind in ("even", "skewed"):
        write_csr(options.out / f"{kind}.bin", *generated(kind, options.entries // 16, options.entries, 7))
    print(f"{count} kernels, {len(list(options.out.glob('*.bin')))} matrices in {options.out}")


if __name__ == "__main__":
    main()
