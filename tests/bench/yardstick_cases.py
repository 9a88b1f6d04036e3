"""The cases of yardstick.py and best_member.py: kernels, real and generated data, and of each case what programs are called with.

Real data are DIR/matrices/NAME.mtx.gz and DIR/tensors/NAME.tns.gz. KIND-SIZE or KIND-SIZE-ENTRIES (4,000,000 without) names what
generate.cc makes with seed 1: banded-200000, stencil-56, rmat-18, zipf-20000.
"""

import array
import math
import os
import random
import re
import struct
import subprocess
import tempfile

import plain_loops
import schaas_runs

MATRICES = ["cora", "bcsstk16", "email-Enron", "cage10", "debian-depends", "maxwell_S", "wiki-Vote", "memplus", "p2p-Gnutella31", "bcsstk25"]
SMALL = ["cora", "bcsstk13", "wiki-Vote", "cage8", "email-Eu-core", "lsc_Qu_2", "fidapex6", "steam2", "polblogs", "orsreg_1"]
TENSORS = ["kinship", "umls", "contact-high-school", "email-Eu-days", "fb15k-237", "splatt-med3", "nell-995", "fb13", "openflights", "wordnet30"]
GENERATED = {2: ["banded-200000", "stencil-56", "rmat-18"], 3: ["zipf-20000"]}
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
VALUE_BYTES, NUMPY_TYPE, ARRAY_TYPE, C_TYPE = {"f64": 8, "f32": 4}, {"f64": "f8", "f32": "f4"}, {"f64": "d", "f32": "f"}, {"f64": "double", "f32": "float"}
SMALLER = {"K5": {16: 8, 64: 16, 128: 64}}


def add_arguments(parser, kernels, sets, extents):
    parser.add_argument("--kernels", default=kernels)
    parser.add_argument("--dtype", choices=sorted(VALUE_BYTES), default="f64", help="type of the values")
    parser.add_argument("--only", help="these data sets, with commas")
    parser.add_argument("--sets", type=int, default=sets, help=f"data sets per kernel (default {sets})")
    parser.add_argument("--generated", action="store_true", help="generated data sets, too")
    parser.add_argument("--extents", default=extents, help=f"of the dense indices (default {extents})")


class Sparse:
    """Operand B of one file: its extents, entries and used coordinates of each level, and the packed files that others than schaas read."""

    def __init__(self, state, path, levels, dtype):
        self.path = path
        prefix = os.path.join(state, os.path.basename(path) + dtype + "".join(level[0] for level in levels) + ".")
        lines = subprocess.run([pack_operands(state), "pack", dtype, path, ",".join(levels), prefix], capture_output=True, text=True, check=True).stdout.splitlines()
        self.extents, self.counts, self.used = ([int(word) for word in line.split()] for line in lines)
        self.files = [f"{prefix}{which}{n + 1}" for n, level in enumerate(levels) if level == "compressed" for which in ("pos", "crd")]
        self.files.append(prefix + "values")


def pack_operands(state):
    return schaas_runs.compiled(state, "pack_operands", "-lz")


def path_of(options, state, name, order):
    """Of a set's file, which is generated first where the name says so; None where no set of this order has the name."""
    made = re.fullmatch(r"(banded|stencil|rmat|zipf)-(\d+)(?:-(\d+))?", name)
    if made is None:
        kind, ending = ("matrices", "mtx.gz") if order == 2 else ("tensors", "tns.gz")
        path = os.path.join(options.data, kind, f"{name}.{ending}")
        return path if os.path.exists(path) else None
    kind, size, entries = made.groups()
    path = os.path.join(state, name + (".tns" if kind == "zipf" else ".mtx"))
    if path.endswith(".tns") != (order == 3):
        return None
    if not os.path.exists(path):
        subprocess.run([schaas_runs.compiled(state, "generate"), kind, size, entries or "4000000", "1", path], check=True)
    return path


def save_npy(path, shape, numbers, dtype):
    head = "{'descr': '<%s', 'fortran_order': False, 'shape': (%s), }" % (NUMPY_TYPE[dtype], "".join(f"{n}, " for n in shape))
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        numbers.tofile(out)
    return path


def values_between(draw, count, dtype):
    """From 0.5 to 1.5; beyond 65,521, a prime, they come again."""
    drawn = array.array(ARRAY_TYPE[dtype], (draw.uniform(0.5, 1.5) for _ in range(min(count, 65521))))
    return (drawn * (count // len(drawn) + 1))[:count]


class Case:
    """`words` are the statement, formats and constraints, `files` the operands of `schaas run`, `plain_files` those of the other programs."""

    def __init__(self, options, kernel, name, sparse, extent, directory):
        self.options, self.kernel, self.name, self.extent, self.directory = options, kernel, name, extent, directory
        statement, self.order, (form, levels), dense, _, self.schedule = KERNELS[kernel]
        self.sparse, self.levels = sparse, levels
        left, right = statement.split(" = ")
        self.result, self.result_indices = plain_loops.access(left)
        self.kept, result_format = SPARSE_RESULT.get(kernel, (0, None))
        self.dense = {operand: indices for operand, indices in map(plain_loops.access, right.split(" * ")) if operand != "B"}
        self.extents = dict(zip(self.order, sparse.extents)) | {index: extent for index in dense} | FIXED.get(kernel, {})
        self.words = [statement, "-f", f"B={form}", "--dtype", options.dtype]
        for index in dense:
            self.words += ["-c", f"1 <= {index} <= 256"]
        if self.kept:
            self.words += ["-f", f"{self.result}={result_format}"]
        self.files, self.plain_files = ["-t", f"B={sparse.path}"], list(sparse.files)
        draw = random.Random(7)
        for operand, indices in self.dense.items():
            shape = [self.extents[index] for index in indices]
            file = save_npy(os.path.join(directory, operand + ".npy"), shape, values_between(draw, math.prod(shape), options.dtype), options.dtype)
            self.files += ["-t", f"{operand}={file}"]
            self.plain_files.append(file)
        for index in dense:
            if not any(index in indices for indices in self.dense.values()):
                self.files += ["-d", f"{index}={self.extents[index]}"]

    def bytes_once(self):
        """Least that are moved: all of B and of the result, and of the dense operands the rows that entries of B meet."""
        met = self.extents | dict(zip(self.order, self.sparse.used))
        size = VALUE_BYTES[self.options.dtype]
        dense = sum(size * math.prod(met[index] for index in indices) for indices in self.dense.values())
        return dense + sum(map(os.path.getsize, self.sparse.files)) + size * self.result_elements()

    def result_elements(self):
        return (self.sparse.counts[self.kept - 1] if self.kept else 1) * math.prod(self.extents[index] for index in self.result_indices[self.kept:])

    def tree(self, trace):
        return schaas_runs.command(self.options, "emit", *self.words, "--schedule", trace or "linear", "--lang", "tree")

    def trips(self, tree, weight=lambda line: 1):
        """Turns of a tree's innermost lines, each times its weight, a sparse loop counting the entries of its level."""
        def walk(node, bound, turns):
            if node.index is None:
                return turns * weight(node.text)
            if node.index.startswith("each block"):
                inner = turns
            elif bound < len(self.levels) and self.order[bound] == node.index and node.reads("B"):
                inner, bound = turns / (self.sparse.counts[bound - 1] if bound else 1) * self.sparse.counts[bound], bound + 1
            else:
                inner = turns * self.extents[node.index]
            return sum(walk(child, bound, inner) for child in node.body)
        return sum(walk(node, 0, 1) for node in plain_loops.parse(tree).body)

    def flops(self, tree):
        """A multiplication and an addition for each turn of a line that multiplies: other factors can be taken out of a loop."""
        return self.trips(tree, lambda line: 2 if " * " in line else 1 if "+=" in line else 0)


def extents_of(options, kernel):
    return list(dict.fromkeys(SMALLER.get(kernel, {}).get(int(asked), int(asked)) for asked in options.extents.split(",")))


def cases_of(options, state):
    """The cases of --kernels, --only or --sets, --generated and --extents, each with a folder of its own under `state` while it is in use."""
    for kernel in options.kernels.split(","):
        order, (_, levels), _, names = KERNELS[kernel][1:5]
        names = options.only.split(",") if options.only else names[:options.sets] + (GENERATED[len(order)] if options.generated else [])
        for name in names:
            path = path_of(options, state, name, len(order))
            if path is None and options.only:
                continue  # of --only, what is of this order
            sparse = Sparse(state, path, levels, options.dtype)
            for extent in extents_of(options, kernel):
                with tempfile.TemporaryDirectory(prefix="case-", dir=state) as directory:
                    yield Case(options, kernel, name, sparse, extent, directory)
