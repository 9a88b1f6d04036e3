#!/usr/bin/env python3
"""Runs the kernels and programs of five papers on real data through the daemon and verifies every value.

    tests/bench/paper_programs.py [--data DIR] [--bin DIR] [--only PART,...] [--types f64,f32] [--threads N]
                                  [--timeout 300] [--json FILE] [--list]

Each line of the table is one `schaas run --verify`: the program, the data, whether every value agrees with the client's
oracle, the largest relative error, the stored entries of a sparse result, the median run time and the seconds until the
first result. Exits 1 when a program fails or is refused. PART selects lines whose group or name contains it. DIR holds
matrices/NAME.mtx.gz and tensors/NAME.tns.gz.

Groups: sparseauto (Table 3), sparselnr (section 6), react (Table 1), workspaces (SpGEMM, additions, MTTKRP), programs
(softmax-like, masks, selections), graphs (semirings).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time


class Case:
    """`sparse`: operand -> (data set, format); `formats`: of tensors without a file, the result among them."""

    def __init__(self, group, name, program, sparse, dims=None, formats=None):
        self.group, self.name, self.program = group, name, program
        self.sparse, self.dims, self.formats = sparse, dims or {}, formats or {}


def matrix(name, form="csr"):
    return (f"matrices/{name}.mtx.gz", form)


def tensor(name, form="csf"):
    return (f"tensors/{name}.tns.gz", form)


def addition(count):
    names = "BCDEFGHI"[:count]
    sets = ["cage10"] * count  # the same rows and columns; the values of every other one are drawn
    program = "A(i,j) = " + " + ".join(f"{name}(i,j)" for name in names)
    sparse = {names[0]: matrix(sets[0])}
    formats = {name: "csr" for name in names[1:]}
    return Case("workspaces", f"SpAdd of {count}", program, sparse, formats={**formats, "A": "csr"})


CASES = [
    Case("sparseauto", "K1 <SDDMM, SpMM>", "A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {"B": matrix("cora")}, {"k": 64, "l": 64}),
    Case("sparseauto", "K2 <SDDMM, SpMM, GeMM>", "A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)",
         {"B": matrix("cage8")}, {"k": 32, "l": 32, "m": 32}),
    Case("sparseauto", "K3 <SpMMH, GeMM>", "A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)", {"B": matrix("cora")}, {"j": 64, "l": 64}),
    Case("sparseauto", "K4 <SpMM, GeMM>", "A(i,l) = B(i,j) * C(j,k) * D(k,l)", {"B": matrix("cage10")}, {"k": 64, "l": 64}),
    Case("sparseauto", "K5 TTMc", "A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)", {"B": tensor("kinship")}, {"l": 16, "m": 16, "n": 16}),
    Case("sparseauto", "K6 <TTM, TTM>", "A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", {"B": tensor("umls")}, {"l": 16, "m": 16}),
    Case("sparseauto", "K7 <SpTTM, TTM>", "A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", {"B": tensor("umls")}, {"l": 16, "m": 16}),
    Case("sparseauto", "K7, sparse result", "A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", {"B": tensor("umls")},
         {"l": 16, "m": 16}, {"A": "compressed,compressed,dense"}),
    Case("sparseauto", "K8 <MTTKRP, GeMM>", "A(i,m) = B(i,k,l) * C(l,j) * D(k,j) * E(j,m)", {"B": tensor("kinship")}, {"j": 32, "m": 32}),

    Case("sparselnr", "<SDDMM, SpMM>", "T(i,j) = B(i,j) * C(i,k) * D(j,k); A(i,l) = T(i,j) * E(j,l)",
         {"B": matrix("cora")}, {"k": 64, "l": 64}),
    Case("sparselnr", "<SpMMH, GeMM>", "T(i,j) = B(i,k) * C(k,j) * D(k,j); A(i,l) = T(i,j) * E(j,l)",
         {"B": matrix("cora")}, {"j": 64, "l": 64}),
    Case("sparselnr", "<SpMM, GeMM>", "T(i,k) = B(i,j) * C(j,k); A(i,l) = T(i,k) * D(k,l)", {"B": matrix("cage10")}, {"k": 64, "l": 64}),
    Case("sparselnr", "<SDDMM, SpMM, GeMM>",
         "T(i,j) = B(i,j) * C(i,k) * D(j,k); U(i,l) = T(i,j) * E(j,l); A(i,m) = U(i,l) * F(l,m)",
         {"B": matrix("cage8")}, {"k": 32, "l": 32, "m": 32}),
    Case("sparselnr", "<MTTKRP, GeMM>", "T(i,j) = B(i,k,l) * C(l,j) * D(k,j); A(i,m) = T(i,j) * E(j,m)",
         {"B": tensor("kinship")}, {"j": 32, "m": 32}),
    Case("sparselnr", "<TTM, TTM>", "T(i,j,m) = B(i,j,k) * D(k,m); A(i,l,m) = T(i,j,m) * C(j,l)", {"B": tensor("umls")}, {"l": 16, "m": 16}),

    Case("react", "SDDMM", "A(i,j) = B(i,j) * (C(i,k) * D(k,j))", {"B": matrix("cora")}, {"k": 32}, {"A": "csr"}),
    Case("react", "SDDMM, dense result", "A(i,j) = B(i,j) * C(i,k) * D(k,j)", {"B": matrix("cora")}, {"k": 32}),
    Case("react", "SDDMM as a program", "T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) * T(i,j)", {"B": matrix("cora")},
         {"k": 32}, {"A": "csr"}),
    Case("react", "division by a product", "T(i,j) = C(i,k) * D(k,j); A(i,j) = B(i,j) / T(i,j)", {"B": matrix("cora")},
         {"k": 32}, {"A": "csr"}),
    Case("react", "GNN kernel 1: SpMM, GeMM", "T(i,h) = B(i,k) * C(k,h); A(i,j) = T(i,h) * D(h,j)",
         {"B": matrix("pubmed")}, {"h": 64, "j": 16}),
    Case("react", "GNN kernel 2: SDDMM, SpMM", "T(i,j) = B(i,j) * C(i,k) * D(k,j); A(i,h) = T(i,j) * E(j,h)",
         {"B": matrix("cora")}, {"k": 32, "h": 32}),
    Case("react", "MTTKRP of order 3", "A(i,r) = B(i,j,k) * C(j,r) * D(k,r)", {"B": tensor("umls")}, {"r": 32}),
    Case("react", "MTTKRP of order 4", "A(i,r) = B(i,j,k,l) * C(j,r) * D(k,r) * E(l,r)", {"B": tensor("icews14")}, {"r": 16}),

    Case("workspaces", "SpGEMM", "A(i,k) = B(i,j) * C(j,k)", {"B": matrix("cage10"), "C": matrix("cage10")}, formats={"A": "csr"}),
    Case("workspaces", "SpGEMM, square of a graph", "A(i,k) = B(i,j) * B(j,k)", {"B": matrix("ca-HepPh")}, formats={"A": "csr"}),
    Case("workspaces", "SpGEMM, dense result", "A(i,k) = B(i,j) * C(j,k)", {"B": matrix("cora"), "C": matrix("cora")}),
    *[addition(count) for count in range(2, 9)],
    Case("workspaces", "difference and scale", "A(i,j) = 2 * B(i,j) - C(i,j) / 3", {"B": matrix("cage10"), "C": matrix("cage10")},
         formats={"A": "csr"}),
    Case("workspaces", "MTTKRP, dense operands", "A(i,r) = B(i,k,l) * C(k,r) * D(l,r)", {"B": tensor("kinship")}, {"r": 32}),
    Case("workspaces", "MTTKRP, sparse operands", "A(i,r) = B(i,k,l) * C(k,r) * D(l,r)", {"B": tensor("kinship")}, {"r": 32},
         {"C": "csr", "D": "csr"}),
    Case("workspaces", "MTTKRP, sparse result", "A(i,r) = B(i,k,l) * C(k,r) * D(l,r)", {"B": tensor("kinship")}, {"r": 32},
         {"C": "csr", "D": "csr", "A": "csr"}),
    Case("workspaces", "SpMV", "y(i) = B(i,j) * x(j)", {"B": matrix("email-Enron")}),
    Case("workspaces", "SpTTM, sparse result", "A(i,j,l) = B(i,j,k) * C(k,l)", {"B": tensor("umls")}, {"l": 16},
         {"A": "compressed,compressed,dense"}),

    Case("programs", "residual", "r(i) = b(i) - B(i,j) * x(j)", {"B": matrix("cage10")}),
    Case("programs", "y += A x", "y(i) += B(i,j) * x(j)", {"B": matrix("cage10")}),
    Case("programs", "row softmax, dense",
         "M(i) = max(j)(X(i,j)); E(i,j) = exp(X(i,j) - M(i)); S(i) = E(i,j); Y(i,j) = E(i,j) / S(i)", {}, {"i": 500, "j": 300}),
    Case("programs", "row maximum and scale", "Y(i,j) = B(i,j) / max(k)(abs(B(i,k)) + 1)", {"B": matrix("cora")}, formats={"Y": "csr"}),
    Case("programs", "attention over a graph",
         "T(i,j) = B(i,j) * C(i,k) * D(k,j); E(i,j) = B(i,j) * exp(T(i,j)); S(i) = E(i,j); Y(i,l) = E(i,j) / S(i) * F(j,l)",
         {"B": matrix("cora")}, {"k": 16, "l": 16}),
    Case("programs", "relu of a sparse product", "A(i,k) = relu(sum(j)(B(i,j) * C(j,k)) - D(i,k))", {}, {"i": 100, "j": 80, "k": 60}),
    Case("programs", "sum of a mask", "s = sum(i,j)(B(i,j) > 0)", {"B": matrix("bcsstk16")}),
    Case("programs", "selection", "A(i,j) = where(B(i,j) > 0, B(i,j) + C(i,j), 0)", {"B": matrix("cage10"), "C": matrix("cage10")},
         formats={"A": "csr"}),
    Case("programs", "trace", "s = B(i,i)", {"B": matrix("cage10")}),
    Case("programs", "columns", "y(j) = max(i)(B(i,j))", {"B": matrix("cage10")}),
    Case("programs", "exponential of a sparse matrix", "y(i) = sum(j)(exp(B(i,j)))", {"B": matrix("cora")}),

    Case("graphs", "min-plus step", "min-plus: d(i) = B(i,j) * x(j)", {"B": matrix("email-Enron")}),
    Case("graphs", "min-plus relaxation", "min-plus: d(i) = B(i,j) * x(j) + x(i)", {"B": matrix("wiki-Vote")}),
    Case("graphs", "min-plus product of sparse matrices", "min-plus: D(i,k) = B(i,j) * C(j,k)",
         {"B": matrix("cage8"), "C": matrix("cage8")}, formats={"D": "csr"}),
    Case("graphs", "or-and step", "or-and: y(i) = B(i,j) * x(j)", {"B": matrix("email-Enron")}),
    Case("graphs", "or-and reachability", "or-and: A(i,k) = B(i,j) * C(j,k)", {"B": matrix("polblogs"), "C": matrix("polblogs")},
         formats={"A": "csr"}),
    Case("graphs", "max-times step", "max-times: y(i) = B(i,j) * x(j)", {"B": matrix("cage10")}),
    Case("graphs", "triangles", "s = B(i,j) * B(j,k) * B(k,i)", {"B": matrix("facebook_combined")}),
]


def command_of(options, case, value_type):
    command = [os.path.join(options.bin, "schaas"), "run", case.program, "--dtype", value_type, "--verify", "--json",
               "--repeat", str(options.repeat)]
    for name, (path, form) in case.sparse.items():
        command += ["-t", f"{name}={os.path.join(options.data, path)}", "-f", f"{name}={form}"]
    for name, form in case.formats.items():
        command += ["-f", f"{name}={form}"]
    for index, extent in case.dims.items():
        command += ["-d", f"{index}={extent}"]
    if options.threads:
        command += ["--threads", str(options.threads)]
    return command


def outcome(options, case, value_type):
    start = time.monotonic()
    try:
        done = subprocess.run(command_of(options, case, value_type), capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return {"ok": False, "message": f"no answer within {options.timeout} s", "seconds": time.monotonic() - start}
    seconds = time.monotonic() - start
    if done.returncode != 0:
        try:
            error = json.loads(done.stdout)["error"]
            message = f"{error['family']} [{error['code']}] {error['message']}"
        except (ValueError, KeyError, TypeError):
            message = (done.stderr.strip() or done.stdout.strip())
        return {"ok": False, "exit": done.returncode, "message": message[:300], "seconds": seconds}
    found = json.loads(done.stdout)
    result = case.program.rsplit(";", 1)[-1].split(":")[-1].split("(")[0].split("=")[0].strip(" +")
    return {"ok": found["verify"]["passed"], "error": found["verify"]["max_relative_error"], "checked": found["verify"]["checked"],
            "run": found["run_seconds"]["median"], "first": found["first_result_seconds"], "seconds": seconds,
            "entries": found["nnz"].get(result), "tree": found["chosen"]["tree"], "verify": found["verify"]["seconds"]}


def row(case, value_type, found):
    data = ",".join(os.path.basename(path).split(".")[0] for path, _ in case.sparse.values()) or "filled"
    head = f"{case.group:<11} {case.name:<34.34} {data:<22.22} {value_type:<4}"
    if "run" not in found:
        return f"{head} FAILED   {found['message']}"
    entries = "" if found["entries"] is None else f"{found['entries']:,}"
    verdict = "ok" if found["ok"] else "WRONG"
    error = found["error"] if isinstance(found["error"], str) else f"{found['error']:.1e}"
    return (f"{head} {verdict:<6} {error:>8} {entries:>12} {found['run'] * 1e3:>10.2f} {found['first']:>8.2f} "
            f"{found['verify']:>8.2f}")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.path.join(os.path.dirname(root), "shared", "data"))
    parser.add_argument("--bin", default=os.path.join(root, "build", "release", "bin"))
    parser.add_argument("--only", default="")
    parser.add_argument("--types", default="f64")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--json")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    parts = [part for part in options.only.split(",") if part]
    cases = [case for case in CASES if not parts or any(part in case.group or part in case.name for part in parts)]
    if options.list:
        for case in cases:
            print(f"{case.group:<11} {case.name:<34} {case.program}")
        return 0
    print(f"{'group':<11} {'program':<34} {'data':<22} type verdict   error      entries     run ms  first s verify s")
    results, failures = [], 0
    with tempfile.TemporaryDirectory() as state:
        os.environ.setdefault("XDG_DATA_HOME", state)
        os.environ.setdefault("XDG_RUNTIME_DIR", state)
        os.environ.setdefault("XDG_CACHE_HOME", state)
        for value_type in options.types.split(","):
            for case in cases:
                found = outcome(options, case, value_type)
                failures += not found["ok"]
                results.append({"group": case.group, "name": case.name, "program": case.program, "type": value_type, **found})
                print(row(case, value_type, found), flush=True)
    print(f"{len(results) - failures} of {len(results)} programs verified")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(results, out, indent=1)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
