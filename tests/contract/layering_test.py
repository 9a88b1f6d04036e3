#!/usr/bin/env python3
"""The layering holds, and the check that says so would notice if it did not."""

import os
import pathlib
import re
import sys
import tempfile
import unittest

import layering

ROOT = pathlib.Path(__file__).resolve().parents[2]


def planted(path, text):
    """The violations of a tree that holds one file."""
    with tempfile.TemporaryDirectory() as root:
        file = pathlib.Path(root) / path
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
        return layering.violations(root)


class Tree(unittest.TestCase):
    def test_every_include_obeys_the_table(self):
        self.assertEqual(layering.violations(ROOT), [])

    def test_the_scan_sees_the_tree(self):
        seen = [path for path, _ in layering.sources(ROOT)]
        for package in layering.MAY_INCLUDE:
            self.assertTrue(any(layering.folder_of(path) == package for path in seen), f"no file of {package} was scanned")

    def test_every_package_has_a_readme(self):
        packages = set(layering.MAY_INCLUDE) - {"client/cli", "client/cpp/include"}
        self.assertEqual([package for package in sorted(packages) if not (ROOT / package / "README.md").is_file()], [])

    def test_report_of_long_files(self):
        for lines, path in layering.longest(ROOT):
            print(f"  {lines:5} {path}")

    def test_table_has_no_cycle(self):
        self.assertEqual(layering.cycle_in(layering.MAY_INCLUDE), [])

    def test_python_modules_have_no_cycle(self):
        imports = layering.python_imports(ROOT)
        self.assertIn("_session", imports["_kernel"])
        self.assertEqual(layering.cycle_in(imports), [])

    def test_picture_is_drawn_from_the_tree(self):
        page = ROOT / "docs/ARCHITECTURE.md"
        text = page.read_text(encoding="utf-8")
        drawn = layering.mermaid(layering.include_graph(layering.sources(ROOT)))
        shown = re.compile(r"(?<=<!-- include graph -->\n```mermaid\n).*?(?=```\n)", re.DOTALL)
        if os.environ.get("SCHAAS_UPDATE") == "1":
            page.write_text(shown.sub(drawn, text), encoding="utf-8")
            return
        self.assertEqual(shown.findall(text), [drawn], "run SCHAAS_UPDATE=1 python3 tests/contract/layering_test.py")


class Graph(unittest.TestCase):
    def test_edges_are_includes_of_other_packages(self):
        files = [("server/rpc/a.cc", '#include "server/rpc/a.h"\n#include "kernels_cache/store.h"\n#include <vector>\n'),
                 ("client/cli/commands/run.cc", "#include <schaas/select.h>\n")]
        graph = layering.include_graph(files)
        self.assertEqual(graph["server/rpc"], {"kernels_cache"})
        self.assertEqual(len(graph["client/cli/commands"]), 1)

    def test_cycle_is_found(self):
        self.assertEqual(layering.cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}), ["b", "c", "b"])
        self.assertEqual(layering.cycle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}), [])

    def test_edges_that_a_path_stands_for_are_not_drawn(self):
        graph = {"x/a": {"x/b", "c"}, "x/b": {"c"}, "c": set()}
        self.assertEqual(layering.mermaid(graph), """flowchart TD
  subgraph x_["x/"]
    x_a[a]
    x_b[b]
  end
    c[c]
  x_a --> x_b
  x_b --> c
""")


class PlantedViolations(unittest.TestCase):
    def test_upward_include(self):
        self.assertEqual(
            planted("compiler/format/csr.cc", '#include "compiler/lower/lower.h"\n'),
            ["compiler/format/csr.cc: includes compiler/lower/lower.h, but compiler/format may not include compiler/lower"])

    def test_compiler_from_the_client(self):
        self.assertEqual(
            planted("client/cpp/tensor/pack.cc", '#include "compiler/problem/problem.h"\n'),
            ["client/cpp/tensor/pack.cc: includes compiler/problem/problem.h, but client/cpp/tensor may not include compiler/problem",
             "client/cpp/tensor/pack.cc: includes compiler/problem/problem.h, but the client states problems canonically in one file"])

    def test_cache_that_knows_schedules(self):
        self.assertEqual(
            planted("kernels_cache/store.h", '#include "compiler/schedule/trace.h"\n'),
            ["kernels_cache/store.h: includes compiler/schedule/trace.h, but kernels_cache may not include compiler/schedule"])

    def test_z3_elsewhere(self):
        self.assertEqual(planted("compiler/frontier/frontier.cc", "#include <z3++.h>\n"),
                         ["compiler/frontier/frontier.cc: includes z3++.h, but Z3 lives in one file"])
        self.assertEqual(planted("compiler/frontier/proofs/z3_solver.cc", "#include <z3++.h>\n"), [])

    def test_sqlite_elsewhere(self):
        self.assertEqual(planted("server/daemon/main.cc", "# include <sqlite3.h>\n"),
                         ["server/daemon/main.cc: includes sqlite3.h, but SQLite lives in one pair of files"])

    def test_proto_type_in_a_public_client_header(self):
        self.assertEqual(
            planted("client/cpp/include/schaas/kernel.h", '#include "schaas/v1/schaas.pb.h"\n'),
            ["client/cpp/include/schaas/kernel.h: includes schaas/v1/schaas.pb.h, but generated protocol headers stay in "
             "marshalling, services and the client's sources"])

    def test_grpc_in_the_compiler(self):
        self.assertEqual(planted("compiler/pipeline/pipeline.cc", "#include <grpcpp/grpcpp.h>\n"),
                         ["compiler/pipeline/pipeline.cc: includes grpcpp/grpcpp.h, but gRPC stays in the server and the "
                          "client's connection"])

    def test_private_header_of_the_client_in_the_program(self):
        self.assertEqual(planted("client/cli/commands/run.cc", '#include "client/cpp/remote/marshalling.h"\n'),
                         ["client/cli/commands/run.cc: includes client/cpp/remote/marshalling.h, but client/cli/commands may not include client/cpp/remote",
                          "client/cli/commands/run.cc: includes client/cpp/remote/marshalling.h, but client sources are private"])

    def test_public_header_of_a_higher_package(self):
        self.assertEqual(planted("client/cpp/tensor/pack.cc", '#include "schaas/select.h"\n'),
                         ["client/cpp/tensor/pack.cc: includes schaas/select.h, but client/cpp/tensor may not include client/cpp/selection"])
        self.assertEqual(planted("client/cpp/include/schaas/tensor.h", '#include "schaas/select.h"\n'),
                         ["client/cpp/include/schaas/tensor.h: includes schaas/select.h, but client/cpp/tensor may not include "
                          "client/cpp/selection"])
        self.assertEqual(planted("client/cli/commands/run.cc", '#include "schaas/select.h"\n'), [])

    def test_public_header_without_a_package(self):
        self.assertEqual(planted("client/cpp/include/schaas/utilities.h", "\n"),
                         ["client/cpp/include/schaas/utilities.h: its folder has no line in the table of tests/contract/layering.py"])

    def test_environment_in_the_compiler(self):
        self.assertEqual(planted("compiler/cost/cost.cc", 'auto home = std::getenv("HOME");\n'),
                         ["compiler/cost/cost.cc: uses getenv, but the compiler is pure"])
        self.assertEqual(planted("compiler/cost/cost.cc", "// getenv() is not used here\n"), [])

    def test_unknown_folder(self):
        self.assertEqual(planted("compiler/utils/strings.h", "\n"),
                         ["compiler/utils/strings.h: its folder has no line in the table of tests/contract/layering.py"])

    def test_upward_include_between_packages(self):
        self.assertEqual(planted("server/storage/stores.h", '#include "server/rpc/marshalling.h"\n'),
                         ["server/storage/stores.h: includes server/rpc/marshalling.h, but server/storage may not include server/rpc"])

    def test_file_outside_the_packages(self):
        self.assertEqual(planted("server/stores.h", "\n"),
                         ["server/stores.h: its folder has no line in the table of tests/contract/layering.py"])

    def test_full_folder(self):
        self.assertEqual(list(layering.full_folders([f"server/rpc/f{n}.h" for n in range(41)])),
                         ["server/rpc: 41 files, the budget is 40"])

    def test_long_file(self):
        self.assertEqual(planted("compiler/cost/cost.h", "\n" * 301),
                         ["compiler/cost/cost.h: 301 lines, the budget is 300"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest also passes the folder of the programs
