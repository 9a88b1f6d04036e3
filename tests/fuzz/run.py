#!/usr/bin/env python3
"""Fuzzes everything that reads bytes of others: builds the targets with clang and libFuzzer and runs each for a while.

    python3 tests/fuzz/run.py --seconds 1800                every target, half an hour each
    python3 tests/fuzz/run.py --seconds 60 --only trace tree
    python3 tests/fuzz/run.py --minimise                    what a run has found out becomes the corpus in the tree, made small

Seconds are of processor time: a loaded machine fuzzes as much as a free one, only later. Runs at the lowest priority, one target after the other. New inputs are kept in BUILD/fuzz-corpus and used by the next run; findings are files in
BUILD/fuzz-findings, with what the sanitizers said beside them. Exit status 1 when there is a finding.
"""

import argparse
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "fuzz"
TARGETS = ["program", "constraint", "format", "trace", "tree", "stored_problem", "stored_frontier", "request", "reply", "bundle", "tensor_file", "http", "certificate"]
KEPT = 20          # inputs of a target in the tree, at most
KEPT_BYTES = 2048  # of each
INPUT_SECONDS = 20  # an input that takes longer is a finding


def build(folder, targets, jobs):
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "fuzz", "-B", folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, f"-j{jobs}", *(f"bin/{target}_fuzz" for target in targets)], check=True, stdout=subprocess.DEVNULL)


def command(folder, target, *more):
    return [folder / "bin" / f"{target}_fuzz", f"-dict={HERE}/words.dict", f"-timeout={INPUT_SECONDS}", "-rss_limit_mb=3072", "-max_len=4096", *more]


def processor_seconds(pid):
    """What a running process and its ended children have used: searches for leaks run in children."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def alone_seconds(folder, target, file):
    """Processor seconds of one input."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([folder / "bin" / f"{target}_fuzz", "-timeout=0", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fuzz(folder, target, seconds):
    """(executions, processor seconds, whether there was a finding)."""
    found, corpus = folder / "fuzz-findings", folder / "fuzz-corpus" / target
    found.mkdir(exist_ok=True)
    corpus.mkdir(parents=True, exist_ok=True)
    log = found / f"{target}.log"
    environment = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
    runs, used = 0, 0.0
    while used < seconds:
        with open(log, "wb") as out:
            running = subprocess.Popen(command(folder, target, f"-artifact_prefix={found}/{target}-", "-print_final_stats=1", corpus,
                                               HERE / "corpus" / target), stdout=out, stderr=out, env=environment)
        mine = 0.0
        while running.poll() is None:
            mine = processor_seconds(running.pid)
            if used + mine >= seconds:
                running.send_signal(signal.SIGUSR1)  # libFuzzer ends in order
            time.sleep(0.5)
        used += mine
        text = log.read_text(errors="replace")
        runs += sum(int(line.split()[-1]) for line in text.splitlines() if line.startswith("stat::number_of_executed_units"))
        if running.returncode == 0:
            log.unlink()
            continue
        # libFuzzer's limit is by the clock: what took no such time on the processor waited for it.
        slow = list(found.glob(f"{target}-timeout-*"))
        if not slow or any(alone_seconds(folder, target, file) >= INPUT_SECONDS for file in slow):
            return runs, used, True
        for file in slow:
            file.unlink()
    return runs, used, False


def minimise(folder, target):
    """The smallest inputs that reach what the whole corpus reaches; no more than KEPT of them."""
    kept = HERE / "corpus" / target
    with tempfile.TemporaryDirectory() as fresh:
        subprocess.run(command(folder, target, "-merge=1", fresh, kept, folder / "fuzz-corpus" / target), check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        small = sorted((path for path in pathlib.Path(fresh).iterdir() if path.stat().st_size <= KEPT_BYTES), key=lambda path: path.stat().st_size)
        step = max(1, -(-len(small) // KEPT))
        for path in kept.iterdir():
            if len(path.name) == 40:  # named by libFuzzer; those with a word for a name were written by hand
                path.unlink()
        for path in small[::step]:
            (kept / path.name).write_bytes(path.read_bytes())
    print(f"{target}: {len(list(kept.iterdir()))} inputs kept")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="of processor time, for each target (default: 60)")
    parser.add_argument("--only", nargs="+", choices=TARGETS, default=TARGETS, metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "fuzz", help="build folder (default: build/fuzz)")
    parser.add_argument("--jobs", type=int, default=1, help="of the build (default: 1)")
    parser.add_argument("--minimise", action="store_true", help="no fuzzing: make the corpus in the tree anew from what is known")
    options = parser.parse_args()
    os.nice(19)
    build(options.build, options.only, options.jobs)
    findings = 0
    for target in options.only:
        if options.minimise:
            minimise(options.build, target)
            continue
        runs, used, finding = fuzz(options.build, target, options.seconds)
        findings += finding
        print(f"{target}: {runs} executions in {used:.0f} s of processor time, {'A FINDING' if finding else 'no finding'}", flush=True)
    if findings:
        print(f"findings are in {options.build / 'fuzz-findings'}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
