"""What a release publishes has one version, and what forges and package managers read says what the tree has."""

import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(schaas VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
# Packages of deploy/packages.txt under Spack's names; the others are of tests or of Debian alone.
OF_SPACK = {"cmake": "cmake", "ninja-build": "ninja", "pkg-config": "pkgconfig", "help2man": "help2man", "libgrpc++-dev": "grpc", "libprotobuf-dev": "protobuf",
            "libz3-dev": "z3", "libsqlite3-dev": "sqlite", "libjemalloc-dev": "jemalloc", "libspdlog-dev": "spdlog", "libcli11-dev": "cli11",
            "libcpp-httplib-dev": "cpp-httplib", "nlohmann-json3-dev": "nlohmann-json", "libssl-dev": "openssl", "zlib1g-dev": "zlib-api", "libbz2-dev": "bzip2",
            "liblzma-dev": "xz", "libgmp-dev": "gmp", "python3": "python", "python3-numpy": "py-numpy", "python3-scipy": "py-scipy"}
NOT_BUILT_FROM = {"g++", "protobuf-compiler", "protobuf-compiler-grpc", "libgtest-dev", "libgmock-dev"}
NOT_OF_DEBIAN_BUILDS = {"libgtest-dev", "libgmock-dev", "python3-numpy", "python3-scipy"}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def packages():
    return {line.strip() for line in read("deploy/packages.txt").splitlines() if line.strip() and not line.startswith("#")}


class Release(unittest.TestCase):
    def test_has_one_version(self):
        found = {"client/python/pyproject.toml": r'(?m)^version = "(.*)"$', "CITATION.cff": r"(?m)^version: (.*)$",
                 "deploy/debian/changelog": r"\Aschaas \(([\d.]+)-\d+\)", "deploy/spack/packages/schaas/package.py": r'version\("(\d.*)"\)',
                 "deploy/conda/meta.yaml": r'set version = "(.*)"'}
        self.assertEqual({name: re.search(pattern, read(name)).group(1) for name, pattern in found.items()}, dict.fromkeys(found, VERSION))

    def test_changelog_says_what_is_new(self):
        self.assertRegex(read("CHANGELOG.md"), rf"(?m)^## \[(Unreleased|{re.escape(VERSION)})\]")

    def test_debian_packages_are_built_with_what_the_build_needs(self):
        needed = re.search(r"Build-Depends: ((?:.|\n )*)", read("deploy/debian/control")).group(1)
        self.assertEqual(packages() - NOT_OF_DEBIAN_BUILDS - set(re.split(r"[\s,]+", needed)), set())

    def test_spack_recipe_has_the_same_dependencies(self):
        recipe = read("deploy/spack/packages/schaas/package.py")
        compile(recipe, "package.py", "exec")
        named = set(re.findall(r'depends_on\("([a-z0-9-]+)', recipe))
        self.assertEqual({OF_SPACK[name] for name in packages() - NOT_BUILT_FROM} - named, set())

    def test_python_dependencies_are_told_alike(self):
        wanted = set(re.findall(r'"(numpy|scipy)>=([\d.]+)"', read("client/python/pyproject.toml")))
        self.assertEqual(set(re.findall(r"(numpy|scipy) >=([\d.]+)", read("deploy/conda/meta.yaml"))), wanted)
        self.assertEqual(set(re.findall(r"py-(numpy|scipy)@([\d.]+):", read("deploy/spack/packages/schaas/package.py"))), wanted)

    def test_refuses_what_is_not_committed_or_not_told(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder) / "tree"
            (tree / "deploy").mkdir(parents=True)
            (tree / "deploy/release.sh").write_text(read("deploy/release.sh"))
            (tree / "CMakeLists.txt").write_text(f"project(schaas VERSION {VERSION}\n")
            (tree / "CHANGELOG.md").write_text("## [Unreleased]\n")
            for words in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "m"]):
                subprocess.run(["git", *words], cwd=tree, check=True)
            command = ["sh", "deploy/release.sh", f"{folder}/out"]
            done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (1, f"release: CHANGELOG.md has no section [{VERSION}]\n"))
            (tree / "new").write_text("")
            done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (1, "release: there are uncommitted changes\n"))


class Forges(unittest.TestCase):
    def test_both_run_the_two_commands(self):
        for name in (".github/workflows/ci.yml", ".gitlab-ci.yml"):
            for command in ("deploy/test.sh", "deploy/quickstart.sh"):
                self.assertIn(command, read(name), name)

    def test_forms_ask_for_the_same(self):
        forms = {"wrong_result": "Wrong_result", "slow": "Slow"}
        for form, template in forms.items():
            for text in (read(f".github/ISSUE_TEMPLATE/{form}.yml"), read(f".gitlab/issue_templates/{template}.md")):
                self.assertIn("Output of `schaas doctor`", text)

    def test_files_are_yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("there is no python3-yaml")
        for path in [*(ROOT / ".github").rglob("*.yml"), ROOT / ".gitlab-ci.yml", ROOT / "CITATION.cff", ROOT / "deploy/docker/compose.yaml", ROOT / "deploy/spack/repo.yaml"]:
            self.assertIsInstance(yaml.safe_load(path.read_text()), dict, path)


if __name__ == "__main__":
    unittest.main(argv=["release_test"])
