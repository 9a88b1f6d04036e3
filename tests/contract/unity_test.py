#!/usr/bin/env python3
"""The sources of a library can be compiled as one (SCHAAS_UNITY), and the check that says so would notice if they could not."""

import pathlib
import sys
import tempfile
import unittest

import unity

ROOT = pathlib.Path(__file__).resolve().parents[2]


def planted(**files):
    """The clashes of a library that holds these files: a__cc="text" is compiler/cost/a.cc."""
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root) / "compiler/cost"
        folder.mkdir(parents=True)
        (folder / "CMakeLists.txt").touch()
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(f"namespace schaas::cost {{\n{text}\n}}\n", encoding="utf-8")
        return unity.clashes(root)


class Tree(unittest.TestCase):
    def test_no_names_clash(self):
        self.assertEqual(unity.clashes(ROOT), [], "merge what is the same, rename what differs")

    def test_the_scan_sees_anonymous_names(self):
        found = list(unity.names_of((ROOT / "client/cpp/platform/scan.cc").read_text(encoding="utf-8")))
        self.assertIn((("schaas::client", "min_scanned_by_team", None), True), found)


class PlantedClashes(unittest.TestCase):
    def clash(self, name):
        return [f"compiler/cost: {name} in compiler/cost/a.cc, compiler/cost/b.cc"]

    def test_constants(self):
        self.assertEqual(planted(a__cc="namespace { constexpr int most = 1; }", b__cc="namespace {\nconstexpr long most{2};\n}"),
                         self.clash("most"))

    def test_further_constants(self):
        self.assertEqual(planted(a__cc="namespace { constexpr int least = 1, most = least + 1; }", b__cc="namespace { constexpr int most = 3; }"),
                         self.clash("most"))

    def test_types(self):
        self.assertEqual(planted(a__cc="namespace { struct Walk { int f(); }; }", b__cc="namespace { class Walk final : Base {}; }"),
                         self.clash("Walk"))

    def test_functions(self):
        self.assertEqual(planted(a__cc="namespace { bool has(const Names& names, int index) { return {}; } }",
                                 b__cc="namespace { bool has(const Names& list, int n = 0) { if (n) {} return {}; } }"), self.clash("has"))

    def test_function_and_variable(self):
        self.assertEqual(planted(a__cc="namespace { int line() { return 1; } }", b__cc="namespace { const char* line = R\"(})\"; }"),
                         self.clash("line"))

    def test_aliases_of_two_types(self):
        self.assertEqual(planted(a__cc="namespace { using Names = std::vector<int>; }", b__cc="namespace { using Names = std::set<int>; }"),
                         self.clash("Names"))

    def test_shown_name(self):
        self.assertEqual(planted(a__cc="namespace { double fold(int x) { return x; } }", b__h="double fold(int number);"),
                         ["compiler/cost: fold in compiler/cost/a.cc, compiler/cost/b.h"])


class NoClashes(unittest.TestCase):
    def test_overloads(self):
        self.assertEqual(planted(a__cc="namespace { int of(int x) { return x; } }", b__cc="namespace { int of(double x) { return 1; } }"), [])

    def test_aliases_of_one_type(self):
        self.assertEqual(planted(a__cc="namespace { using Clock = std::chrono::steady_clock; }",
                                 b__cc="namespace { using Clock = chrono::steady_clock; }"), [])

    def test_members_and_locals(self):
        self.assertEqual(planted(a__cc="namespace { int size = 1; }", b__cc="int A::size() { int size = 2; return size; }\nstruct B { int size; };"), [])

    def test_names_of_one_file(self):
        self.assertEqual(planted(a__cc="namespace { struct A; int f(A); struct A {}; int f(A) { return 1; } }"), [])

    def test_shown_names_of_two_files(self):
        self.assertEqual(planted(a__h="int fold(int x);", a__cc="int fold(int x) { return x; }"), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])  # ctest also passes the folder of the programs
