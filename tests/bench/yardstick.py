#!/usr/bin/env python3
"""Our choice against the yardstick: the papers' choice as plain loops, built by g++ -O3 -march=native -ffast-math.

    tests/bench/yardstick.py [--data DIR] [--bin DIR] [--kernels K1,SpMM] [--sets 10] [--extents 16,64] [--threads 1]
                             [--rounds 3] [--seconds 0.4] [--json FILE]

The eight kernels of SparseAuto, SpMM, SDDMM, MTTKRP and TTM, f64, on real data; the results of K7 and TTM have the fibers of B, those of K7d and
TTMd are dense. The yardstick's schedule is what `--profile
sparseauto` selects (of one sparse product with dense matrices: the linear nest in storage order), printed by plain_loops.py and run
on the same operands. Extents are those asked for, but for k of K4, 128, and those of K5, 8 and 16 for the first and second of --extents. Ours and the yardstick take turns, --rounds times; figures are the least seconds of all runs. Ours is verified
by its oracle, and every element of the two results is compared. All have huge pages (schaas_runs.competitor). Prints a line per case and geometric means of yardstick / ours;
cases below 0.95 are listed again. `bound` is the least time in which the bytes of B, of the dense operands and of the result can be moved once,
at the bandwidth of a triad measured in the same run on one thread, as a share of ours: what is left to gain where memory decides. `libs`: the
matrix kernels by Eigen, OpenBLAS and SuiteSparse:GraphBLAS, a call for each step (library_kernels.cc), over ours, where all three are
installed. `hand`: what an expert writes for these extents (hand_kernels.cc, the fastest of several ways), over ours, where the processor has AVX-512. Exits 1 when a result is wrong. DIR holds matrices/NAME.mtx.gz and tensors/NAME.tns.gz.
"""

import array
import gzip
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

import plain_loops
import schaas_runs
from schaas_runs import mean

MATRICES = ["cora", "bcsstk16", "email-Enron", "cage10", "debian-depends", "maxwell_S", "wiki-Vote", "memplus", "p2p-Gnutella31", "bcsstk25"]
SMALL = ["cora", "bcsstk13", "wiki-Vote", "cage8", "email-Eu-core", "lsc_Qu_2", "fidapex6", "steam2", "polblogs", "orsreg_1"]
TENSORS = ["kinship", "umls", "contact-high-school", "email-Eu-days", "fb15k-237", "splatt-med3", "nell-995", "fb13", "openflights", "wordnet30"]
CSR, CSF = ("csr", ["dense", "compressed"]), ("csf", ["compressed", "compressed", "compressed"])
# name: statement, indices of B, format of B, dense extents asked for, data sets, the yardstick's schedule ("" = linear, None = of the profile)
KERNELS = {
    "K1": ("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "ij", CSR, "kl", MATRICES, None),
    "K2": ("A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)", "ij", CSR, "klm", SMALL, None),
    "K3": ("A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)", "ik", CSR, "jl", MATRICES, None),
    "K4": ("A(i,l) = B(i,j) * C(j,k) * D(k,l)", "ij", CSR, "kl", MATRICES, None),
    "K5": ("A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)", "ijk", CSF, "lmn", TENSORS, None),
    "K6": ("A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", "ijk", CSF, "lm", TENSORS, None),
    "K7": ("A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", "ijk", CSF, "lm", TENSORS, None),
    "K7d": ("A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", "ijk", CSF, "lm", TENSORS, None),
    "K8": ("A(i,m) = B(i,k,l) * C(l,j) * D(k,j) * E(j,m)", "ikl", CSF, "jm", TENSORS, None),
    "SpMM": ("A(i,k) = B(i,j) * C(j,k)", "ij", CSR, "k", MATRICES, "reorder(order={i,j,k})"),
    "SDDMM": ("A(i,j) = B(i,j) * C(i,k) * D(j,k)", "ij", CSR, "k", MATRICES, "reorder(order={i,j,k})"),
    "MTTKRP": ("A(i,l) = B(i,j,k) * C(j,l) * D(k,l)", "ijk", CSF, "l", TENSORS, "reorder(order={i,j,k,l})"),
    "TTM": ("A(i,j,l) = B(i,j,k) * C(k,l)", "ijk", CSF, "l", TENSORS, "reorder(order={i,j,k,l})"),
    "TTMd": ("A(i,j,l) = B(i,j,k) * C(k,l)", "ijk", CSF, "l", TENSORS, "reorder(order={i,j,k,l})"),
}
# How many of B's levels the result has the pattern of, and its format; the results of others are dense.
SPARSE_RESULT = {"SDDMM": (2, "csr"), "TTM": (2, "compressed,compressed,dense"), "K7": (2, "compressed,compressed,dense")}
FIXED = {"K4": {"k": 128}}
SMALLER = {"K5": {16: 8, 64: 16}}
BY_HAND = {"SpMM", "SDDMM", "TTM", "TTMd", "MTTKRP", "K1", "K3", "K4", "K6", "K7", "K7d", "K8"}
BY_LIBRARIES = {"K1", "K2", "K3", "K4", "SpMM", "SDDMM"}
HERE = os.path.dirname(os.path.abspath(__file__))
MOST_TRIPS, MOST_RESULT = 1.2e10, 1.2e8
TRIAD = """
#include <chrono>
#include <cstdio>
#include <vector>
int main() {
  const long n = 1 << 24;
  std::vector<double> a(n, 1), b(n, 2), c(n, 3);
  double best = 1e9;
  for (int run = 0; run < 10; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < n; ++i) a[i] = b[i] + 0.5 * c[i];
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (a[run] > 0 && seconds < best) best = seconds;
  }
  std::printf("%.6g\\n", 24.0 * n / best);
}
"""


class Sparse:
    """Levels and values of one file, entries sorted and added up; `files` are what the yardstick reads."""

    def __init__(self, path, order, levels):
        entries = {}
        with gzip.open(path, "rt", errors="replace") as lines:
            symmetric, self.dims = False, None
            for line in lines:
                if line.startswith("%%MatrixMarket"):
                    symmetric = "general" not in line.lower().split()
                    skew = "skew" in line.lower()
                words = line.split()
                if not words or words[0][0] in "%#":
                    continue
                if path.endswith(".mtx.gz") and self.dims is None:
                    self.dims = [int(word) for word in words[:order]]
                    continue
                at = tuple(int(word) - 1 for word in words[:order])
                value = float(words[order]) if len(words) > order else 1.0
                entries[at] = entries.get(at, 0.0) + value
                if symmetric and at[0] != at[1]:
                    entries[at[::-1]] = -value if skew else value
        if self.dims is None:
            self.dims = [1 + max(at[mode] for at in entries) for mode in range(order)]
        ordered = sorted(entries.items())
        self.values = array.array("d", (value for _, value in ordered))
        self.pos, self.crd, self.counts = [], [], []
        parents = {(): 0}
        for level, form in enumerate(levels):
            if form == "dense":
                parents = {(n,): n for n in range(self.dims[level])}
                self.counts.append(len(parents))
                continue
            children, pos, crd = {}, array.array("i", [0] * (len(parents) + 1)), array.array("i")
            for at, _ in ordered:
                prefix = at[:level + 1]
                if prefix not in children:
                    children[prefix] = len(children)
                    crd.append(at[level])
                    pos[parents[at[:level]] + 1] += 1
            for n in range(len(parents)):
                pos[n + 1] += pos[n]
            self.pos.append(pos)
            self.crd.append(crd)
            self.counts.append(len(crd))
            parents = children


def save(path, numbers):
    with open(path, "wb") as out:
        numbers.tofile(out)
    return path


def save_npy(path, shape, numbers):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }" % "".join(f"{n}, " for n in shape)
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        numbers.tofile(out)
    return path


def load(path, skip):
    numbers = array.array("d")
    with open(path, "rb") as file:
        if skip:
            file.read(8)
            file.read(struct.unpack("<H", file.read(2))[0])
        numbers.frombytes(file.read())
    return numbers


def load_values(path):
    """Values of a coordinate file in storage order; entries come sorted."""
    with open(path, encoding="ascii") as lines:
        rows = [line.split() for line in lines if not line.startswith("%")][1:]
    return array.array("d", (float(row[-1]) for row in sorted(rows, key=lambda row: tuple(map(int, row[:-1])))))


class Case:
    def __init__(self, options, kernel, name, path, sparse, extent, directory):
        self.options, self.kernel, self.name, self.extent, self.directory = options, kernel, name, extent, directory
        statement, order, (form, levels), dense, _, schedule = KERNELS[kernel]
        self.sparse, self.levels = sparse, levels
        left, right = statement.split(" = ")
        self.result, self.result_indices = plain_loops.access(left)
        self.dense = {operand: indices for operand, indices in map(plain_loops.access, right.split(" * ")) if operand != "B"}
        self.extents = dict(zip(order, sparse.dims)) | {index: extent for index in dense} | FIXED.get(kernel, {})
        self.words = [statement, "-f", f"B={form}"]
        for index in dense:
            self.words += ["-c", f"8 <= {index} <= 256"]
        if kernel in SPARSE_RESULT:
            self.words += ["-f", f"{self.result}={SPARSE_RESULT[kernel][1]}"]
        self.files = ["-t", f"B={path}", "--threads", str(options.threads)]
        self.plain_files = [save(os.path.join(directory, f"{which}{n}"), numbers) for n, pair in enumerate(zip(sparse.pos, sparse.crd))
                            for which, numbers in zip(("pos", "crd"), pair)]
        self.plain_files.append(save(os.path.join(directory, "values"), sparse.values))
        draw = random.Random(7)
        for operand, indices in self.dense.items():
            shape = [self.extents[index] for index in indices]
            numbers = array.array("d", (draw.uniform(0.5, 1.5) for _ in range(math.prod(shape))))
            file = save_npy(os.path.join(directory, operand + ".npy"), shape, numbers)
            self.files += ["-t", f"{operand}={file}"]
            self.plain_files.append(save(os.path.join(directory, operand), numbers))
        for index in dense:
            if not any(index in indices for indices in self.dense.values()):
                self.files += ["-d", f"{index}={self.extents[index]}"]
        self.schedule = schedule

    def bytes_once(self):
        sparse = sum(4 * (len(pos) + len(crd)) for pos, crd in zip(self.sparse.pos, self.sparse.crd)) + 8 * len(self.sparse.values)
        dense = sum(8 * math.prod(self.extents[index] for index in indices) for indices in self.dense.values())
        return dense + sparse + 8 * self.result_elements()

    def result_elements(self):
        kept = SPARSE_RESULT.get(self.kernel, (0,))[0]
        return (self.sparse.counts[kept - 1] if kept else 1) * math.prod(self.extents[index] for index in self.result_indices[kept:])

    def trips(self, tree):
        """Turns of the yardstick's innermost lines, a sparse loop counting the entries of its level."""
        def walk(node, bound, turns):
            if node.index is None:
                return turns
            if bound < len(self.levels) and KERNELS[self.kernel][1][bound] == node.index and node.reads("B"):
                inner, bound = turns / (self.sparse.counts[bound - 1] if bound else 1) * self.sparse.counts[bound], bound + 1
            else:
                inner = turns * self.extents[node.index]
            return sum(walk(child, bound, inner) for child in node.body)
        return sum(walk(node, 0, 1) for node in plain_loops.parse(tree).body)

    def build(self):
        trace = self.schedule
        if trace is None:
            answer = schaas_runs.run(self.options, *self.words, *self.files, "--profile", "sparseauto", "--schedule", "auto", verify=False)
            trace, self.paper_tree = answer["chosen"]["trace"], answer["chosen"]["tree"]
            self.paper_here = answer["run_seconds"]["min"]
        else:
            self.paper_tree, self.paper_here = "linear", None
        tree = schaas_runs.command(self.options, "emit", *self.words, "--schedule", trace or "linear", "--lang", "tree")
        self.turns = self.trips(tree)
        if self.turns > MOST_TRIPS:
            return False
        text = plain_loops.source(tree, KERNELS[self.kernel][1], self.levels, self.dense, self.result, self.result_indices,
                                  self.extents, SPARSE_RESULT.get(self.kernel, (0,))[0])
        program = os.path.join(self.directory, "plain")
        with open(program + ".cc", "w", encoding="ascii") as out:
            out.write(text)
        subprocess.run(["g++", "-O3", "-march=native", "-ffast-math", "-o", program, program + ".cc"], check=True)
        self.program = program
        return True

    def ours(self, first):
        seconds = max(1, min(self.options.repeat, math.ceil(self.options.seconds / self.last))) if not first else 3
        words = [*self.words, *self.files, "--repeat", str(seconds), "--schedule", "auto", "--wait", "60"]
        if self.kernel in SPARSE_RESULT:
            words.append("--reuse-structure")  # the plain loops compute values alone, too
        if first:
            ending = "tns" if len(self.result_indices) > 2 else "mtx"
            self.written = os.path.join(self.directory, "ours." + (ending if self.kernel in SPARSE_RESULT else "npy"))
            words += ["-o", self.written]
        answer = schaas_runs.run(self.options, *words, verify=first)
        if first:
            self.tree, self.frontier = answer["chosen"]["tree"], len(answer["frontier"])
        self.last = max(answer["run_seconds"]["min"], 1e-6)
        return answer["run_seconds"]["min"]

    def plain(self):
        out = os.path.join(self.directory, "plain.out")
        said = schaas_runs.competitor(self.options, self.program, self.options.repeat, self.options.seconds, *self.plain_files, out)
        return min(map(float, said.split()))

    def other(self, program, kernels, file):
        """Seconds of the same by another program; None where there is none."""
        if program is None or self.kernel not in kernels:
            return None
        extents = ",".join(f"{index}={extent}" for index, extent in self.extents.items())
        said = schaas_runs.competitor(self.options, program, self.kernel, extents, self.options.repeat, self.options.seconds, *self.plain_files,
                                      os.path.join(self.directory, file))
        return min(map(float, said.split()))

    def libraries(self):
        return self.other(self.options.libraries, BY_LIBRARIES, "libraries.out")

    def hand(self):
        return self.other(self.options.hand, BY_HAND, "hand.out")

    def compare(self, file):
        theirs = load(os.path.join(self.directory, file), False)
        mine = load_values(self.written) if self.kernel in SPARSE_RESULT else load(self.written, True)
        if len(theirs) != len(mine):
            raise ValueError(f"{len(mine)} values, {file} has {len(theirs)}")
        scale = max(map(abs, theirs), default=0.0) or 1.0
        worst = max((abs(a - b) for a, b in zip(mine, theirs)), default=0.0) / scale
        if not worst < 1e-9:
            raise ValueError(f"{file} differs by {worst:.1e} of the largest value")


def one_case(case):
    if not case.build():
        return {"skipped": f"the papers' choice takes {case.turns:.1e} trips"}
    programs = {"libraries": case.libraries, "hand": case.hand}
    ours, plain, others = case.ours(True), case.plain(), {name: program() for name, program in programs.items()}
    present = [name for name in others if others[name] is not None]
    for name in ["plain", *present]:
        case.compare(f"{name}.out")
    for _ in range(case.options.rounds):
        ours, plain = min(ours, case.ours(False)), min(plain, case.plain())
        for name in present:
            others[name] = min(others[name], programs[name]())
    bound = case.bytes_once() / case.options.bandwidth
    return {"bound": bound, "ours": ours, "yardstick": plain, **others, "ratio": plain / ours, "tree": case.tree, "papers_tree": case.paper_tree,
            "papers_choice_our_code": case.paper_here, "frontier": case.frontier}


def extents_of(options, kernel):
    return [SMALLER.get(kernel, {}).get(int(asked), int(asked)) for asked in options.extents.split(",")]


def cases_of(options, state):
    """The cases of --kernels, --only or --sets, and --extents, each with a folder of its own under `state` while it is in use."""
    for kernel in options.kernels.split(","):
        order, (_, levels), _, names = KERNELS[kernel][1:5]
        for name in options.only.split(",") if options.only else names[:options.sets]:
            kind, ending = ("matrices", "mtx.gz") if len(order) == 2 else ("tensors", "tns.gz")
            path = os.path.join(options.data, kind, f"{name}.{ending}")
            sparse = Sparse(path, len(order), levels)
            for extent in extents_of(options, kernel):
                with tempfile.TemporaryDirectory(prefix="case-", dir=state) as directory:
                    yield Case(options, kernel, name, path, sparse, extent, directory)


def bandwidth(directory):
    """Bytes a second of a triad on one thread; what a cache line costs to be written is not counted twice."""
    program = os.path.join(directory, "triad")
    with open(program + ".cc", "w", encoding="ascii") as out:
        out.write(TRIAD)
    subprocess.run(["g++", "-O3", "-march=native", "-o", program, program + ".cc"], check=True)
    return float(subprocess.run([program], capture_output=True, text=True, check=True).stdout)


def build_hand(directory):
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as info:
        if "avx512f" not in info.read():
            return None
    program = os.path.join(directory, "hand_kernels")
    subprocess.run(["g++", "-std=c++17", "-O3", "-march=native", "-o", program, os.path.join(HERE, "hand_kernels.cc")], check=True)
    return program


def build_libraries(directory):
    program = os.path.join(directory, "library_kernels")
    done = subprocess.run(["g++", "-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-isystem", "/usr/include/eigen3", "-I/usr/include/x86_64-linux-gnu/openblas-pthread",
                           "-o", program, os.path.join(HERE, "library_kernels.cc"), "-lgraphblas", "-lopenblas"], capture_output=True, check=False)
    return program if done.returncode == 0 else None


def arguments():
    parser = schaas_runs.parser(__doc__)
    parser.set_defaults(repeat=50)
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--only", help="these data sets, with commas")
    parser.add_argument("--sets", type=int, default=10, help="data sets per kernel (default 10)")
    parser.add_argument("--extents", default="16,64")
    parser.add_argument("--threads", type=int, default=1, help="of ours; the yardstick has one")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.4, help="of runs in a round")
    return parser.parse_args()


def over_ours(case, what):
    return "" if case[what] is None else f"{case[what] / case['ours']:6.2f}"


def main():
    options = arguments()
    cases, failures = [], 0
    with tempfile.TemporaryDirectory(prefix="schaas-yardstick-") as state:
        schaas_runs.private_server(state)
        options.bandwidth = bandwidth(state)
        options.libraries, options.hand = build_libraries(state), build_hand(state)
        print(f"triad: {options.bandwidth / 1e9:.1f} GB/s on one thread; a bound above 100 %: the data stay in a cache")
        print(f"{'':6} {'data':20} {'ext':>4} {'ours ms':>10} {'yardstick':>10} {'ratio':>7} {'libs':>6} {'hand':>6} {'bound':>6}  ours <- the papers' choice")
        for case in cases_of(options, state):
            label = f"{case.kernel:6} {case.name:20} {case.extent:4}"
            if case.result_elements() > MOST_RESULT:
                print(f"{label} left out: a result of {case.result_elements():.1e} elements")
                continue
            try:
                found = {"kernel": case.kernel, "data": case.name, "extent": case.extent} | one_case(case)
            except (RuntimeError, ValueError, KeyError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"{label} FAILED {error}", flush=True)
                continue
            if "skipped" in found:
                print(f"{label} left out: {found['skipped']}", flush=True)
                continue
            cases.append(found)
            print(f"{label} {found['ours'] * 1e3:10.3f} {found['yardstick'] * 1e3:10.3f} {found['ratio']:7.2f} "
                  f"{over_ours(found, 'libraries'):6} {over_ours(found, 'hand'):6} {found['bound'] / found['ours']:6.0%}  "
                  f"{found['tree']} <- {found['papers_tree']}", flush=True)
    for kernel in options.kernels.split(","):
        for extent in extents_of(options, kernel):
            ratios = [case["ratio"] for case in cases if case["kernel"] == kernel and case["extent"] == extent]
            if ratios:
                print(f"{kernel} at {extent}: yardstick / ours, geometric mean {mean(ratios):.2f} over {len(ratios)} sets, "
                      f"least {min(ratios):.2f}, most {max(ratios):.2f}")
            for what in ("libraries", "hand"):
                ratios = [case[what] / case["ours"] for case in cases
                          if case["kernel"] == kernel and case["extent"] == extent and case[what] is not None]
                if ratios:
                    print(f"{kernel} at {extent}: {what} / ours, geometric mean {mean(ratios):.2f}, least {min(ratios):.2f}, most {max(ratios):.2f}")
    losses = [case for case in cases if case["ratio"] < 0.95]
    for case in losses:
        print(f"loss: {case['kernel']} {case['data']} {case['extent']} {case['ratio']:.2f} ({case['tree']})")
    print(f"{len(cases)} cases, {len(losses)} below 0.95, {failures} failures")
    schaas_runs.write_json(options, cases)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
