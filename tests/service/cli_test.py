#!/usr/bin/env python3
"""`schaas` from end to end: real processes, real files, a daemon with an empty database.

    cli_test.py BIN      BIN: folder with the programs
"""

import array
import ast
import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from xml.etree import ElementTree

import schaas_program as program

PROGRAMS = sys.argv.pop(1)
program.WithDaemon.programs = PROGRAMS

# The eight kernels of SparseAuto's table 2: statement, format of B, extents of the dense indices.
KERNELS = {
    "K1": ("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", "csr", {"k": 5, "l": 9}),
    "K2": ("A(i,m) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m)", "csr", {"k": 5, "l": 3, "m": 6}),
    "K3": ("A(i,l) = B(i,k) * C(k,j) * D(k,j) * E(j,l)", "csr", {"j": 7, "l": 4}),
    "K4": ("A(i,l) = B(i,j) * C(j,k) * D(k,l)", "csr", {"k": 17, "l": 6}),
    "K5": ("A(l,m,n) = B(i,j,k) * C(i,l) * D(j,m) * E(k,n)", "csf", {"l": 3, "m": 4, "n": 5}),
    "K6": ("A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", "csf", {"l": 3, "m": 4}),
    "K7": ("A(i,j,m) = B(i,j,k) * C(k,l) * D(l,m)", "csf", {"l": 4, "m": 5}),
    "K8": ("A(i,m) = B(i,k,l) * C(l,j) * D(k,j) * E(j,m)", "csf", {"j": 5, "m": 6}),
}
K4 = KERNELS["K4"][0]


# Its search takes long enough to be answered in advance, and to be interrupted.
SIX = "A(i,n) = B(i,j) * C(i,k) * D(j,k) * E(j,l) * F(l,m) * G(m,n)"


def extents(sizes):
    return [word for index, extent in sizes.items() for word in ("-d", f"{index}={extent}")]


def bounds(sizes):
    return [word for index in sizes for word in ("-c", f"1 <= {index} <= 256")]


class Kernels(program.WithDaemon):
    """Every kernel of the paper on random tensors: selected, linear, both value types; all verified."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.matrix = program.write_matrix(cls.folder / "B.mtx", 40, 30, 160, seed=11)
        cls.tensor = program.write_tensor(cls.folder / "B.tns", (20, 15, 12), 150, seed=12)

    def check(self, kernel, *more):
        statement, layout, sizes = KERNELS[kernel]
        file = self.matrix if layout == "csr" else self.tensor
        answer = self.daemon.json("run", statement, "-t", f"B={file}", "-f", f"B={layout}", *extents(sizes), *bounds(sizes),
                                  "--verify", "--threads", 2, "--wait", 600, *more)
        self.assertTrue(answer["verify"]["passed"], answer["verify"])
        self.assertEqual(answer["nnz"], {"B": 160 if layout == "csr" else 150})
        return answer

    def check_both(self, kernel):
        selected = self.check(kernel)
        self.assertIn(selected["chosen"]["id"], [entry["id"] for entry in selected["frontier"]])
        self.assertLessEqual(selected["verify"]["max_relative_error"], 1e-10)
        # The same schedule, not a search of its own.
        single = self.check(kernel, "--dtype", "f32", "--schedule", selected["chosen"]["trace"])
        self.assertLessEqual(single["verify"]["max_relative_error"], 1e-4)
        linear = self.check(kernel, "--schedule", "linear")
        self.assertEqual(linear["chosen"]["trace"], "linear")
        self.assertGreaterEqual(linear["chosen"]["time_here"], selected["chosen"]["time_here"])

    def test_k1(self):
        self.check_both("K1")

    def test_k2(self):
        self.check_both("K2")

    def test_k3(self):
        self.check_both("K3")

    def test_k4(self):
        self.check_both("K4")

    def test_k5(self):
        self.check_both("K5")

    def test_k6(self):
        self.check_both("K6")

    def test_k7(self):
        self.check_both("K7")

    def test_k8(self):
        self.check_both("K8")


class Run(program.WithDaemon):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.matrix = program.write_matrix(cls.folder / "B.mtx", 25, 20, 60, seed=21)
        # However slow the machine, the whole search is waited for: what it finds does not depend on that.
        cls.words = ["run", K4, "-t", f"B={cls.matrix}", "-d", "k=8", "-d", "l=8", "--wait", 600]

    def test_second_request_is_answered_from_the_database_under_other_names(self):
        first = self.daemon.json(*self.words, "-c", "k <= 100", "--repeat", 2)  # waits for every kernel
        self.assertFalse(first["server"]["hit"])
        self.assertGreater(first["server"]["compiled"], 0)
        again = self.daemon.json(*self.words, "-c", "k <= 100")
        self.assertTrue(again["server"]["hit"])
        self.assertEqual(again["server"]["compiled"], 0)
        self.assertEqual(again["compile_seconds"], 0)
        other = self.daemon.json("run", "X(a,d) = P(c,d) * Q(b,c) * M(a,b)", "-t", f"M={self.matrix}", "-d", "c=8", "-d", "d=8",
                                 "-c", "100 >= c", "--verify")
        self.assertTrue(other["server"]["hit"])
        self.assertEqual(other["key"], first["key"])
        self.assertTrue(other["verify"]["passed"])

    def test_another_matrix_of_other_extents_is_a_hit_too(self):
        first = self.daemon.json(*self.words, "-c", "k <= 101", "--repeat", 2)  # waits for every kernel
        taller = program.write_matrix(self.folder / "taller.mtx", 70, 50, 300, seed=22)
        second = self.daemon.json("run", K4, "-t", f"B={taller}", "-d", "k=9", "-d", "l=3", "-c", "k <= 101", "--verify")
        self.assertEqual(second["key"], first["key"])
        self.assertTrue(second["server"]["hit"])
        self.assertEqual(second["extents"], {"i": 70, "j": 50, "k": 9, "l": 3})
        self.assertTrue(second["verify"]["passed"])

    def test_members_of_the_json_object(self):
        answer = self.daemon.json(*self.words, "--verify", "--repeat", 3)
        for member in ("expression", "key", "target", "chosen", "frontier", "extents", "nnz", "run_seconds",
                       "first_result_seconds", "compile_seconds", "select_seconds", "verify", "server"):
            self.assertIn(member, answer)
        self.assertLessEqual({"id", "trace", "tree", "time_cost", "memory_cost"}, set(answer["chosen"]))
        self.assertEqual(set(answer["run_seconds"]), {"min", "median", "repeats"})
        self.assertEqual(answer["run_seconds"]["repeats"], 3)
        self.assertLessEqual({"checked", "max_relative_error", "passed"}, set(answer["verify"]))
        self.assertEqual(answer["verify"]["checked"], 25 * 8)
        self.assertLessEqual({"hit", "seconds"}, set(answer["server"]))
        self.assertEqual((answer["expression"], answer["target"]), (K4, "cpu"))
        self.assertEqual(answer["extents"], {"i": 25, "j": 20, "k": 8, "l": 8})
        self.assertRegex(answer["key"], "^[0-9a-f]{64}$")

    def test_page_for_people(self):
        done = self.daemon.run(*self.words, "--verify")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], K4)
        self.assertEqual([line.split()[0] for line in lines[1:5]], ["B", "C", "D", "A"])
        self.assertRegex(done.stdout, r"(?m)^verified +200 values compared with the oracle in .*, largest relative error ")
        self.assertLess(len(lines), 40)

    def test_named_schedules(self):
        auto = self.daemon.json(*self.words, "--verify")
        entry = auto["frontier"][-1]
        by_id = self.daemon.json(*self.words, "--schedule", entry["id"], "--verify")
        self.assertEqual((by_id["chosen"]["tree"], by_id["verify"]["passed"]), (entry["tree"], True))
        by_trace = self.daemon.json(*self.words, "--schedule", entry["trace"], "--verify")
        self.assertEqual((by_trace["chosen"]["tree"], by_trace["verify"]["passed"]), (entry["tree"], True))

    def test_tune_measures_takes_the_fastest_and_remembers_it(self):
        answer = self.daemon.json(*self.words, "--threads", 3, "--tune", "--tune-seconds", 0.2, "--verify")
        self.assertTrue(answer["verify"]["passed"])
        self.assertGreater(len(answer["measured"]), 1)
        seconds = {one["trace"]: one["seconds"] for one in answer["measured"]}
        # What was predicted stays where it is nearly as fast.
        self.assertLessEqual(seconds[answer["chosen"]["trace"]], 1.031 * min(seconds.values()))
        fastest = min(seconds, key=seconds.get)
        later = self.daemon.json(*self.words, "--threads", 3, "--verify")
        self.assertEqual(later["chosen"]["trace"], fastest)
        self.assertIn(f"the fastest of {len(seconds)} that were measured at sizes like these", later["chosen"]["reason"])
        self.assertTrue(later["verify"]["passed"])
        # Not with another number of threads.
        self.assertNotIn("measured", self.daemon.json(*self.words, "--threads", 1)["chosen"]["reason"])

    def test_tune_measures_a_part_of_what_a_file_lists(self):
        runs = self.folder / "runs.txt"
        runs.write_text(f"# two runs, and one that has an option too many\n'y(i) = B(i,j) * x(j)' -f B=csr -t B={self.matrix} --tune-seconds 0.1\n"
                        f"\n'y(i) = B(i,j) * x(j)' --verfy\n'A(i,k) = B(i,j) * C(j,k)' -f B=csr -t B={self.matrix} -d k=3 --tune-seconds 0.1\n")
        found = self.daemon.json("tune", runs, "--part", "1/2")
        self.assertEqual([found["measured"], found["failed"], len(found["runs"])], [2, 0, 2])
        self.assertTrue(all(run["result"]["measured"] for run in found["runs"]))
        failed = self.daemon.run("tune", runs, "--part", "2/2")
        self.assertEqual(failed.returncode, 2)
        self.assertIn("unknown option `--verfy`", failed.stdout)
        self.assertIn("1 run could not be measured", failed.stderr)

    def test_tune_exclusive_measures_alone_and_is_not_replaced(self):
        load = self.folder / "loadavg"
        run_with_load = ["unshare", "-m", "sh", "-c", f'mount --bind {load} /proc/loadavg && exec "$@"', "sh"]
        load.write_text("0.10 0.10 0.10 1/100 1\n")
        if subprocess.run([*run_with_load, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("no load can be pretended here: mounting needs root")
        runs = self.folder / "alone.txt"
        runs.write_text(f"'z(i) = B(i,j) * x(j)' -f B=csr -t B={self.matrix} --tune-seconds 0.1\n")

        def tune(*words):
            return subprocess.run([*run_with_load, self.daemon.programs / "schaas", "tune", runs, *words, "--server", self.daemon.address],
                                  check=False, capture_output=True, text=True, timeout=120)

        def stored():
            with contextlib.closing(sqlite3.connect(f"file:{self.daemon.folder}/data/schedules.db?mode=ro", uri=True)) as database:
                return set(database.execute("SELECT id, trace, seconds, exclusive FROM measurement"))

        before = stored()
        load.write_text("1.75 0.10 0.10 1/100 1\n")
        refused = tune("--exclusive")
        self.assertEqual((refused.returncode, stored()), (4, before))
        self.assertRegex(refused.stderr, r"^exhausted \[not-alone\]: the load of this machine is 1.75 of \d+ processors?: others work beside what "
                                         r"would be measured\n  note: take the whole node")
        load.write_text("0.10 0.10 0.10 1/100 1\n")
        alone = tune("--exclusive")
        self.assertEqual((alone.returncode, alone.stderr), (0, ""))
        kept = stored() - before
        self.assertEqual({row[3] for row in kept}, {1})
        self.assertEqual(tune().returncode, 0)
        self.assertEqual(stored() - before, kept)

    def test_deterministic_is_the_same_for_any_number_of_threads(self):
        matrix = program.write_matrix(self.folder / "tall.mtx", 400, 300, 6000, seed=23)
        words = ["run", "A(j,l) = B(i,j) * C(i,l)", "-t", f"B={matrix}", "-d", "l=16", "--wait", 600]

        def found(*more):
            answer = self.daemon.json(*words, *more, "-o", self.folder / "A.npy", "--verify")
            self.assertTrue(answer["verify"]["passed"])
            return answer["chosen"]["trace"], (self.folder / "A.npy").read_bytes()

        one, many = found("--threads", 1), found("--threads", 16)
        self.assertNotEqual(one[0], many[0])  # each the best for its threads
        steady = found("--threads", 1, "--deterministic")
        self.assertEqual(found("--threads", 16, "--deterministic"), steady)
        for threads in (1, 16):
            self.daemon.json(*words, "--threads", threads, "--tune", "--tune-seconds", 0.2)
            self.assertEqual(found("--threads", threads, "--deterministic"), steady)
        refused = self.daemon.run(*words, "--deterministic", "--schedule", "reorder(order={i,j,l}); parallelize(path={}, loop=i, races=atomics)")
        self.assertEqual(refused.returncode, 2)
        self.assertRegex(refused.stderr, r"^invalid \[deterministic\]: `.*races=atomics\)` adds up in the order in which threads come")

    def test_kernels_for_this_very_processor_are_refused_by_others(self):
        words = ["run", "A(i) = B(i,j) * C(j)", "-t", f"B={self.matrix}", "--verify"]
        answer = self.daemon.json(*words, "--isa", "native")
        self.assertRegex(answer["chosen"]["isa"], "^native:[0-9a-f]{8}$")
        self.assertTrue(answer["verify"]["passed"])
        refused = self.daemon.run(*words, "--isa", "native:00000000")
        self.assertEqual(refused.returncode, 3)
        self.assertIn("unsupported [isa]: `native:00000000` is another processor than this server's", refused.stderr)

    def test_without_waiting_the_first_kernel_runs(self):
        words = ["run", SIX, "-t", f"B={self.matrix}", *extents({"k": 2, "l": 3, "m": 2, "n": 3}), "--memory-depth", 1]
        answer = self.daemon.json(*words, "--wait", 0, "--verify")
        self.assertTrue(answer["verify"]["passed"])
        self.assertFalse(answer["chosen"]["final"])
        self.assertTrue(answer["chosen"]["baseline"])
        self.assertGreater(answer["first_kernel_seconds"], 0)
        self.assertLess(answer["first_kernel_seconds"], answer["first_result_seconds"])
        # What was left behind is finished: a patient run gets the whole answer.
        again = self.daemon.json(*words, "--wait", 300)
        self.assertEqual((again["chosen"]["final"], again["chosen"]["baseline"], again["chosen"]["id"][0]), (True, False, "s"))

    def test_fill_is_the_same_for_the_same_seed(self):
        results = []
        for name, seed in (("one.npy", 7), ("two.npy", 7), ("three.npy", 8)):
            self.daemon.json(*self.words, "--seed", seed, "-o", self.folder / name)
            results.append((self.folder / name).read_bytes())
        self.assertEqual(results[0], results[1])
        self.assertNotEqual(results[0], results[2])

    def test_result_is_what_the_definition_says(self):
        (self.folder / "P.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 2\n2 3 -1\n1 2 4\n")
        (self.folder / "Q.npy").write_bytes(npy((3, 2), [1, 2, 3, 4, 5, 6]))
        for name, read in (("Y.npy", read_npy), ("Y.mtx", read_array), ("Y.tns", None)):
            answer = self.daemon.json("run", "Y(i,k) = P(i,j) * Q(j,k)", "-t", f"P={self.folder}/P.mtx", "-t",
                                      f"Q={self.folder}/Q.npy", "-o", self.folder / name, "--verify")
            self.assertEqual(answer["written"], str(self.folder / name))
            if read:
                self.assertEqual(read(self.folder / name), ([2, 2], [14.0, 20.0, -5.0, -6.0]))

    def test_scalar_result_and_vectors(self):
        (self.folder / "x.mtx").write_text("%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n")
        (self.folder / "M.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n")
        answer = self.daemon.json("run", "y(i) = M(i,j) * x(j)", "-t", f"M={self.folder}/M.mtx", "-t", f"x={self.folder}/x.mtx",
                                  "-o", self.folder / "y.npy", "--verify")
        self.assertTrue(answer["verify"]["passed"])
        self.assertEqual(read_npy(self.folder / "y.npy"), ([3], [2.0, 1.0, 3.0]))

    def test_column_order_and_dense_formats(self):
        for layout in ("csc", "dcsr", "dense", "dense,compressed:1,0", "compressed,dense", "coo", "coo:1,0"):
            # Reading and packing are the subject: two of the formats have searches and frontiers of their own.
            which = "auto" if layout in ("csc", "coo") else "linear"
            answer = self.daemon.json(*self.words, "-f", f"B={layout}", "--schedule", which, "--verify")
            self.assertTrue(answer["verify"]["passed"], layout)

    def test_sparse_results_are_written_as_entries(self):
        (self.folder / "P.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 2\n2 3 -1\n1 2 4\n")
        (self.folder / "R.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 3\n2 3 5\n")
        for layout in ("csr", "dcsr", "coo", "dense,compressed(unordered)"):
            answer = self.daemon.json("run", "Y(i,j) = P(i,j) * R(i,j)", "-t", f"P={self.folder}/P.mtx", "-t",
                                      f"R={self.folder}/R.mtx", "-f", "P=coo", "-f", f"Y={layout}", "-o",
                                      self.folder / "Y.mtx", "--verify")
            self.assertTrue(answer["verify"]["passed"], layout)
            self.assertEqual((self.folder / "Y.mtx").read_text().splitlines()[1:], ["2 3 2", "1 2 12", "2 3 -5"])

    def test_matrices_in_blocks(self):
        matrix = program.write_matrix(self.folder / "blocks.mtx", 30, 21, 90, seed=11)
        answer = self.daemon.json("run", "Y(i,k) = P(i,j) * Q(j,k)", "-t", f"P={matrix}", "-f", "P=bcsr(4,3)", "-d", "k=5", "-o",
                                  self.folder / "Y.npy", "--verify")
        self.assertTrue(answer["verify"]["passed"])
        self.assertEqual(read_npy(self.folder / "Y.npy")[0], [30, 5])
        self.assertEqual({index: answer["extents"][index] for index in ("i", "i_block", "i_in", "j_block", "j_in")},
                         {"i": 30, "i_block": 8, "i_in": 4, "j_block": 7, "j_in": 3})
        product = self.daemon.json("run", "Y(i,k) = P(i,j) * Q(k,j)", "-t", f"P={matrix}", "-t", f"Q={matrix}", "-f", "P=bcsr(4,3)",
                                   "-f", "Q=bcsr(4,3)", "-f", "Y=bcsr(4,4)", "-o", self.folder / "Y.tns", "--verify")
        self.assertTrue(product["verify"]["passed"])
        stored = self.daemon.json("convert", matrix, "-f", "bcsr(2,3)", "-o", self.folder / "rows.tns")
        entries = stored["formats"][0]["entries"]
        self.assertEqual((entries[0], entries[2], entries[3]), (15, 2 * entries[1], 6 * entries[1]))
        self.assertEqual(len((self.folder / "rows.tns").read_text().splitlines()), 91)

    def test_rows_without_order_hold_the_same(self):
        square = program.write_matrix(self.folder / "rows.mtx", 40, 40, 300, seed=13)
        lines = []
        for layout in ("csr", "dense,compressed(unordered)"):
            answer = self.daemon.json("run", "Y(i,j) = P(i,k) * Q(k,j)", "-t", f"P={square}", "-t", f"Q={square}", "-f",
                                      f"Y={layout}", "--schedule", "gather(storage=hash)", "-o", self.folder / "Y.tns", "--verify")
            self.assertTrue(answer["verify"]["passed"], layout)
            lines.append((self.folder / "Y.tns").read_text().splitlines())
        self.assertNotEqual(lines[0], lines[1])
        self.assertEqual(sorted(lines[0]), sorted(lines[1]))

    def test_rows_are_gathered_in_hash_tables_that_grow(self):
        # One row of 3,000 entries: no table is large enough for it at first.
        lines = [f"1 {j} 2" for j in range(1, 3001)] + [f"{i} {i} 3" for i in range(2, 3001)]
        (self.folder / "star.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3000 3000 " + f"{len(lines)}\n" +
                                              "\n".join(lines) + "\n")
        written = []
        for trace in ("linear", "gather(storage=hash)", "reorder(order={i,k,j}); gather(storage=hash)"):
            for threads in ("1", "2"):
                answer = self.daemon.json("run", "Y(i,j) = P(i,k) * P(k,j)", "-t", f"P={self.folder}/star.mtx", "-f", "Y=csr",
                                          "--schedule", trace, "--threads", threads, "--repeat", "2", "-o", self.folder / "Y.tns", "--verify")
                self.assertTrue(answer["verify"]["passed"], trace)
                written.append((self.folder / "Y.tns").read_text())
        self.assertEqual(len(set(written)), 1)

    def test_positions_are_as_asked_for(self):
        for bits in ("32", "64"):
            answer = self.daemon.json(*self.words, "--positions", bits, "--verify")
            self.assertEqual((answer["positions"], answer["verify"]["passed"]), (int(bits), True))

    def test_sizes_that_keep_the_constraints_run(self):
        answer = self.daemon.json(*self.words, "-c", "k == 8", "-c", "density(B) <= 12/100", "-c", "nnz(C) <= 160", "--verify")
        self.assertTrue(answer["verify"]["passed"])

    def test_sparse_operands_without_a_file_get_a_tenth_of_their_elements(self):
        answer = self.daemon.json("run", "A(i,k) = B(i,j) * C(j,k)", "-f", "B=csr", "-f", "C=dcsr", "-d", "i=40", "-d", "j=50",
                                  "-d", "k=30", "--verify")
        self.assertTrue(answer["verify"]["passed"])
        entries = answer["nnz"]
        self.assertEqual(set(entries), {"B", "C"})
        self.assertTrue(180 < entries["B"] <= 200 and 130 < entries["C"] <= 150, entries)

    def test_storage_orders_in_a_circle(self):
        answer = self.daemon.json("run", "s = B(i,j) * C(j,k) * D(k,i)", "-f", "B=csr", "-f", "C=csr", "-f", "D=csr",
                                  "-d", "i=30", "-d", "j=20", "-d", "k=25", "--tune", "--verify")
        self.assertTrue(answer["verify"]["passed"])
        self.assertGreater(answer["verify"]["checked"], 0)

    def test_operands_stored_against_each_other_are_copied(self):
        square = program.write_matrix(self.folder / "square.mtx", 30, 30, 90, seed=7)
        for form, layout in (("csr", "dense,compressed:1,0"), ("coo", "compressed(nonunique),singleton:1,0")):
            for threads in (1, 3):
                answer = self.daemon.json("run", "A(i,j) = P(i,j) + P(j,i)", "-t", f"P={square}", "-f", f"P={form}", "-f", "A=csr",
                                          "--threads", threads, "--repeat", 2, "--verify")
                self.assertTrue(answer["verify"]["passed"])
                self.assertEqual([(copy["of"], copy["format"]) for copy in answer["copies"]], [("P", layout)])
                self.assertIn("store(tensor=P, order={1,0}, at={j,i})", answer["chosen"]["trace"])
                self.assertIn("copy(", answer["chosen"]["time_cost"])
        linear = self.daemon.json("run", "y(i) = P(i,j) * Q(j,i)", "-t", f"P={square}", "-t", f"Q={square}", "-f", "P=csr", "-f",
                                  "Q=csr", "--schedule", "linear", "--verify")
        self.assertTrue(linear["verify"]["passed"])
        self.assertEqual(linear["chosen"]["trace"], "store(tensor=Q, order={1,0})")
        self.assertEqual(self.daemon.json(*self.words)["copies"], [])

    def test_convert_writes_entries_in_the_order_of_the_format(self):
        source = self.folder / "source.mtx"
        source.write_text("%%MatrixMarket matrix coordinate real general\n2 3 4\n2 1 5\n1 3 1\n1 2 2\n1 2 2\n")
        answer = self.daemon.json("convert", source, "-f", "csc", "-o", self.folder / "columns.tns")
        self.assertEqual((self.folder / "columns.tns").read_text().splitlines(),
                         ["# schaas extents 2 3", "2 1 5", "1 2 4", "1 3 1"])
        self.assertEqual((answer["extents"], answer["written"]), ([2, 3], str(self.folder / "columns.tns")))
        self.assertEqual(answer["formats"][0]["entries"], [3, 3])
        self.assertEqual(answer["formats"][0]["bytes"], 4 * 4 + 3 * 4 + 3 * 8)
        usual = self.daemon.json("convert", source, "--dtype", "f32")
        self.assertEqual([(one["name"], one["bytes"]) for one in usual["formats"]],
                         [("csr", 36), ("csc", 40), ("dcsr", 52), ("dcsc", 60), ("coo", 44), ("dense", 24)])

    def test_scalars_and_vectors_pass_through_matrix_files(self):
        scalar, vector = self.folder / "s.mtx", self.folder / "v.mtx"
        self.daemon.json("run", "s = B(i,j) * B(i,j)", "-t", f"B={self.matrix}", "-o", scalar)
        self.daemon.json("run", "v(i) = B(i,j) * x(j)", "-t", f"B={self.matrix}", "-o", vector)
        answer = self.daemon.json("run", "y(i) = s * v(i)", "-t", f"s={scalar}", "-t", f"v={vector}", "--verify")
        self.assertEqual((answer["extents"], answer["verify"]["passed"]), ({"i": 25}, True))

    def test_frostt_extents_come_from_option_and_partner(self):
        tensor = program.write_tensor(self.folder / "small.tns", (4, 5, 6), 20, seed=23)
        answer = self.daemon.json("run", "A(i,l,m) = B(i,j,k) * C(j,l) * D(k,m)", "-t", f"B={tensor}", "-d", "i=9", "-d", "l=2",
                                  "-d", "m=3", "--verify")
        self.assertEqual(answer["extents"], {"i": 9, "j": 5, "k": 6, "l": 2, "m": 3})
        self.assertTrue(answer["verify"]["passed"])

    def test_json_of_an_error_is_one_object(self):
        done = self.daemon.run("run", "A(i,l) = B(i,j) * C(j,k", "--json")
        self.assertEqual(done.returncode, 2)
        error = program.one_object(done.stdout)["error"]
        self.assertEqual(error["family"], "invalid")
        self.assertLessEqual({"family", "code", "message", "notes", "source", "begin", "end"}, set(error))


class OtherCommands(program.WithDaemon):
    BOUNDS = ["-c", "8 <= k <= 256", "-c", "8 <= l <= 256"]

    def test_schedule(self):
        answer = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS)
        self.assertEqual(answer["counts"]["space"], "888")
        for member in ("key", "classes", "seconds", "frontier"):
            self.assertIn(member, answer)
        self.assertEqual(set(answer["counts"]), {"space", "stage1", "stage2", "stage3"})
        self.assertLessEqual({"space", "stage1", "stage2", "stage3", "total"}, set(answer["seconds"]))
        self.assertGreater(len(answer["frontier"]), 0)
        for entry in answer["frontier"]:
            self.assertLessEqual({"id", "trace", "tree", "time", "memory", "access"}, set(entry))
        again = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS)
        self.assertTrue(again["server"]["hit"])
        self.assertEqual(again["frontier"], answer["frontier"])

    def test_schedule_as_the_paper_counts(self):
        answer = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS, "--profile", "sparseauto")
        self.assertEqual(answer["counts"]["space"], "258")

    def test_schedule_of_a_wider_space_says_what_each_option_adds(self):
        plain = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS)
        wider = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS, "--space", "row-blocks,shorter-fusion")
        self.assertEqual(plain["spaces"], {})
        self.assertEqual(wider["spaces"], {"plain": "888", "shorter-fusion": "1807", "row-blocks": "1032"})
        self.assertGreater(int(wider["counts"]["space"]), 1807)
        self.assertNotEqual(plain["key"], wider["key"])
        page = self.daemon.run("schedule", K4, "-f", "B=csr", *self.BOUNDS, "--space", "row-blocks").stdout
        self.assertIn("plain space: 888 members\nwith row-blocks: 1,032 members\n", page)

    def test_schedule_page(self):
        done = self.daemon.run("schedule", K4, "-f", "B=csr", *self.BOUNDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^id +tree +time +memory +members$")
        self.assertRegex(done.stdout, r"(?m)^space +888 ")
        self.assertIn("\n      for i\n        t1(k) = 0\n        for j\n", done.stdout)

    def test_schedule_with_shallow_temporaries(self):
        deep = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS)
        shallow = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS, "--memory-depth", 1)
        self.assertFalse(shallow["server"]["hit"])
        self.assertEqual(shallow["key"], deep["key"])
        self.assertLess(len(shallow["frontier"]), len(deep["frontier"]))
        for entry in shallow["frontier"]:
            self.assertNotIn("*", entry["memory"])
        self.assertTrue(self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS, "--memory-depth", 1)["server"]["hit"])
        # An id of that frontier is asked for with the same bounds.
        emitted = self.daemon.run("emit", K4, "-f", "B=csr", *self.BOUNDS, "--memory-depth", 1, "--schedule",
                                  shallow["frontier"][-1]["id"], "--lang", "trace")
        self.assertEqual(emitted.stdout, shallow["frontier"][-1]["trace"] + "\n")

    def test_why(self):
        answer = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS)
        for entry in answer["frontier"]:
            why = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS, "--why", entry["id"])
            # Sizes are looked for with the list of schedules alone.
            self.assertEqual({name: why[name] for name in entry if name != "wins"},
                             {name: entry[name] for name in entry if name != "wins"})
            self.assertEqual(len(why["other_traces"]), min(entry["loop_trees"], 16) - 1)
            self.assertIsInstance(why["removed"], list)
            [explanation] = why["explanations"]
            self.assertEqual((explanation["verdict"], explanation["id"]), ("survivor", entry["id"]))
            self.assertEqual([rival["id"] for rival in explanation["rivals"]],
                             [other["id"] for other in answer["frontier"] if other["id"] != entry["id"]])
            for rival in explanation["rivals"]:
                self.assertTrue(rival["time"] < rival["other_time"] or rival["memory"] < rival["other_memory"], rival)
                self.assertRegex(rival["sizes"], r"^i = \d+, l = \d+, j = \d+, ")

    def test_why_of_any_schedule(self):
        words = ["schedule", K4, "-f", "B=csr", *self.BOUNDS]
        frontier = {entry["id"]: entry for entry in self.daemon.json(*words)["frontier"]}
        for which in ("l<k,<jk,ij>>", "ik<j,l>", "<jkl,ijl>", "reorder(path={}, order={i,j,l,k})"):
            for explanation in self.daemon.json(*words, "--why", which)["explanations"]:
                self.assertIn(explanation["verdict"], ("survivor", "removed"), which)
                if explanation["verdict"] == "removed":
                    self.assertIn(explanation["by"], frontier)
                    self.assertTrue(explanation["argument"])
                if "<" in which:
                    self.assertEqual(explanation["tree"], which)
        done = self.daemon.run(*words, "--why", "r1")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_wins_are_told(self):
        answer = self.daemon.json("schedule", K4, "-f", "B=csr", *self.BOUNDS)
        for entry in answer["frontier"]:
            self.assertRegex(entry["wins"], r"^fastest.*, as at i = \d+")

    def test_tighter_constraints_need_no_search(self):
        wide = ["schedule", KERNELS["K6"][0], "-f", "B=csf", "-c", "100 <= l <= 256", "-c", "100 <= m <= 256"]
        looser = self.daemon.json(*wide)
        self.assertIsNone(looser["looser"])
        narrow = [*wide, "-c", "nnz(B) >= 5*i", "-c", "m <= 200"]
        tighter = self.daemon.json(*narrow)
        self.assertEqual(tighter["looser"], looser["key"])
        self.assertFalse(tighter["server"]["hit"])
        self.assertEqual(tighter["counts"]["space"], "3329")
        anew = self.daemon.json(*narrow, "--no-cache")
        self.assertIsNone(anew["looser"])
        told = lambda answer: [(entry["tree"], entry["time"], entry["memory"]) for entry in answer["frontier"]]
        self.assertEqual(told(tighter), told(anew))

    def test_emit(self):
        text = {}
        for language in ("trace", "tree", "loops", "c"):
            done = self.daemon.run("emit", K4, "-f", "B=csr", "--schedule", "linear", "--lang", language)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text[language] = done.stdout
        self.assertEqual(text["trace"], "linear\n")
        self.assertIn("schaas_kernel", text["c"])
        self.assertEqual(len(set(text.values())), 4)
        self.assertEqual(self.daemon.json("emit", K4, "-f", "B=csr", "--schedule", "linear", "--lang", "c")["text"].rstrip("\n"),
                         text["c"].rstrip("\n"))

    def test_emit_chooses_passes(self):
        emit = lambda *options: self.daemon.json("emit", K4, "-f", "B=csr", "--schedule", "linear", "--lang", "loops", *options)
        whole, first = emit(), emit("--after", "emission")
        self.assertIn("specialise", [one["pass"] for one in whole["remarks"] if one["applied"]])
        self.assertNotEqual(whole["text"], first["text"])
        self.assertEqual(first["text"], emit("--passes", "count-unstored,index-rows,block-registers,split-rows")["text"])
        left_out = {one["pass"]: one["reason"] for one in first["remarks"]}
        self.assertEqual(left_out["specialise"], "left out")
        lines = self.daemon.run("emit", K4, "-f", "B=csr", "--schedule", "linear", "--remarks").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:]], [one["pass"] for one in whole["remarks"]])

    def test_emitted_trace_is_a_schedule(self):
        trace = self.daemon.run("emit", K4, "-f", "B=csr", *self.BOUNDS, "--lang", "trace").stdout.strip()
        tree = self.daemon.run("emit", K4, "-f", "B=csr", *self.BOUNDS, "--lang", "tree").stdout
        again = self.daemon.run("emit", K4, "-f", "B=csr", *self.BOUNDS, "--lang", "tree", "--schedule", trace).stdout
        self.assertEqual(again, tree)

    def test_info(self):
        answer = self.daemon.json("info")
        self.assertEqual(answer["server"]["abi_version"], answer["client"]["abi_version"])
        self.assertEqual(answer["server"]["address"], self.daemon.address)
        self.assertIn(answer["client"]["isa"], [*answer["server"]["isas"], "generic"])
        self.assertRegex(self.daemon.run("info").stdout, r"(?m)^server +unix:")

    def test_doctor_finds_what_is_missing(self):
        answer = self.daemon.json("doctor")
        verdicts = {check["name"]: check["verdict"] for check in answer["checks"]}
        self.assertEqual((answer["problems"], verdicts["server"], verdicts["versions"], verdicts["kernels"]), (0, "ok", "ok", "ok"))
        self.assertRegex(self.daemon.run("doctor").stdout, r"(?m)^kernels +ok +a product was compiled and is right")
        lost = program.run(PROGRAMS, "doctor", server="unix:/nonexistent/socket")
        self.assertEqual(lost.returncode, 5)
        self.assertRegex(lost.stdout, r"(?m)^server +PROBLEM ")
        self.assertIn("-> start one with `schaasd --listen unix:/nonexistent/socket`", lost.stdout)
        self.assertEqual(lost.stderr, "unreachable [doctor]: 1 problem found\n")

    def compiler_checks(self, path):
        """The checks of `doctor` against a server that looks for programs in `path`."""
        before = os.environ["PATH"]
        os.environ["PATH"] = str(path)
        try:
            daemon = program.Daemon(PROGRAMS)
        finally:
            os.environ["PATH"] = before
        self.addCleanup(daemon.close)
        return {check["name"]: check for check in program.one_object(daemon.run("doctor", "--json").stdout)["checks"]}

    def test_doctor_misses_the_compiler(self):
        checks = self.compiler_checks("/nonexistent")
        self.assertEqual(checks["compiler"]["verdict"], "PROBLEM")
        self.assertIn("no C compiler: `cc` is not on PATH", checks["compiler"]["found"])
        self.assertIn("install gcc", checks["compiler"]["advice"])
        self.assertEqual(checks["kernels"]["verdict"], "PROBLEM")

    def test_doctor_finds_a_compiler_that_fails(self):
        broken = self.folder / "broken"
        broken.mkdir()
        (broken / "cc").write_text("#!/bin/sh\nexit 1\n")
        (broken / "cc").chmod(0o755)
        checks = self.compiler_checks(broken)
        self.assertEqual(checks["compiler"]["verdict"], "PROBLEM")
        self.assertIn("--version` does not answer", checks["compiler"]["found"])
        self.assertEqual(checks["kernels"]["verdict"], "PROBLEM")

    def on_a_terminal(self, *words, columns=0, **variables):
        """(status, what a terminal got: standard output and standard error)"""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("SCHAAS_", "XDG_"))}
        environment |= {"SCHAAS_SERVER": self.daemon.address, "XDG_CACHE_HOME": str(self.folder / "cache"), "TERM": "xterm"} | variables
        master, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([pathlib.Path(PROGRAMS) / "schaas", *map(str, words)], stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL,
                                   env=environment)
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            shown += part
        os.close(master)
        return process.wait(timeout=60), shown.decode().replace("\r\n", "\n")

    def test_terminals_get_colours_and_progress_and_nobody_else_does(self):
        wrong = ["run", "y(i) = B(i,j * x(j)"]
        status, shown = self.on_a_terminal(*wrong)
        self.assertEqual(status, 2)
        self.assertIn("\033[1;31minvalid [syntax]\033[0m: expected `,` or `)`", shown)
        self.assertRegex(shown, r"\n\033\[1;31m +\| +\^\033\[0m")
        plain = self.daemon.run(*wrong).stderr
        self.assertNotIn("\033", plain)
        for quiet in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertEqual(self.on_a_terminal(*wrong, **quiet), (2, plain))
        status, shown = self.on_a_terminal("doctor")
        self.assertRegex(shown, r"(?m)^kernels +\033\[32mok\033\[0m +a product")
        self.assertEqual([re.sub("\033\\[[0-9;]*m", "", line).index("a product") for line in shown.splitlines() if "a product" in line],
                         [line.index("a product") for line in self.daemon.run("doctor").stdout.splitlines() if "a product" in line])
        matrix = program.write_matrix(self.folder / "B.mtx", 25, 20, 60, seed=35)
        status, shown = self.on_a_terminal("run", "y(i) = B(i,j) * x(j) * 5", "-t", f"B={matrix}")
        self.assertEqual(status, 0)
        for what in ("reading ", "packing ", "server: compiling kernels [", "downloading ", "running "):
            self.assertIn("\033[K" + what, shown)
        self.assertNotIn("\033", self.daemon.run("run", "y(i) = B(i,j) * x(j) * 5", "-t", f"B={matrix}").stderr)

    def completed(self, words, **variables):
        """What bash offers for the last of the words."""
        told = self.daemon.run("completion", "bash").stdout
        ask = f"COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _schaas; echo ${{COMPREPLY[*]}}"
        environment = os.environ | {"PATH": f"{pathlib.Path(PROGRAMS).resolve()}:{os.environ['PATH']}"} | variables
        environment = {name: value for name, value in environment.items() if value is not None}
        return subprocess.run(["bash", "-c", told + ask], capture_output=True, text=True, env=environment).stdout.split()

    def test_completion_completes_commands_and_options(self):
        self.assertEqual(self.completed("schaas sch"), ["schedule"])
        self.assertEqual(self.completed("schaas run --det"), ["--deterministic"])
        self.assertEqual(self.completed("schaas cache sh"), ["show"])
        self.assertEqual(self.completed("schaas cache list --li"), ["--limit"])
        self.assertEqual(self.completed("schaas help cal"), ["calibrate"])
        self.assertIn("zsh", self.daemon.run("completion", "fish").stderr)

    def test_completion_completes_values(self):
        self.assertEqual(self.completed("schaas run --dtype bf"), ["bf16"])
        self.assertEqual(self.completed("schaas run --dtype = bf"), ["bf16"])
        self.assertEqual(self.completed("schaas completion z"), ["zsh"])
        self.assertEqual(self.completed("schaas run --threads ''"), [])  # the shell's own: files
        for words in ("-t B = ''", "-t B =", "-o ''"):
            self.assertEqual(self.completed(f"schaas run {words}"), [])

    def test_completion_asks_a_named_server_for_keys(self):
        self.daemon.run("schedule", "y(i) = B(i,j) * x(j) * 11", "-f", "B=csr")
        keys = [entry["key"] for entry in self.daemon.json("cache", "list")["entries"]]
        self.assertEqual(self.completed(f"schaas cache show {keys[0][:20]}", SCHAAS_SERVER=self.daemon.address), keys[:1])
        self.assertNotIn(keys[0], self.completed("schaas cache show ''", SCHAAS_SERVER=None))

    def test_help_is_a_command(self):
        self.assertEqual(self.daemon.run("help", "cache", "show").stdout, self.daemon.run("cache", "show", "--help").stdout)
        self.assertEqual(self.daemon.run("help").stdout, self.daemon.run("--help").stdout)
        self.assertEqual(self.daemon.run("help", "cache", "sow").stderr,
                         "invalid [command-line]: `schaas cache` has no command `sow`; did you mean `show`?\n")
        self.assertEqual(self.daemon.run("-V").stdout, self.daemon.run("--version").stdout)

    def test_help_fits_the_terminal(self):
        status, shown = self.on_a_terminal("run", "--help", columns=80)
        self.assertEqual(status, 0)
        lines = [line for line in shown.splitlines() if not line.lstrip().startswith("--")]  # values of an option are not broken
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_colours_and_quiet(self):
        matrix = program.write_matrix(self.folder / "C.mtx", 25, 20, 60, seed=35)
        words = ("run", "y(i) = C(i,j) * x(j) * 6", "-t", f"C={matrix}")
        self.assertEqual(self.on_a_terminal(*words, "-q")[0], 0)
        self.assertNotIn("\033[K", self.on_a_terminal(*words, "--quiet")[1])
        self.assertIn("\033[32m", self.daemon.run("doctor", "--color", "always").stdout)
        self.assertNotIn("\033[32m", self.on_a_terminal("doctor", "--color", "never")[1])
        self.assertIn("never", self.daemon.run("doctor", "--color", "sometimes").stderr)


class Gradients(program.WithDaemon):
    """A derivative is a program, which runs as any other."""

    def test_runs_and_is_what_the_oracle_says(self):
        told = self.daemon.json("gradient", "Y(i,k) = B(i,j) * X(j,k)", "--of", "B", "-f", "B=csr")
        self.assertEqual(told, {"expression": "Y(i,k) = B(i,j) * X(j,k)", "of": "B", "program": "dB(i,j) = (B(i,j) != 0) * dY(i,k) * X(j,k)"})
        matrix = program.write_matrix(self.folder / "B.mtx", 25, 20, 60, seed=35)
        run = self.daemon.json("run", told["program"], "-f", "dB=csr", "-t", f"B={matrix}", "-d", "k=3", "--verify")
        self.assertTrue(run["verify"]["passed"])
        self.assertEqual(run["nnz"]["dB"], 60)

    def test_names_are_as_given(self):
        again = self.daemon.run("gradient", "s = x(i) * x(i) * x(i)", "--of", "x", "--seed", "w", "--name", "g").stdout
        self.assertEqual(again, "g(i) = 3 * w * x(i) * x(i)\n")


class Formats(program.WithDaemon):
    """An operand in each of several formats, measured."""

    def setUp(self):
        self.words = ("formats", "y(i) = B(i,j) * x(j)", "-t", f"B={program.write_matrix(self.folder / 'B.mtx', 40, 30, 90, seed=36)}",
                      "--measure-seconds", "0.05", "--candidate", "csc", "--candidate", "csr", "--candidate", "bcsr(2,2)", "--candidate", "dense,bogus")

    def test_each_has_its_figures_or_its_reason(self):
        told = self.daemon.json(*self.words, "--uses", "1000")
        self.assertEqual((told["operand"], told["uses"]), ("B", 1000))
        own, csc, blocks, bogus = told["formats"]
        self.assertEqual((own["format"], own["bytes"], own["convert_seconds"], own["tree"]), ("csr", 41 * 4 + 90 * 12, 0, "ij"))
        self.assertEqual((csc["format"], csc["bytes"], csc["tree"]), ("csc", 31 * 4 + 90 * 12, "ji"))
        self.assertGreater(csc["convert_seconds"], 0)
        for one in (own, csc):
            self.assertGreater(one["run_seconds"], 0)
        self.assertEqual((blocks["format"], blocks["error"]["code"]), ("bcsr(2,2)", "blocks"))
        self.assertEqual((bogus["format"], bogus["error"]["code"]), ("dense,bogus", "unknown-format"))
        totals = {one["format"]: one["convert_seconds"] + 1000 * one["run_seconds"] for one in (own, csc)}
        self.assertEqual(told["best"], min(totals, key=totals.get))

    def test_a_table_says_what_does_not_fit(self):
        told = self.daemon.run(*self.words)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"csr +1.21 KiB +[\d.]+ .s +as it is +ij\n")
        self.assertIn("bcsr(2,2): `B` in `bcsr(2,2)`: tensors in memory cannot be bound in blocks; csr works\n", told.stdout)
        self.assertRegex(told.stdout, "fastest to run: cs[rc]\n$")


class Interrupted(program.WithDaemon):
    """Ctrl-C ends a command at once, and the server stops what nobody waits for any more."""

    def interrupted(self, words, after, sent=signal.SIGINT):
        """Seconds from the signal, so many seconds after the program is ready for one, to its end."""
        child = subprocess.Popen([pathlib.Path(PROGRAMS) / "schaas", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 stdin=subprocess.DEVNULL, env={**os.environ, "SCHAAS_SERVER": self.daemon.address})
        while child.poll() is None and not blocks_signals(child.pid):
            time.sleep(0.001)
        time.sleep(after)
        self.assertIsNone(child.poll(), "ended before it was interrupted")
        start = time.monotonic()
        child.send_signal(sent)
        output, errors = child.communicate(timeout=60)
        took = time.monotonic() - start
        ended = (130, "", "interrupted\n") if sent == signal.SIGINT else (-sent, "", "")  # 143 for a shell
        self.assertEqual((child.returncode, output, errors), ended)
        return took

    def outcomes(self):
        log = (self.daemon.folder / "log").read_text(errors="replace")
        return [line for line in log.splitlines() if "method=Schedule" in line]

    def test_search(self):
        moments = (0.25, 0.4, 0.55, 0.7)
        for moment in moments:
            self.assertLess(self.interrupted(["schedule", SIX, "-f", "B=csr", "--no-cache"], moment), 1)
        deadline = time.monotonic() + 5
        while len(self.outcomes()) < len(moments) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(len(self.outcomes()), len(moments), "a search goes on without its client")
        for line in self.outcomes():
            self.assertIn("outcome=cancelled", line)

    def test_termination_at_any_moment(self):
        run = ["run", K4, "-d", "i=20000", "-d", "j=20000", "-d", "k=500", "-d", "l=500", "-f", "B=csr", "-o", self.folder / "A.npy"]
        for words, moments in ((["schedule", SIX, "-f", "B=csr", "--no-cache"], (0.1, 0.4)), (run, (0.1, 0.3))):
            for moment in moments:
                self.assertLess(self.interrupted(words, moment, signal.SIGTERM), 1)
        self.assertFalse((self.folder / "A.npy").exists())

    def test_half_written_files_are_removed(self):
        matrix = program.write_matrix(self.folder / "large.mtx", 2000, 2000, 400000, seed=35)
        for number, sent in enumerate((signal.SIGINT, signal.SIGTERM)):
            folder = self.folder / f"written{number}"
            folder.mkdir()
            child = subprocess.Popen([pathlib.Path(PROGRAMS) / "schaas", "convert", matrix, "-o", folder / "B.tns.xz"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE)
            while child.poll() is None and not [one for one in os.scandir(folder) if one.name[:9] == "B.tns.xz." and size(one.path)]:
                time.sleep(0.001)
            self.assertIsNone(child.poll(), "ended before it was interrupted")
            child.send_signal(sent)
            child.communicate(timeout=60)
            self.assertEqual(child.returncode, 130 if sent == signal.SIGINT else -sent)
            self.assertEqual(list(folder.iterdir()), [])

    def test_filling_tensors(self):
        words = ["run", K4, "-d", "i=20000", "-d", "j=20000", "-d", "k=2000", "-d", "l=2000", "--json"]
        self.assertLess(self.interrupted(words, 0.3), 1)


class StoredResults(program.WithDaemon):
    def test_a_result_in_any_format_is_what_the_oracle_says(self):
        matrix = program.write_matrix(self.folder / "B.mtx", 25, 20, 60, seed=33)
        other = program.write_matrix(self.folder / "C.mtx", 20, 30, 90, seed=34)
        for expression, words in (("A(i,k) = B(i,j) * C(j,k)", ["-t", f"C={other}"]), ("A(i,j) = exp(B(i,j)) * B(i,j) + B(i,j)", []),
                                  ("A(i,k) = B(i,j) * D(j,k)", ["-d", "k=5", "-c", "k <= 50"])):
            for text in ("bitmap", "banded", "hashed", "hashed,hashed"):
                written = self.folder / "A.mtx"
                answer = self.daemon.json("run", expression, "-t", f"B={matrix}", *words, "-f", f"A={text}", "--verify", "--repeat", 2,
                                          "-o", written)
                self.assertTrue(answer["verify"]["passed"], (expression, text))
                self.assertGreater(answer["verify"]["checked"], 0)
                self.assertIn("compressed", answer["stored"]["written_as"])
                self.assertGreater(answer["stored"]["seconds"], 0)
                listed = self.folder / "lists.mtx"
                self.daemon.json("run", expression, "-t", f"B={matrix}", *words, "-f", f"A={answer['stored']['written_as']}", "-o", listed)
                places = [sorted(line.split()[:2] for line in file.read_text().splitlines()[2:]) for file in (written, listed)]
                self.assertEqual(places[0], places[1], text)
        page = self.daemon.run("run", expression, "-t", f"B={matrix}", *words, "-f", "A=hashed").stdout
        self.assertRegex(page, r"  result +written as dense,compressed:0,1, then stored as hashed in ")


class Plot(program.WithDaemon):
    def test_is_a_drawing_of_every_schedule(self):
        file = self.folder / "k4.svg"
        words = ["plot", K4, "-f", "B=csr", "-c", "8 <= k <= 64", "-c", "8 <= l <= 64", "-d", "i=300", "-d", "j=200", "-d", "k=16",
                 "-d", "l=32"]
        answer = self.daemon.json(*words, "-o", file)
        self.assertEqual(answer["written"], str(file))
        drawing = ElementTree.parse(file).getroot()
        self.assertEqual(drawing.tag, "{http://www.w3.org/2000/svg}svg")
        space = {"svg": "http://www.w3.org/2000/svg"}
        titles = [element.text for element in drawing.findall(".//svg:title", space)]
        frontier = self.daemon.json("schedule", K4, "-f", "B=csr", "-c", "8 <= k <= 64", "-c", "8 <= l <= 64")["frontier"]
        for entry in frontier:
            self.assertTrue(any(title.startswith(f"{entry['id']}  {entry['tree']}\n") for title in titles), entry["id"])
        self.assertEqual(len(titles), len(frontier) + answer["dropped"])
        self.assertEqual([point["id"] for point in answer["points"] if point["chosen"]], [answer["chosen"]])
        ringed = drawing.findall(".//svg:g/svg:circle[@class='chosen']", space)
        self.assertEqual(len(ringed), 1)
        for shape in drawing.findall(".//svg:g/svg:circle", space):
            self.assertTrue(92 <= float(shape.get("cx")) <= 836 and 78 <= float(shape.get("cy")) <= 464)
        # The same question gives the same drawing.
        before = file.read_bytes()
        self.daemon.json(*words, "-o", file)
        self.assertEqual(file.read_bytes(), before)

    def test_is_a_picture_where_a_program_for_it_is(self):
        words = ["plot", K4, "-f", "B=csr", "-d", "i=30", "-d", "j=20", "-d", "k=16", "-d", "l=8"]
        file = self.folder / "chart.png"
        nowhere = program.run(PROGRAMS, *words, "-o", file, server=self.daemon.address, environment={"PATH": "/nowhere"})
        self.assertEqual((nowhere.stderr, nowhere.returncode),
                         (f"unsupported [picture-program]: `-o {file}`: pictures in points are made by the program `rsvg-convert`, which is "
                          "not on PATH\n  note: install it (Debian: librsvg2-bin), or write a drawing, .svg\n", 3))
        other = self.daemon.run(*words, "-o", self.folder / "chart.jpg")
        self.assertEqual((other.stderr, other.returncode),
                         (f"invalid [file-ending]: `-o {self.folder}/chart.jpg`: a plot is written as .svg or .png\n", 2))
        if shutil.which("rsvg-convert") is None:
            self.skipTest("there is no rsvg-convert")
        self.assertEqual(self.daemon.json(*words, "-o", file)["written"], str(file))
        picture = file.read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual([path.name for path in self.folder.glob("chart.*")], ["chart.png"])

    def test_names_are_escaped_and_free_memory_is_drawn(self):
        file = self.folder / "spmv.svg"
        done = self.daemon.run("plot", "y(i) = M(i,j) * x(j)", "-f", "M=csr", "-d", "i=30", "-d", "j=40", "-o", file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"spmv.svg: 1 schedule on the frontier; s1 runs at these sizes\n")
        ElementTree.parse(file)


class Trials(program.WithDaemon):
    """A trial says nothing against a kernel for what others did."""

    def test_condemns_no_kernel_for_values_outside_of_its_semiring(self):
        """Negative values under max-times: a workspace that begins at its zero drops them, a single sum does not."""
        matrix = program.write_matrix(self.folder / "B.mtx", 25, 20, 60, seed=31)
        done = self.daemon.run("run", "max-times: A(i,l) = B(i,j) * C(j,k) * D(k,l)", "-t", f"B={matrix}", "-d", "k=3", "-d", "l=2",
                               "--schedule", "s1")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_condemns_no_kernel_of_many_dense_loops(self):
        """Eight loops of extent 32 have 10^12 iterations: a trial takes fewer."""
        words = [word for index in "ijklmnoq" for word in ("-d", f"{index}=2")]
        done = self.daemon.run("run", "A(i,q) = B(i,j) * C(j,k) * D(k,l) * E(l,m) * F(m,n) * G(n,o) * H(o,q)", *words, "--schedule", "linear",
                               "--verify")
        self.assertEqual(done.returncode, 0, done.stderr)


class Cache(program.WithDaemon):
    def setUp(self):
        self.matrix = program.write_matrix(self.folder / "B.mtx", 25, 20, 60, seed=31)
        self.words = ["run", K4, "-t", f"B={self.matrix}", "-d", "k=8", "-d", "l=8", "--verify", "--wait", 600]

    def test_listed_shown_verified_rebuilt(self):
        self.assertEqual(self.daemon.json("cache", "list"), {"entries": []})
        first = self.daemon.json(*self.words)
        listed = self.daemon.json("cache", "list")["entries"]
        self.assertEqual([entry["key"] for entry in listed], [first["key"]])
        shown = self.daemon.json("cache", "show", first["key"][:10])
        self.assertEqual(shown["key"], first["key"])
        self.assertGreater(len(shown["kernel"]), 0)
        self.assertTrue(shown["canonical"].startswith("schaas-problem 1\n"))

        whole = self.daemon.json("cache", "verify")
        self.assertEqual((whole["damaged"], whole["missing"]), ([], 0))
        self.assertEqual(whole["checked"], len({kernel["sha256"] for kernel in shown["kernel"]}))

        chosen = next(kernel for kernel in shown["kernel"] if kernel["kernel_key"] == first["chosen"]["kernel_key"])
        damage(self.folder / "data", chosen["sha256"])
        again = self.daemon.json(*self.words)
        self.assertTrue(again["verify"]["passed"], "a damaged binary is rebuilt before it is used")
        self.assertGreater(again["server"]["compiled"], 0)

        damage(self.folder / "data", chosen["sha256"])
        found = self.daemon.json("cache", "verify")
        self.assertEqual(len(found["damaged"]), 1)
        self.assertIn(chosen["sha256"], found["damaged"][0])
        self.assertTrue(self.daemon.json(*self.words)["verify"]["passed"])

    def test_lists_and_lifts_quarantine(self):
        self.assertEqual(self.daemon.run("cache", "quarantine").stdout, "no kernel is in quarantine\n")
        quarantine = self.folder / "data" / "quarantine"
        quarantine.mkdir(exist_ok=True)
        key = "ab" * 32
        for ending in (".txt", ".so"):
            (quarantine / (key + ending)).write_text("element 3 is 5\nmore\n")
        [kernel] = self.daemon.json("cache", "quarantine")["kernels"]
        self.assertEqual((kernel["key"], kernel["why"]), (key, "element 3 is 5"))
        self.assertEqual(self.daemon.json("cache", "lift", "abab"), {"key": key})
        self.assertEqual((self.daemon.json("cache", "quarantine"), list(quarantine.iterdir())), ({"kernels": []}, []))
        again = self.daemon.run("cache", "lift", key)
        self.assertEqual((again.returncode, again.stderr),
                         (2, f"invalid [unknown-key]: no kernel in quarantine has the key `{key}`\n  note: `schaas cache quarantine` shows "
                             "the keys\n"))

    def test_survives_a_restart(self):
        words = [*self.words, "-c", "l <= 77"]
        first = self.daemon.json(*words)
        self.assertEqual(self.daemon.stop(), 0)
        self.daemon.start()
        again = self.daemon.json(*words)
        self.assertEqual((again["server"]["hit"], again["server"]["compiled"]), (True, 0))
        self.assertEqual((again["key"], again["chosen"]["kernel_key"]), (first["key"], first["chosen"]["kernel_key"]))
        self.assertTrue(again["verify"]["passed"])


class ClientCache(unittest.TestCase):
    """What came from a server once runs when it is gone."""

    def setUp(self):
        self.daemon = program.Daemon(PROGRAMS)
        self.addCleanup(self.daemon.close)
        self.folder = self.daemon.folder
        self.cache = self.folder / "own"
        self.matrix = program.write_matrix(self.folder / "B.mtx", 40, 30, 160, seed=22)

    def run_it(self, *words, bytes=None):
        environment = {"XDG_CACHE_HOME": str(self.cache)}
        if bytes is not None:
            environment["SCHAAS_CACHE_BYTES"] = bytes
        return program.run(PROGRAMS, "run", "y(i) = B(i,j) * x(j)", "-t", f"B={self.matrix}", *words, server=self.daemon.address,
                           environment=environment)

    def kept(self, what):
        return sorted((self.cache / "schaas" / what).iterdir())

    def test_goes_on_when_the_server_is_gone(self):
        first = program.one_object(self.run_it("--verify", "--json", "--wait", "100").stdout)
        self.assertEqual(first["server"]["notice"], "")
        self.daemon.stop()
        done = self.run_it("--verify", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = program.one_object(done.stdout)
        self.assertTrue(found["verify"]["passed"])
        self.assertEqual((found["chosen"]["trace"], found["key"]), (first["chosen"]["trace"], first["key"]))
        self.assertRegex(found["server"]["notice"], f"^no server answers at {self.daemon.address}: .*; kernels that were received earlier "
                                                    f"run, from {self.cache}/schaas$")
        self.assertIn(", from this machine's cache: its server is gone\n", self.run_it().stdout)
        other = self.run_it("-c", "j <= 64")
        self.assertEqual(other.returncode, 5)
        self.assertTrue(other.stderr.endswith("  note: kernels for this problem are not among those received earlier either, in "
                                              f"{self.cache}/schaas\n"), other.stderr)
        self.assertEqual(self.run_it("--no-cache").returncode, 5)
        for binary in self.kept("binaries"):  # damaged ones are none
            binary.write_bytes(b"no kernel" + binary.read_bytes())
        self.assertEqual(self.run_it().returncode, 5)

    def test_exchanged_files_are_refused(self):
        """The kept answers of two problems under each other's names, and the binary of one in place of the other's."""
        transposed = ("run", "y(j) = B(i,j) * x(i)", "-t", f"B={self.matrix}")
        self.assertEqual(self.run_it("--wait", "100").returncode, 0)
        first = self.kept("answers")
        done = program.run(PROGRAMS, *transposed, "--wait", "100", server=self.daemon.address, environment={"XDG_CACHE_HOME": str(self.cache)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.daemon.stop()
        self.assertEqual(self.run_it("--verify").returncode, 0)
        other = [path for path in self.kept("answers") if path not in first]
        self.assertEqual((len(first), len(other)), (2, 2))  # the frontier with a first kernel, and the chosen one
        own, others = ([path.read_bytes() for path in paths] for paths in (first, other))
        for path, kept in zip(first, others):
            path.write_bytes(kept)
        done = self.run_it()
        self.assertEqual((done.returncode, done.stdout), (5, ""))
        self.assertIn("kernels for this problem are not among those received earlier", done.stderr)
        for path, kept in zip(first, others):
            header = header_of(path)
            header["answers"][0]["problem"]["expression"] = "y(i) = B(i,j) * x(j)"
            path.write_bytes(with_header(header, kept))
        self.assertEqual(self.run_it().returncode, 5)
        for path, kept in zip(first, own):
            path.write_bytes(kept)
        self.assertEqual(self.run_it().returncode, 0)

    def test_a_second_process_downloads_nothing(self):
        self.assertEqual(self.run_it().returncode, 0)
        for binary in (self.folder / "data" / "binaries").glob("*/*"):
            binary.unlink()
        self.assertEqual(self.run_it("--verify").returncode, 0)

    def test_the_server_that_comes_back_is_asked(self):
        self.assertEqual(self.run_it("--wait", "100").returncode, 0)
        self.daemon.stop()
        self.assertEqual(self.run_it().returncode, 0)
        self.daemon.start()
        self.assertEqual(program.one_object(self.run_it("--json").stdout)["server"]["notice"], "")

    def test_what_was_not_used_for_longest_goes_first(self):
        for bound in range(30, 36):
            self.assertEqual(self.run_it("-c", f"j <= {bound}", bytes="60000").returncode, 0)
        self.assertLessEqual(sum(file.stat().st_size for what in ("answers", "binaries") for file in self.kept(what)), 60000)
        self.daemon.stop()
        self.assertEqual(self.run_it("-c", "j <= 35", bytes="60000").returncode, 0)
        self.assertEqual(self.run_it("-c", "j <= 30", bytes="60000").returncode, 5)

    def test_is_for_its_owner_alone(self):
        self.assertEqual(self.run_it(bytes="0").returncode, 0)
        self.assertFalse((self.cache / "schaas").exists())
        done = self.run_it(bytes="much")
        self.assertEqual(done.stderr, "invalid [cache-bytes]: SCHAAS_CACHE_BYTES is `much`; expected a number of bytes, 0 for no cache\n")
        (self.cache / "schaas").mkdir(parents=True)
        os.chmod(self.cache / "schaas", 0o777)
        self.assertEqual(self.run_it().returncode, 0)
        self.assertEqual(list((self.cache / "schaas").iterdir()), [])


class Bundles(program.WithDaemon):
    """A file made with the server, run without one."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.matrix = program.write_matrix(cls.folder / "B.mtx", 40, 30, 160, seed=21)
        cls.bundle = cls.folder / "kernels.schaas"
        cls.made = cls.daemon.json("bundle", K4, "-f", "B=csr", "-c", "2 <= k <= 64", "--isa", "generic", "--isa", "x86-64-v2",
                                   "--schedule", "linear", "-o", cls.bundle)

    def run_it(self, *words, bundle=None):
        return program.run(PROGRAMS, "run", "--bundle", bundle or self.bundle, *words, server="unix:/nowhere/at/all")

    def changed(self, name, change):
        path = self.folder / name
        path.write_bytes(change(self.bundle.read_bytes()))
        return path

    def refused(self, bundle, status, text):
        done = self.run_it("-t", f"B={self.matrix}", "-d", "k=5", "-d", "l=3", bundle=bundle)
        self.assertEqual((done.stderr.replace(str(self.folder), "DIR"), done.returncode, done.stdout), (text, status, ""))

    def test_says_what_it_wrote(self):
        self.assertEqual([(one["isa"], one["positions"], one["dtype"], one["formats"]) for one in self.made["answers"]],
                         [(isa, bits, "f64", {"B": "csr"}) for bits in ("32", "64") for isa in ("generic", "x86-64-v2")])
        self.assertEqual((self.made["bytes"], self.made["failed"]), (self.bundle.stat().st_size, []))
        self.assertEqual(program.one_object(program.run(PROGRAMS, "info", "--bundle", self.bundle, "--json").stdout)["answers"],
                         self.made["answers"])

    def test_runs_without_a_server(self):
        for extents in (("k=5", "l=3"), ("k=64", "l=20")):
            done = self.run_it("-t", f"B={self.matrix}", *[word for extent in extents for word in ("-d", extent)], "--verify", "--json")
            self.assertEqual(done.stderr, "")
            found = program.one_object(done.stdout)
            self.assertTrue(found["verify"]["passed"])
            self.assertEqual((found["chosen"]["isa"], found["server"]["address"]), ("x86-64-v2", f"bundle:{self.bundle}"))
        done = self.run_it("-t", f"B={self.matrix}", "-d", "k=5", "-d", "l=3", "--schedule", "linear", "--positions", "64", "--verify")
        self.assertIn("problem    " + self.made["answers"][2]["key"][:16] + f", from {self.bundle}\n", done.stdout)

    def test_tunes_among_what_it_holds(self):
        found = program.one_object(self.run_it("-t", f"B={self.matrix}", "-d", "k=5", "-d", "l=3", "--tune", "--json").stdout)
        held = {kernel["id"] for kernel in self.made["answers"][1]["kernels"]}
        self.assertLessEqual({one["id"] for one in found["measured"]}, held)
        self.assertGreater(len(found["measured"]), 1)

    def test_says_what_is_not_in_it(self):
        words = ("-t", f"B={self.matrix}", "-d", "k=5", "-d", "l=3")
        done = self.run_it(*words, "--schedule", "s9")
        ids = ", ".join(kernel["id"] for kernel in self.made["answers"][1]["kernels"])
        self.assertEqual(done.stderr, f"unsupported [not-in-bundle]: there is no kernel for the schedule `s9` in {self.bundle}; there are "
                                      f"{ids}\n  note: `schaas bundle --schedule` adds further ones\n")
        self.assertEqual(done.returncode, 3)
        done = program.run(PROGRAMS, "run", K4, "--bundle", self.bundle, *words)
        self.assertEqual(done.stderr, f"invalid [bundle-problem]: `{self.bundle}` says what is computed, `{K4}`: leave the expression, -f "
                                      "and -c out\n")
        done = self.run_it("-t", f"B={self.matrix}", "-d", "k=65", "-d", "l=3")
        self.assertEqual((done.stderr.splitlines()[0], done.returncode),
                         ("invalid [bound-violated]: the tensors break `k <= 64`: k is 65, so it would say 65 <= 64", 2))

    def test_holds_a_file_to_a_key(self):
        key = program.one_object(program.run(PROGRAMS, "info", "--bundle", self.bundle, "--json").stdout)["public_key"]
        self.assertEqual(key, self.daemon.json("info")["server"]["public_key"])
        words = ("-t", f"B={self.matrix}", "-d", "k=5", "-d", "l=3", "--server-key")
        self.assertEqual(self.run_it(*words, key).returncode, 0)
        other = self.run_it(*words, "ed25519:" + "d7" * 32)
        self.assertEqual((other.stderr, other.returncode),
                         (f"unreachable [bundle-key]: the kernels of {self.bundle} are signed by {key}, expected ed25519:{'d7' * 32}\n"
                          "  note: nothing of it was loaded; ask who gave it to you for one that this server made\n", 5))

    def test_refuses_what_is_damaged_or_of_another_version(self):
        again = "  note: copy it anew, or make it again with `schaas bundle`\n"
        self.refused(self.changed("a", lambda bundle: b"%%MatrixMarket\n" + bundle), 2,
                     "invalid [bundle-format]: DIR/a is no bundle: it does not begin with `schaas bundle `\n")
        self.refused(self.changed("b", lambda bundle: bundle[:2000]), 2,
                     "invalid [bundle-damaged]: DIR/b is damaged: it ends after 2000 bytes, within its header of "
                     + self.bundle.read_bytes().split()[3].decode() + "\n" + again)
        size = self.bundle.stat().st_size
        last = self.made["answers"][-1]["kernels"][-1]["id"]
        self.refused(self.changed("c", lambda bundle: bundle[:-1]), 2,
                     f"invalid [bundle-damaged]: DIR/c is damaged: it ends after {size - 1} bytes, within the kernel {last} for "
                     "x86-64-v2\n" + again)
        self.refused(self.changed("d", lambda bundle: bundle[:-9] + bytes([bundle[-9] ^ 1]) + bundle[-8:]), 2,
                     f"invalid [bundle-damaged]: DIR/d is damaged: its kernel {last} for x86-64-v2 is not what was written\n" + again)
        self.refused(self.changed("e", lambda bundle: bundle.replace(b'"csr"', b'"csc"', 1)), 2,
                     "invalid [bundle-damaged]: DIR/e is damaged: its header is not what was written\n" + again)
        self.refused(self.changed("f", lambda bundle: bundle + b"more"), 2,
                     "invalid [bundle-damaged]: DIR/f is damaged: 4 bytes follow its end\n" + again)
        self.refused(self.changed("g", lambda bundle: bundle.replace(b"bundle 2", b"bundle 3", 1)), 3,
                     "unsupported [bundle-version]: DIR/g has layout 3, this program reads layout 2\n"
                     "  note: read it with the version of schaas that made it, or make it again with `schaas bundle`\n")
        signature = header_of(self.bundle)["answers"][0]["kernels"][0]["signature"]
        first = self.made["answers"][0]["kernels"][0]["id"]
        key = re.search(rb'"public_key":"(ed25519:[0-9a-f]+)"', self.bundle.read_bytes()).group(1).decode()
        self.refused(self.changed("i", lambda bundle: rewritten(bundle, signature, signature[:-1] + ("1" if signature[-1] == "0" else "0"))), 2,
                     f"invalid [kernel-signature]: the kernel of schedule `{first}` from DIR/i is not signed for this problem by the key "
                     f"{key}; it was not loaded\n" + again)
        version = re.search(rb'"abi_version":(\d+)', self.bundle.read_bytes()).group(1).decode()
        self.refused(self.changed("h", lambda bundle: rewritten(bundle, f'"abi_version":{version}', '"abi_version":3')), 3,
                     "unsupported [bundle-abi]: DIR/h has kernels of ABI version 3, made by schaas 0.1.0; this program runs version "
                     f"{version}\n  note: make it again with `schaas bundle` of this version\n")


    def test_refuses_signed_kernels_of_another_problem(self):
        """Two bundles of one server: whatever is exchanged between them is refused."""
        again = "  note: copy it anew, or make it again with `schaas bundle`\n"
        others = {}
        for name, expression in (("plain", "y(i) = B(i,j) * x(j)"), ("transposed", "y(j) = B(i,j) * x(i)")):
            others[name] = self.folder / name
            self.daemon.json("bundle", expression, "-f", "B=csr", "--isa", "generic", "--schedule", "linear", "--positions", "32",
                             "-o", others[name])
        plain, transposed = (header_of(others[name])["answers"][0] for name in ("plain", "transposed"))
        key = plain["public_key"]

        def refused(change, text):
            header = header_of(others["plain"])
            change(header["answers"][0])
            path = self.folder / "exchanged"
            binaries = others["transposed" if header["answers"][0]["kernels"] == transposed["kernels"] else "plain"]
            path.write_bytes(with_header(header, binaries.read_bytes()))
            done = program.run(PROGRAMS, "run", "--bundle", path, "-t", f"B={self.matrix}", server="unix:/nowhere/at/all")
            self.assertEqual((done.stderr.replace(str(self.folder), "DIR"), done.returncode, done.stdout), (text, 2, ""))

        refused(lambda answer: answer.update(kernels=transposed["kernels"]),
                f"invalid [kernel-signature]: the kernel of schedule `{transposed['kernels'][0]['id']}` from DIR/exchanged is not signed "
                f"for this problem by the key {key}; it was not loaded\n" + again)
        refused(lambda answer: answer.update(problem=transposed["problem"]),
                "invalid [answer-mismatch]: the answer from DIR/exchanged is not to the problem that was asked: it differs in the problem; "
                "nothing of it was used\n" + again)
        refused(lambda answer: answer["frontier"]["arguments"].reverse(),
                "invalid [answer-mismatch]: the answer from DIR/exchanged is not to the problem that was asked: it differs in the order of "
                "arguments; nothing of it was used\n" + again)
        refused(lambda answer: answer["frontier"].update(signature=transposed["frontier"]["signature"]),
                "invalid [answer-signature]: the answer to `y(i) = B(i,j) * x(j)` from DIR/exchanged is not signed by the key "
                f"{key} for these formats and types; nothing of it was used\n" + again)


def header_of(path):
    line, _, rest = path.read_bytes().partition(b"\n")
    return json.loads(rest[:int(line.split()[3])])


def with_header(header, bundle):
    """The binaries of a bundle after another header, by somebody who knows the layout."""
    line, _, rest = bundle.partition(b"\n")
    text = json.dumps(header, separators=(",", ":")).encode() + b"\n"
    return b"schaas bundle 2 %d %s\n" % (len(text), hashlib.sha256(text).hexdigest().encode()) + text + rest[int(line.split()[3]):]


def rewritten(bundle, old, new):
    """The header changed by somebody who knows the layout."""
    line, _, rest = bundle.partition(b"\n")
    length = int(line.split()[3])
    header = rest[:length].replace(old.encode(), new.encode(), 1)
    return b"schaas bundle 2 %d %s\n" % (len(header), hashlib.sha256(header).hexdigest().encode()) + header + rest[length:]


class Jobs(program.WithDaemon):
    """Offline precomputation: what a job computed is there when it is asked for."""

    MODEL = """
# a model's kernels
{"expression": "A(i,k) = B(i,j) * C(j,k)", "formats": {"B": ["csr", "csc"]}, "dtype": ["f64", "f32"], "isa": "generic", "kernels": 1}
{"expression": "y(i) = B(i,j) * x(j)", "formats": {"B": "csr"}, "constraints": [["i <= 100"], []], "isa": "generic", "kernels": 1}
"""

    def file(self, text, name="model.json"):
        path = self.daemon.folder / name
        path.write_text(text)
        return path

    def test_every_combination_is_done_and_stored(self):
        path = self.file(self.MODEL)
        job = self.daemon.json("precompute", path, "--label", "my model")
        self.assertEqual([job[name] for name in ("requests", "done", "failed", "waiting", "label")], [6, 6, 0, 0, "my model"])
        self.assertEqual(sorted(item["number"] for item in job["items"]), list(range(6)))
        self.assertEqual({item["state"] for item in job["items"]}, {"done"})
        stored = self.daemon.json("cache", "list")["entries"]
        self.assertEqual(len(stored), 6)
        self.assertTrue(all(entry["kernels"] >= 1 for entry in stored))
        again = self.daemon.json("precompute", path, "--label", "my model", "--detach")
        self.assertEqual(again["id"], job["id"])
        self.assertEqual(self.daemon.json("watch", job["id"])["items"], job["items"])
        self.assertEqual([one["id"] for one in self.daemon.json("jobs")["jobs"]].count(job["id"]), 1)
        self.assertEqual(self.daemon.json("cancel", job["id"])["done"], 6)

    def test_failures_are_told_and_give_the_exit_status(self):
        path = self.file('{"expression": "a(i) = B(i,j) * c(j)", "traces": "s99", "isa": "generic"}', "late.json")
        done = self.daemon.run("precompute", path)
        self.assertEqual(done.returncode, 2)
        self.assertIn("0 of 1 request done, 1 failed", done.stdout)
        self.assertIn("unknown-schedule", done.stdout)
        self.assertRegex(done.stderr, r"^invalid \[job-failed\]: 1 request of the job j\d+ failed; `schaas retry j\d+` tries again")

    def test_the_options_of_a_job(self):
        path = self.file(self.MODEL, "options.json")
        words = ("--detach", "--priority", 5, "--budget", 1000, "--key", "mine", "--label", "a")
        job = self.daemon.json("precompute", path, *words)
        self.assertEqual([job[name] for name in ("priority", "budget_seconds", "label")], [5, 1000, "a"])
        self.assertEqual(self.daemon.json("precompute", path, *words)["id"], job["id"])
        refused = self.daemon.run("precompute", path, "--detach", "--key", "mine", "--label", "b")
        self.assertEqual((refused.returncode, refused.stderr.splitlines()[0]),
                         (2, f"invalid [idempotency-key]: the key `mine` was used for another job, {job['id']}"))
        self.assertEqual(self.daemon.json("watch", job["id"])["done"], 6)
        spent = self.daemon.run("precompute", self.many(3, 300), "--budget", "0.001")
        self.assertEqual((spent.returncode, "3 failed" in spent.stdout, "the budget of 0.001 s is spent" in spent.stdout), (2, True, True))

    def test_what_was_cancelled_is_tried_again(self):
        job = self.daemon.json("precompute", self.many(8, 400), "--detach")["id"]
        self.assertGreater(self.daemon.json("cancel", job)["cancelled"], 0)
        again = self.daemon.json("retry", job)
        self.assertEqual((again["cancelled"], again["finished"]), (0, False))
        done = self.daemon.json("watch", job)
        self.assertEqual((done["done"], sorted(item["number"] for item in done["items"])), (8, list(range(8))))

    def test_watching_goes_on_after_a_restart(self):
        job = self.daemon.json("precompute", self.many(30, 500), "--detach")["id"]
        environment = {**os.environ, "SCHAAS_SERVER": self.daemon.address}
        with subprocess.Popen([pathlib.Path(PROGRAMS) / "schaas", "watch", job, "--json"], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watch:
            while self.daemon.json("jobs")["jobs"][0]["done"] < 10:
                time.sleep(0.05)
            self.daemon.process.kill()
            self.daemon.process.wait()
            self.daemon.log.close()
            self.daemon.start()
            out, told = watch.communicate(timeout=240)
        self.assertEqual(watch.returncode, 0, told)
        self.assertRegex(told, rf"^no server answers at {self.daemon.address}: .*; watching {job} goes on in \d+\.\d s\n")
        items = program.one_object(out)["items"]
        self.assertEqual(sorted(item["number"] for item in items), list(range(30)))

    def many(self, count, first):
        """A file of different problems."""
        cases = ", ".join(f'["i <= {first + n}"]' for n in range(count))
        return self.file('{"expression": "A(i,k) = B(i,j) * C(j,k)", "formats": {"B": "csr"}, "isa": "generic", "kernels": 1, '
                         f'"constraints": [{cases}]}}', f"many{first}.json")

    def test_wrong_files_are_refused(self):
        for text, message in [
                ("", "holds no requests"),
                ('{"expresion": "a = b"}', "unknown member `expresion`; did you mean `expression`?"),
                ('{"expression": "a(i) = b(i)"} {"formats": {}}', '{"formats":{}} has no `expression`'),
                ('\n\n{"expression": ', "what begins in line 3 is not JSON"),
                ('[1]', "1; expected an object with an `expression`"),
                ('{"expression": []}', "`expression` is []; expected a text or a list of texts"),
                ('{"expression": "a(i) = b(i)", "kernels": -1}', "`kernels` is -1; expected a number up to 64"),
                ('{"expression": "a(i) = b(i)", "formats": "csr"}', '`formats` is "csr"; expected an object, {"B": "csr"}')]:
            with self.subTest(text=text):
                path = self.file(text, "wrong.json")
                done = self.daemon.run("precompute", path)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"invalid [job-file]: `{path}`: {message}\n"
                                 if text else f"invalid [job-file]: `{path}` holds no requests\n"))
        done = self.daemon.run("watch", "j999")
        self.assertEqual((done.returncode, done.stderr), (2, "invalid [unknown-job]: there is no job `j999`\n"))


class PrivateServer(unittest.TestCase):
    """Without SCHAAS_SERVER: the program starts a daemon of its own."""

    def test_started_once_and_found_again(self):
        with tempfile.TemporaryDirectory(prefix="schaas-test-") as folder:
            environment = {"XDG_DATA_HOME": folder, "XDG_RUNTIME_DIR": folder}
            first = program.run(PROGRAMS, "info", "--json", environment=environment)
            self.assertEqual(first.returncode, 0, first.stderr)
            server = program.one_object(first.stdout)["server"]
            try:
                self.assertTrue(server["started"])
                self.assertTrue(server["data_directory"].startswith(folder))
                second = program.run(PROGRAMS, "info", "--json", environment=environment)
                self.assertFalse(program.one_object(second.stdout)["server"]["started"])
            finally:
                stop_private_server(folder)

    def test_needs_a_folder_of_the_users_own(self):
        with tempfile.TemporaryDirectory(prefix="schaas-test-") as folder:
            os.chmod(folder, 0o777)
            done = program.run(PROGRAMS, "info", environment={"XDG_DATA_HOME": folder + "/data", "XDG_RUNTIME_DIR": folder})
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"invalid [socket-folder]: the private server's socket cannot be in {folder}: others than its owner may "
                                 f"write to it\n  note: `chmod go-w {folder}`, or set XDG_RUNTIME_DIR to a folder of your own\n"))

    @unittest.skipUnless(os.geteuid() == 0, "listens as another user")
    def test_takes_no_server_of_another_user(self):
        with tempfile.TemporaryDirectory(prefix="schaas-test-") as folder:
            environment = {"XDG_DATA_HOME": folder, "XDG_RUNTIME_DIR": folder}
            path = f"{folder}/schaas-" + hashlib.sha256(f"{folder}/schaas".encode()).hexdigest()[:16] + ".sock"
            listener = subprocess.Popen(
                [sys.executable, "-c", "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); os.setuid(65534); "
                                       "s.listen(); print('ready', flush=True); sys.stdin.read()", path],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                listener.stdout.readline()
                done = program.run(PROGRAMS, "info", environment=environment)
                self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                                 (5, f"unreachable [foreign-server]: the user 65534 listens on {path}, where the private server of user 0 "
                                     "belongs; nothing was sent to it"))
            finally:
                listener.communicate(b"")

    def test_has_none_of_its_clients_files(self):
        with tempfile.TemporaryDirectory(prefix="schaas-test-") as folder:
            read, write = os.pipe()
            os.set_inheritable(write, True)
            environment = {**os.environ, "XDG_DATA_HOME": folder, "XDG_RUNTIME_DIR": folder, "SCHAAS_CACHE_BYTES": "0"}
            environment.pop("SCHAAS_SERVER", None)
            try:
                done = subprocess.run([pathlib.Path(PROGRAMS) / "schaas", "info", "--json"], capture_output=True, text=True, env=environment,
                                      close_fds=False, timeout=60)
                self.assertTrue(program.one_object(done.stdout)["server"]["started"], done.stderr)
                os.close(write)
                self.assertTrue(select.select([read], [], [], 5)[0], "the server keeps the pipe open")
            finally:
                os.close(read)
                stop_private_server(folder)


class Calibration(program.WithDaemon):
    """What this machine's caches and memory give is measured, stored and found by the next program."""

    def checked(self, environment):
        done = program.run(PROGRAMS, "doctor", "--json", server=self.daemon.address, environment=environment)
        return next(check for check in program.one_object(done.stdout)["checks"] if check["name"] == "calibration")

    def test_measures_and_stores(self):
        environment = {"XDG_DATA_HOME": str(self.folder / "own")}
        self.assertEqual(self.checked(environment)["verdict"], "note")
        done = program.run(PROGRAMS, "calibrate", "--threads", 2, "--json", server=self.daemon.address, environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = program.one_object(done.stdout)
        self.assertEqual([(one["from"], one["threads"]) for one in found["measured"]],
                         [("first-level cache", 1), ("second-level cache", 1), ("last-level cache", 1), ("memory", 1), ("memory", 2)])
        sizes = [one["bytes"] for one in found["measured"]]
        self.assertEqual(sizes[:4], sorted(set(sizes)))
        for one in found["measured"]:
            self.assertGreater(one["nanoseconds"], 0)
        rates = found["rates"]
        for name in ("in_first", "beyond_first", "beyond_second", "beyond_last"):
            self.assertGreaterEqual(rates[name], 0, name)
        self.assertAlmostEqual(rates["in_first"] + rates["beyond_first"], 1)
        self.assertGreaterEqual(rates["memory_threads"], 1)
        stored = (self.folder / "own/schaas/rates").read_text().splitlines()
        self.assertEqual(stored[:2], ["schaas-rates 1", f"host {found['host']}"])
        self.assertEqual({name: float(value) for name, value in (line.split() for line in stored[2:])}, rates)
        self.assertEqual(self.checked(environment)["verdict"], "ok")


class Strangers(unittest.TestCase):
    """A daemon that asks who is there, over TCP."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="schaas-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        made = subprocess.run([pathlib.Path(PROGRAMS) / "schaasd", "--new-token", "me"], capture_output=True, text=True, check=True).stdout
        words = made.split()
        self.token = next(word for word in words if word.startswith("schaas_"))
        line = made.splitlines()[-1]
        self.write("tokens", line.replace("scopes=read,schedule,report", "scopes=read") + "\n")
        self.process = subprocess.Popen([pathlib.Path(PROGRAMS) / "schaasd", "--data-dir", self.folder / "data", "--listen", "127.0.0.1:0",
                                         "--tokens", self.folder / "tokens", "--idle-seconds", "120"],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.terminate)
        self.address = self.process.stdout.readline().split()[-1]

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)
        return path

    def run_schaas(self, *words, **environment):
        return program.run(PROGRAMS, *words, server=self.address, environment={"XDG_CONFIG_HOME": str(self.folder), **environment})

    def test_a_token_opens_what_its_scopes_allow(self):
        self.assertEqual(self.run_schaas("info").stderr,
                         "unreachable [no-token]: this server asks for a token\n  note: get one from its operator and give it in a file: "
                         "schaas --token-file FILE, or SCHAAS_TOKEN_FILE\n")
        right, wrong = self.write("right", self.token + "\n"), self.write("wrong", "schaas_" + "0" * 64)
        refused = self.run_schaas("info", "--token-file", wrong)
        self.assertEqual((refused.returncode, "[unknown-token]" in refused.stderr), (5, True))
        self.assertEqual(self.run_schaas("info", "--token-file", right).returncode, 0)
        self.assertEqual(self.run_schaas("cache", "list", SCHAAS_TOKEN_FILE=str(right)).returncode, 0)
        refused = self.run_schaas("schedule", "y(i) = B(i,j) * x(j)", "--token-file", right)
        self.assertEqual((refused.returncode, "does not allow Schedule" in refused.stderr), (5, True))
        checks = {check["name"]: check for check in program.one_object(self.run_schaas("doctor", "--json", "--token-file", right).stdout)["checks"]}
        self.assertEqual((checks["kernels"]["verdict"], checks["kernels"]["advice"]),
                         ("PROBLEM", "ask the server's operator to add `schedule` to its scopes"))

    def test_tls_where_there_is_none(self):
        done = self.run_schaas("info", "--tls-ca", "system")
        self.assertEqual(done.returncode, 5)
        self.assertTrue(done.stderr.startswith(f"unreachable [tls-failed]: this client and the server at {self.address} do not believe each other: "),
                        done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)

    def test_the_key_is_held_against_what_is_expected(self):
        token = self.write("right", self.token)
        known = program.one_object(self.run_schaas("info", "--json", "--token-file", token).stdout)["server"]["public_key"]
        self.assertEqual(self.run_schaas("info", "--token-file", token, "--server-key", known).returncode, 0)
        other = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"  # RFC 8032, section 7.1, the first
        done = self.run_schaas("info", "--token-file", token, SCHAAS_SERVER_KEY=other)
        self.assertEqual((done.returncode, "[server-key-mismatch]" in done.stderr), (5, True))


def blocks_signals(process):
    """Tells a program that waits for SIGTERM with a thread of its own."""
    with open(f"/proc/{process}/status", encoding="ascii") as lines:
        blocked = next((int(line.split()[1], 16) for line in lines if line.startswith("SigBlk")), 0)
    return blocked >> (signal.SIGTERM - 1) & 1


def size(path):
    """0: it is gone."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def stop_private_server(folder):
    """Ends the daemons whose command line names a data directory below `folder`: those this test has started."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as text:
                words = text.read().decode(errors="replace").split("\0")
        except OSError:
            continue
        if words[0].endswith("schaasd") and any(word.startswith(folder) for word in words):
            os.kill(int(entry), signal.SIGTERM)
            deadline = time.monotonic() + 20
            while os.path.exists(f"/proc/{entry}") and time.monotonic() < deadline:
                time.sleep(0.05)


def damage(data, sha256):
    """Flips one byte in the middle of the stored file of that digest (not of copies that were dropped as damaged before)."""
    files = [path for path in data.rglob("*")
             if path.is_file() and sha256[2:] in str(path).replace("/", "") and path.parent.name != "damaged"]
    assert len(files) == 1, f"{len(files)} files for {sha256}"
    content = bytearray(files[0].read_bytes())
    content[len(content) // 2] ^= 0xFF
    os.chmod(files[0], 0o600)
    files[0].write_bytes(content)


def npy(shape, values):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + array.array("d", values).tobytes()


def read_npy(path):
    """(shape, values) of a little-endian float64 array in C order."""
    content = path.read_bytes()
    assert content[:6] == b"\x93NUMPY"
    size, start = (struct.unpack("<H", content[8:10])[0], 10) if content[6] == 1 else (struct.unpack("<I", content[8:12])[0], 12)
    header = ast.literal_eval(content[start:start + size].decode())
    assert header["descr"] == "<f8" and not header["fortran_order"]
    values = array.array("d")
    values.frombytes(content[start + size:])
    return list(header["shape"]), list(values)


def read_array(path):
    """(shape, row-major values) of a Matrix Market array, which is stored by columns."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    rows, columns = map(int, lines[0].split())
    values = [float(line) for line in lines[1:]]
    return [rows, columns], [values[column * rows + row] for row in range(rows) for column in range(columns)]


if __name__ == "__main__":
    unittest.main()
