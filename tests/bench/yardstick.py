#!/usr/bin/env python3
"""Our choice against the yardstick (the papers' choice as plain loops), the linear nest, libraries, code written by hand, and what the machine can do.

    tests/bench/yardstick.py [--data DIR] [--bin DIR] [--kernels K1,SpMM] [--sets 3 | --only SETS] [--generated] [--extents 8,16,64,128]
                             [--dtype f32] [--threads 1,2] [--rounds 3] [--seconds 0.1] [--only-plain] [--json FILE]

The eight kernels of SparseAuto, SpMM, SDDMM, MTTKRP and TTM, f64 or f32, on real data and, with --generated, on generated ones of several million entries
(yardstick_cases.py); the results of K7 and TTM have the fibers of B, those of K7d and TTMd are dense. Extents are those asked for, but for k of K4,
128, and those of K5, which are smaller. Ours and the others take turns, --rounds times --seconds of runs; a figure is the median of the rounds'
medians, its spread what they lie apart, and ratios are of medians. Every element of ours, for each number of threads, is compared with every other
program's, which share no code with it; results by the papers' schedule and the linear nest are verified by our oracle. All have huge pages (schaas_runs.competitor). Columns:

ours       median and spread with the first number of --threads, chosen after `schaas calibrate`; `least` is the least seconds of all runs
yardstick  median and spread, and over ours: what `--profile sparseauto` selects (of one sparse product with dense matrices: the linear nest in
           storage order), printed by plain_loops.py, built by g++ -O3 -march=native -ffast-math, one thread; extents are
           arguments, which its compiler does not know, as ours does not
linear     over ours: `--schedule linear` by our code generator, where it takes no more than --linear-trips
papers     over ours: the yardstick's schedule by our code generator
libs       over ours, f64: the matrix kernels by Eigen, OpenBLAS and SuiteSparse:GraphBLAS, a call for each step (library_kernels.cc), where installed
hand       over ours: what an expert writes for this extent, known to the compiler (hand_kernels.cc, the fastest of several ways), where the
           processor has AVX2 or AVX-512
bound      the least time in which the bytes can be moved once (of B, the result, and the rows of dense operands that entries of B meet) over
           ours: what is left to gain where memory decides. The rate is that of as many bytes, measured in the same run (machine_rates.cc), so data
           that stay in a cache are held against the cache
peak       floating point operations of our schedule (two for each turn of an innermost line) a second, as a share of the peak measured in the same
           run. It is no bound: another schedule may need fewer operations, and none is known to need the fewest
limit      which of the two is closer: `bytes` or `flops`
2 thr      for each further number of --threads: ours with the first over ours with that many, which wants as many idle processors

--only-plain leaves out the columns linear, papers and libs: a third of the time. Ends with geometric means, losses (yardstick / ours below 0.95) and failures; exits 1 when a result is wrong or no case was run.
"""

import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile

import plain_loops
import schaas_runs
import yardstick_cases
from schaas_runs import mean

BY_HAND = {"SpMM", "SDDMM", "TTM", "TTMd", "MTTKRP", "K1", "K3", "K4", "K6", "K7", "K7d", "K8"}
BY_LIBRARIES = {"K1", "K2", "K3", "K4", "SpMM", "SDDMM"}
MOST_TRIPS, MOST_RESULT = 1.2e10, 1.2e8
OPENBLAS = "/usr/include/x86_64-linux-gnu/openblas-pthread"


class Ours:
    """Our code for one schedule and number of threads; a call runs it for --seconds."""

    def __init__(self, case, schedule, threads):
        self.case = case
        self.words = [*case.words, *case.files, "--schedule", schedule, "--threads", threads, "--wait", "60"]
        if case.kept:
            self.words.append("--reuse-structure")  # the plain loops compute values alone, too

    def first(self, *more, verify):
        """The answer of `schaas run`."""
        answer = schaas_runs.run(self.case.options, *self.words, "--repeat", 1, *more, verify=verify)
        self.last = max(answer["run_seconds"]["min"], 1e-6)
        return answer

    def __call__(self):
        options = self.case.options
        repeat = max(3, min(options.repeat, math.ceil(options.seconds / self.last)))  # of three the median is no first run
        answer = schaas_runs.run(options, *self.words, "--repeat", repeat, verify=False)
        self.last = max(answer["run_seconds"]["min"], 1e-6)
        return schaas_runs.our_batch(answer)


class Other:
    """Another program, called with `words`, runs, seconds, the operands and the result's file."""

    def __init__(self, case, program, name, *words):
        self.case, self.command, self.written = case, [program, *words, case.options.repeat, case.options.seconds], os.path.join(case.directory, name + ".out")

    def __call__(self):
        said = schaas_runs.competitor(self.case.options, *self.command, *self.case.plain_files, self.written)
        return schaas_runs.batch([float(word) for word in said.split()])


def papers_trace(case):
    if case.schedule is not None:
        return case.schedule
    # Of two runs every kernel is waited for: none is compiled beside the measurements.
    words = ["--threads", 1, "--profile", "sparseauto", "--schedule", "auto", "--repeat", 2, "--wait", "60"]
    return schaas_runs.run(case.options, *case.words, *case.files, *words, verify=False)["chosen"]["trace"]


def unblocked(trace):
    """The same turns of the innermost lines: a loop over the entries of a block is printed as one over all coordinates."""
    return trace.split("; block(")[0]


def plain_program(case, tree):
    """Compiled once for all sizes."""
    text = plain_loops.source(tree, case.order, case.levels, case.dense, case.result, case.result_indices, case.extents, case.kept,
                              yardstick_cases.C_TYPE[case.options.dtype])
    name = "plain-" + hashlib.sha256(text.encode()).hexdigest()[:16]
    source = os.path.join(case.options.state, name + ".cc")
    with open(source, "w", encoding="ascii") as out:
        out.write(text)
    return schaas_runs.compiled(case.options.state, name, "-ffast-math", source=source)


def hand_program(case):
    """Compiled once for each extent."""
    dtype, source = case.options.dtype, os.path.join(schaas_runs.HERE, "hand_kernels.cc")
    return schaas_runs.compiled(case.options.state, f"hand-{dtype}-{case.extent}", f"-DCOLUMNS={case.extent}", f"-DREAL={yardstick_cases.C_TYPE[dtype]}",
                                source=source)


def others_of(case, papers_tree):
    """By name; each has run once, into its file."""
    options, extents = case.options, ",".join(f"{index}={extent}" for index, extent in case.extents.items())
    others = {"yardstick": Other(case, plain_program(case, papers_tree), "yardstick", extents)}
    if options.libraries and case.kernel in BY_LIBRARIES:
        others["libraries"] = Other(case, options.libraries, "libraries", case.kernel, extents)
    if options.hand and case.kernel in BY_HAND:
        others["hand"] = Other(case, hand_program(case), "hand", case.kernel, extents)
    for other in others.values():
        other()
    return others


def values_of(case, written):
    """The file of the values alone, in storage order, of a result as schaas wrote it."""
    if not case.kept:
        return written
    prefix = os.path.join(case.directory, "ours.")
    subprocess.run([case.options.pack, "pack", case.options.dtype, written, ",".join(["compressed"] * len(case.result_indices)), prefix], capture_output=True, check=True)
    return prefix + "values"


def compare(case, ours, theirs):
    """ValueError when two files of values differ."""
    done = subprocess.run([case.options.pack, "compare", case.options.dtype, ours, theirs], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"{os.path.basename(theirs)}: {done.stderr.strip()}")
    if not float(done.stdout) < {"f64": 1e-9, "f32": 2e-4}[case.options.dtype]:
        raise ValueError(f"{os.path.basename(theirs)} differs by {done.stdout.strip()} of the largest value")


def one_case(case):
    """Figures by name and what was found of the schedules; a text where the case is left out."""
    options = case.options
    if case.result_elements() > MOST_RESULT:
        return f"a result of {case.result_elements():.1e} elements"
    papers = papers_trace(case)
    papers_tree = case.tree(papers)
    if case.trips(papers_tree) > MOST_TRIPS:
        return f"the papers' choice takes {case.trips(papers_tree):.1e} trips"
    others = others_of(case, papers_tree)
    contestants, trees = {}, {}
    for threads in options.threads:
        name = f"ours{threads}"
        written = os.path.join(case.directory, name + "." + ("npy" if not case.kept else "tns" if len(case.result_indices) > 2 else "mtx"))
        contestants[name] = Ours(case, "auto", threads)
        answer = contestants[name].first("-o", written, verify=False)
        values = values_of(case, written)
        for other in others.values():
            compare(case, values, other.written)
        trees[name] = answer["chosen"]["tree"]
        if threads == options.threads[0]:
            chosen, kernels = answer, {answer["chosen"]["kernel_key"]: name}
    contestants |= others
    same = {}
    linear_trips = case.trips(case.tree("linear"))
    for name, trace in (("papers", papers), ("linear", "linear" if linear_trips <= options.linear_trips else None)):
        if trace is not None and not options.only_plain:
            contestant = Ours(case, trace or "linear", options.threads[0])
            key = contestant.first(verify=False)["chosen"]["kernel_key"]
            if key not in kernels:
                contestant.first(verify=True)
            same[name] = kernels.setdefault(key, name)
            contestants[name] = contestant
    batches = {name: [] for name in contestants if same.get(name, name) == name}
    for turn in range(options.rounds):
        for name, found in batches.items():
            if name != "linear" or turn == 0 or contestants[name].last < options.seconds:
                found.append(contestants[name]())
    figures = {name: schaas_runs.figure(found) for name, found in batches.items()}
    figures |= {name: figures[other] for name, other in same.items() if other in figures}
    return {"seconds": figures, "tree": trees[f"ours{options.threads[0]}"], "trees": trees, "papers_tree": papers if papers else "linear",
            "frontier": len(chosen["frontier"]), "bytes": case.bytes_once(), "flops": case.flops(case.tree(unblocked(chosen["chosen"]["trace"])))}


def measured(case, rates):
    """The JSON of a case: figures, ratios by medians, and the bound."""
    found = one_case(case)
    if isinstance(found, str):
        return found
    threads = case.options.threads
    median = {name: one["median"] for name, one in found["seconds"].items()}
    ours = median[f"ours{threads[0]}"]
    bound, peak = rates.seconds_to_move(found["bytes"]) / ours, found["flops"] / ours / (rates.flops * 8 / yardstick_cases.VALUE_BYTES[case.options.dtype])
    ratios = {name: seconds / ours for name, seconds in median.items() if not name.startswith("ours")}
    return {"kernel": case.kernel, "data": case.name, "extent": case.extent} | found | {
        "ratios": ratios, "threads": {n: ours / median[f"ours{n}"] for n in threads[1:]},
        "bound": bound, "peak": peak, "limit": "bytes" if bound > peak else "flops"}


class Rates:
    """What machine_rates.cc measured."""

    def __init__(self, options, state):
        self.moved = []
        self.cache = json.loads(schaas_runs.command(options, "info", "--json"))["client"]["cache_bytes"]
        program = schaas_runs.compiled(state, "machine_rates", "-fopenmp")
        for line in schaas_runs.competitor(options, program, options.threads[0], self.cache).splitlines():
            what, *numbers = line.split()
            if what == "bytes":
                self.moved.append(tuple(map(float, numbers)))
            else:
                setattr(self, what, float(numbers[0]))

    def seconds_to_move(self, size):
        """At the best rate of as many bytes or more; of the smallest amount measured where it is less."""
        return size / max(rate for amount, rate in self.moved if amount > size / 2 or amount == self.moved[0][0])

    def show(self):
        largest, rate = self.moved[0]
        print(f"{rate / 1e9:.1f} GB/s of {largest / 1e6:.0f} MB, {self.flops / 1e9:.0f} GFLOP/s; last-level cache {self.cache / 1e6:.0f} MB"
              + (": memory may be too small to leave it, so this may be a rate of the cache" if largest < 2 * self.cache else ""))


def show_head(options):
    print(f"{'':6} {'data':20} {'ext':>4} {'ours ms':>10} {'+-':>4} {'least':>10} {'yardstick':>10} {'+-':>4} {'ratio':>7} {'linear':>7} {'papers':>6} "
          f"{'libs':>6} {'hand':>6} {'bound':>6} {'peak':>5} limit " + "".join(f"{n:>2} thr " for n in options.threads[1:]) + " ours <- the papers' choice")


def show(found, label, options):
    ours, yardstick, ratios = found["seconds"][f"ours{options.threads[0]}"], found["seconds"]["yardstick"], found["ratios"]
    over = lambda name, width: f"{ratios[name]:{width}.2f}" if name in ratios else " " * width
    print(f"{label} {ours['median'] * 1e3:10.3f} {schaas_runs.spread(ours):4.0%} {ours['least'] * 1e3:10.3f} {yardstick['median'] * 1e3:10.3f} "
          f"{schaas_runs.spread(yardstick):4.0%} {over('yardstick', 7)} {over('linear', 7)} {over('papers', 6)} {over('libraries', 6)} {over('hand', 6)} "
          f"{found['bound']:6.0%} {found['peak']:5.0%} {found['limit']} " + "".join(f"{ratio:6.2f} " for ratio in found["threads"].values())
          + f" {found['tree']} <- {found['papers_tree']}", flush=True)


def show_means(options, cases):
    """Of each kernel at each extent and at all, of every ratio."""
    def line(label, among):
        parts = []
        for name in ("yardstick", "linear", "papers", "libraries", "hand"):
            ratios = [case["ratios"][name] for case in among if name in case["ratios"]]
            if ratios:
                parts.append(f"{name} {mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}, {len(ratios)})")
        for n in options.threads[1:]:
            ratios = [case["threads"][n] for case in among]
            parts.append(f"{n} threads {mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
        print(f"{label:12} " + ", ".join(parts))
    print("\nover ours, geometric means (least to most, sets):")
    for kernel in options.kernels.split(","):
        of_kernel = [case for case in cases if case["kernel"] == kernel]
        for extent in yardstick_cases.extents_of(options, kernel):
            among = [case for case in of_kernel if case["extent"] == extent]
            if among:
                line(f"{kernel} at {extent}", among)
    line("all", cases)


def arguments():
    parser = schaas_runs.parser(__doc__)
    parser.set_defaults(repeat=50)
    yardstick_cases.add_arguments(parser, ",".join(yardstick_cases.KERNELS), 3, "8,16,64,128")
    parser.add_argument("--threads", default="1", help="of ours, with commas; the others have one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.1, help="of runs in a round")
    parser.add_argument("--linear-trips", type=float, default=2e9, help="most trips of a linear nest that is run (default 2e9)")
    parser.add_argument("--only-plain", action="store_true", help="ours, plain loops and code written by hand alone")
    options = parser.parse_args()
    options.threads = list(map(int, options.threads.split(",")))
    return options


def main():
    options = arguments()
    cases, failures = [], 0
    with tempfile.TemporaryDirectory(prefix="schaas-yardstick-") as state:
        options.state = state
        schaas_runs.calibrated_server(options, state)
        options.pack = yardstick_cases.pack_operands(state)
        with_libraries = options.dtype == "f64" and not options.only_plain
        options.libraries = with_libraries and schaas_runs.compiled(state, "library_kernels", "-isystem", "/usr/include/eigen3", f"-I{OPENBLAS}", "-lgraphblas", "-lopenblas",
                                                 needs=["/usr/include/eigen3/Eigen/SparseCore", "/usr/include/GraphBLAS.h", OPENBLAS + "/cblas.h"])
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
            options.hand = " avx2 " in info.read()
        rates = Rates(options, state)
        rates.show()
        show_head(options)
        for case in yardstick_cases.cases_of(options, state):
            label = f"{case.kernel:6} {case.name:20} {case.extent:4}"
            try:
                found = measured(case, rates)
            except (RuntimeError, ValueError, KeyError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"{label} FAILED {error}", flush=True)
                continue
            if isinstance(found, str):
                print(f"{label} left out: {found}", flush=True)
                continue
            cases.append(found)
            show(found, label, options)
    if cases:
        show_means(options, cases)
    losses = [case for case in cases if case["ratios"]["yardstick"] < 0.95]
    for case in losses:
        print(f"loss: {case['kernel']} {case['data']} {case['extent']} {case['ratios']['yardstick']:.2f} ({case['tree']})")
    print(f"{len(cases)} cases, {len(losses)} below 0.95, {failures} failures")
    schaas_runs.write_json(options, {"rates": vars(rates), "threads": options.threads, "dtype": options.dtype, "cases": cases})
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
