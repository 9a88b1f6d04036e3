#!/usr/bin/env python3
"""What the documents promise exists: links, presets, packages, and every command the README and the quickstart show.

    docs_test.py [BIN]      BIN: folder with the program `schaas`; without it the command checks are skipped
"""

import collections
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None

# What the code asks for with find_package and pkg-config, and the Debian package that brings it.
PROVIDED_BY = {
    "PkgConfig": "pkg-config", "Threads": "g++", "OpenMP": "g++", "OpenSSL": "libssl-dev", "ZLIB": "zlib1g-dev", "BZip2": "libbz2-dev", "LibLZMA": "liblzma-dev",
    "SQLite3": "libsqlite3-dev", "Protobuf": "libprotobuf-dev", "gRPC": "libgrpc++-dev", "spdlog": "libspdlog-dev",
    "CLI11": "libcli11-dev", "nlohmann_json": "nlohmann-json3-dev", "Z3": "libz3-dev", "HTTPLIB": "libcpp-httplib-dev", "JEMALLOC": "libjemalloc-dev", "GMP": "libgmp-dev",
    "GTest": "libgtest-dev", "benchmark": "libbenchmark-dev",
}
# What the build does without where it is not installed.
OPTIONAL = {"LIBPQ"}
# Packages that are tools or come beside one of the above.
TOOLS = {"help2man", "g++", "cmake", "ninja-build", "pkg-config", "python3", "protobuf-compiler", "protobuf-compiler-grpc", "libgmock-dev",
         "python3-numpy", "python3-scipy"}


def markdown():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "compiler").rglob("*.md"))]


def code():
    """Files of the tree that cite documents in comments."""
    for top in ("client", "compiler", "deploy", "kernels_cache", "proto", "server", "tests"):
        yield from (path for path in sorted((ROOT / top).rglob("*")) if path.suffix in (".h", ".cc", ".c", ".py", ".proto", ".sh", ".toml", ".md"))


def anchors(text):
    headings = re.findall(r"^#+\s+(.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def packages():
    lines = (ROOT / "deploy/packages.txt").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def commands(path):
    """The `schaas ...` lines of a document or script, with continuation lines and shell variables taken out."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        found = re.match(r"\s*(?:\$ )?(schaas (?:run|schedule|emit|cache|info)\b.*)$", line)
        if found:
            command = re.split(r"  +(?![-'])| >|\s#", found.group(1))[0]
            yield command.replace('"$expression"', "EXPR").replace("$graph", "graph.mtx")


class Reference(unittest.TestCase):
    maxDiff = None

    def test_it_is_what_the_code_says(self):
        sys.path.insert(0, str(ROOT / "docs/reference"))
        import make  # pylint: disable=import-outside-toplevel
        for name, content in make.pages(BIN).items():
            self.assertEqual((ROOT / "docs/reference" / name).read_text(encoding="utf-8"), content,
                             f"docs/reference/{name} is out of date: run docs/reference/make.py build/release/bin")


class Links(unittest.TestCase):
    def test_every_relative_link_resolves(self):
        broken = []
        for page in markdown():
            text = page.read_text(encoding="utf-8")
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                there = (page.parent / name) if name else page
                if not there.exists():
                    broken.append(f"{page.relative_to(ROOT)}: {target}")
                elif anchor and anchor not in anchors(there.read_text(encoding="utf-8")):
                    broken.append(f"{page.relative_to(ROOT)}: {target} (no such heading)")
        self.assertEqual(broken, [])

    def test_every_page_and_section_that_the_code_cites_exists(self):
        cited, broken = 0, []
        for file in code():
            for name, _, section in re.findall(r'(docs/[\w/.-]+\.md)(, "([^"\n]+)")?', file.read_text(encoding="utf-8")):
                text = (ROOT / name).read_text(encoding="utf-8") if (ROOT / name).exists() else None
                if text is None or section and not re.search(rf"(?m)^(#+ {re.escape(section)}$|\*\*{re.escape(section)}\.\*\*)", text):
                    broken.append(f"{file.relative_to(ROOT)}: {name} {section}".rstrip())
                cited += 1
        self.assertEqual(broken, [])
        self.assertGreater(cited, 50)

    def test_reading_order_names_every_page(self):
        order = (ROOT / "docs/README.md").read_text(encoding="utf-8")
        pages = [page.name for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "README.md"]
        self.assertEqual([page for page in pages if f"({page})" not in order], [])

    def test_every_decision_is_listed(self):
        listed = (ROOT / "docs/decisions/README.md").read_text(encoding="utf-8")
        pages = [page.name for page in (ROOT / "docs/decisions").glob("[0-9]*.md")]
        self.assertEqual([page for page in pages if page not in listed], [])

    def test_every_test_that_tables_name_exists(self):
        tests = collections.defaultdict(str)  # two folders have a cli_test.py
        for path in (ROOT / "tests").rglob("*"):
            if path.suffix in (".cc", ".py"):
                tests[path.stem] += path.read_text(errors="replace")
        named = 0
        for page in ("limits.md", "evidence.md", "security.md"):
            for line in (ROOT / "docs" / page).read_text().splitlines():
                for file in re.findall(r"`(tests/[\w/.]+)`", line):
                    self.assertTrue((ROOT / file).exists(), line)
                for program, names in re.findall(r"\b(\w+_test|cli\.\w+)\b((?:,? `[A-Za-z_.*]+`)*)", line) if line.startswith("|") else []:
                    if program.startswith("cli."):
                        self.assertIn(f"class {program.removeprefix('cli.')}(", tests["cli_test"], line)
                        program = "cli_test"
                    self.assertIn(program, tests, line)
                    for name in re.findall(r"`([A-Za-z_.*]+)`", names):
                        self.assertIn(name.removesuffix(".*"), tests[program], line)
                        named += 1
        self.assertGreater(named, 50)

    def test_passes_are_declared_where_the_architecture_says(self):
        passes = 0
        for row in re.findall(r"(?m)^\| `\w.*::.*\|$|^\| `make_.*\|$", (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8")):
            cells = [re.findall(r"`([^`]+)`", cell) for cell in row.split("|")]
            first = ROOT / cells[4][0]
            files = [first, *(first.parent / name for name in cells[4][1:])]
            texts = [file.read_text(encoding="utf-8") for file in files]
            for name in cells[1]:
                self.assertTrue(any(re.search(rf"\b{name.rpartition('::')[2]}\(", text) for text in texts), row)
            passes += 1
        self.assertGreater(passes, 20)

    def test_the_walk_finds_its_way(self):
        walk = (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8").partition("## A walk")[2]
        steps = re.findall(r"(?m)^\d\. `([^`]+)`: (.*)$", walk)
        self.assertEqual(steps[0][0], "README.md")
        for file, text in steps:
            for cited in re.findall(r"`([^`]+)`", text):
                self.assertIn(cited, (ROOT / file).read_text(encoding="utf-8"), file)

    def test_every_folder_of_the_architecture_exists(self):
        named = re.findall(r"`((?:compiler|server|client|kernels_cache|proto|tests|deploy)/[\w/.]*)`",
                           (ROOT / "docs/ARCHITECTURE.md").read_text(encoding="utf-8"))
        self.assertEqual([name for name in named if not (ROOT / name).exists()], [])

    def test_no_page_says_todo(self):
        self.assertEqual([str(page.relative_to(ROOT)) for page in markdown()
                          if re.search(r"\b(TODO|FIXME|XXX)\b", page.read_text(encoding="utf-8"))], [])


class Build(unittest.TestCase):
    def test_presets_that_the_documents_name_exist(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        texts = [path.read_text(encoding="utf-8") for path in [*markdown(), *(ROOT / "deploy").glob("*.sh")]]
        for kind, command in (("configurePresets", "cmake"), ("buildPresets", "cmake --build"), ("testPresets", "ctest")):
            names = {preset["name"] for preset in presets[kind]}
            self.assertLessEqual({"release", "debug", "asan-ubsan", "tsan"}, names, kind)
            used = {name for text in texts for name in re.findall(rf"\b{command} --preset[ =]([a-z-]+)", text)}
            self.assertLessEqual(used, names)
            self.assertIn("release", used)

    def test_packages_are_what_the_build_asks_for(self):
        asked = set()
        for file in [ROOT / "CMakeLists.txt", *ROOT.glob("*/**/CMakeLists.txt")]:
            if file.relative_to(ROOT).parts[0] in ("build", "docs"):  # examples ask for schaas
                continue
            text = file.read_text(encoding="utf-8")
            asked |= set(re.findall(r"find_package\((\w+)", text)) | set(re.findall(r"pkg_check_modules\((\w+)", text))
        asked -= OPTIONAL
        self.assertEqual(sorted(asked - set(PROVIDED_BY)), [], "no Debian package is known for these")
        needed = {PROVIDED_BY[name] for name in asked} | TOOLS
        self.assertEqual(sorted(needed - set(packages())), [], "missing in deploy/packages.txt")
        self.assertEqual(sorted(set(packages()) - needed), [], "in deploy/packages.txt, but nothing asks for it")

    def test_source_lists_name_one_file_a_line(self):
        crowded = []
        for top in ("client", "compiler", "kernels_cache", "server"):
            for file in (ROOT / top).rglob("CMakeLists.txt"):
                crowded += [f"{file.relative_to(ROOT)}: {line.strip()}" for line in file.read_text(encoding="utf-8").splitlines()
                            if len(re.findall(r"\w\.cc\b", line)) > 1]
        self.assertEqual(crowded, [])

    def test_scripts_are_executable(self):
        for script in [*(ROOT / "deploy").rglob("*.sh"), *(ROOT / "deploy").glob("*.py"), ROOT / ".ci/run"]:
            self.assertTrue(os.access(script, os.X_OK), script)
            if script.suffix != ".py":
                subprocess.run(["sh", "-n", script], check=True)


class Commands(unittest.TestCase):
    def setUp(self):
        if BIN is None:
            self.skipTest("no folder with the programs was given")

    def help_of(self, *command):
        done = subprocess.run([BIN / "schaas", *command, "--help"], capture_output=True, text=True, check=True)
        return done.stdout

    def test_every_command_shown_is_one_that_exists(self):
        shown = 0
        for path in (ROOT / "README.md", ROOT / "deploy/quickstart.sh", ROOT / "docs/command_line.md"):
            for command in commands(path):
                words = shlex.split(command)
                names = words[1:3] if words[1] == "cache" else words[1:2]
                text = self.help_of(*names)
                for option in (word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)):
                    self.assertRegex(text, r"(?m)(^|[\s,])" + re.escape(option) + r"($|[\s,])", f"{path.name}: {command}")
                shown += 1
        self.assertGreater(shown, 5)

    def test_every_option_of_the_daemon_is_in_the_manual(self):
        page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
        done = subprocess.run([BIN / "schaasd", "--help"], capture_output=True, text=True, check=True)
        options = re.findall(r"(?m)^\s+(?:-\w,)?(--[a-z0-9-]+)", done.stdout)
        self.assertEqual([option for option in options if not re.search(rf"`{option}[` ]", page)], [])
        self.assertGreater(len(options), 40)

    def test_every_option_is_documented(self):
        page = (ROOT / "docs/command_line.md").read_text(encoding="utf-8")
        for command in (["run"], ["schedule"], ["emit"], ["cache", "list"], ["cache", "show"], ["cache", "verify"], ["info"]):
            for option in re.findall(r"(?m)^\s+(?:-\w,)?(--[a-z0-9-]+)", self.help_of(*command)):
                short = re.search(r"(-\w)," + option, self.help_of(*command))
                names = [option] + ([short.group(1)] if short else [])
                self.assertTrue(any(name in page for name in names), f"{' '.join(command)}: {option}")


if __name__ == "__main__":
    unittest.main()
