"""What the benches share: where the programs and the data are, one command of schaas as JSON, programs ours is compared with, ratios and figures."""

import argparse
import json
import math
import os
import statistics
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def parser(description):
    """With --data, --bin, --repeat, --timeout and --json."""
    made = argparse.ArgumentParser(description=description.splitlines()[0])
    made.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"), help="holds matrices/ and tensors/")
    made.add_argument("--bin", default=os.path.join(ROOT, "build", "release", "bin"), help="holds schaas and schaasd")
    made.add_argument("--repeat", type=int, default=5, help="runs of one command")
    made.add_argument("--timeout", type=int, default=900, help="seconds for one command")
    made.add_argument("--json", help="also write all figures to this file")
    return made


def private_server(state):
    """Keeps the server that the programs start, and all it stores, in `state`, unless the environment says where."""
    for name in ("XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME"):
        os.environ.setdefault(name, state)


def calibrated_server(options, state):
    """The same, which knows this machine's caches and memory as `schaas calibrate` measures them, once."""
    private_server(state)
    command(options, "calibrate")


def command(options, *words):
    """Standard output; RuntimeError with what it said when it fails."""
    done = subprocess.run([os.path.join(options.bin, "schaas"), *map(str, words)], capture_output=True, text=True,
                          timeout=options.timeout)
    if done.returncode != 0:
        raise RuntimeError(f"schaas {words[0]}: exit {done.returncode}: {done.stderr.strip()[:500]}")
    return done.stdout


def run(options, expression, *words, verify):
    """The answer of `schaas run`; RuntimeError for a wrong result."""
    answer = json.loads(command(options, "run", expression, *words, "--json", *(["--verify"] if verify else [])))
    if verify and not answer["verify"]["passed"]:
        raise RuntimeError(f"{expression}: wrong result, {answer['verify']}")
    return answer


def compiled(directory, name, *words, source=None, needs=()):
    """The program of HERE/NAME.cc or `source`, compiled once; None where a header that it needs is not installed."""
    program = os.path.join(directory, name)
    if not all(map(os.path.exists, needs)):
        return None
    if not os.path.exists(program):
        source = source or os.path.join(HERE, name + ".cc")
        subprocess.run(["g++", "-std=c++17", "-O3", "-march=native", "-DNDEBUG", f"-I{HERE}", "-o", program, source, *words], check=True)
    return program


def competitor(options, *words):
    """Standard output of a program that ours is compared with. Our buffers lie in huge pages, so what it allocates does, too: glibc from 2.35 on
    asks for them for blocks of a huge page and more (of a vector of 64 MiB and of an aligned_alloc of 32 MiB, 92 of 96 MiB were AnonHugePages,
    none without), where /sys/kernel/mm/transparent_hugepage/enabled is not `never`."""
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=options.timeout,
                          env=os.environ | {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"})
    if done.returncode != 0:
        raise RuntimeError(f"{words[0]}: exit {done.returncode}: {done.stderr.strip()[:500]}")
    return done.stdout


def batch(seconds):
    """Least and median of the runs of one command, of ours or another's."""
    return min(seconds), statistics.median(seconds)


def our_batch(answer):
    return answer["run_seconds"]["min"], answer["run_seconds"]["median"]


def figure(batches):
    """Seconds of several batches: the median of their medians, the lowest and the highest of these, and the least of all runs."""
    medians = [median for _, median in batches]
    return {"median": statistics.median(medians), "low": min(medians), "high": max(medians), "least": min(least for least, _ in batches)}


def spread(found):
    """How far the medians of a figure's batches lie apart, as a share of theirs."""
    return (found["high"] - found["low"]) / found["median"]


def mean(ratios):
    """Geometric."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def write_json(options, figures):
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(figures, out, indent=1)
