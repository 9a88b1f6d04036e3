"""An installation that was moved after cmake --install: programs in C and C++ that find it by pkg-config and by CMake, with gcc and clang,
Python, the daemon, and what lies beside them. Nothing of it is changed here, and no LD_LIBRARY_PATH is set."""

import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import with_server
from installed import Installation, run

BUILD = with_server.PROGRAMS.parent
EXAMPLES = "share/doc/schaas/examples"
FILES = ["bin/schaas", "bin/schaasd", "bin/schaas-solver", "bin/schaas-trial", "include/schaas-0/schaas/schaas.h", "include/schaas-0/schaas/schaas.hpp",
         "include/schaas-0/schaas/views.hpp", "include/schaas-0/proto/kernel_abi.h", "lib/pkgconfig/schaas.pc", "lib/cmake/schaas/schaas-config.cmake",
         "lib/libschaas.so", "lib/libschaas.so.0", "lib/systemd/system/schaasd.service", "lib/sysusers.d/schaas.conf", "share/doc/schaas/LICENSE",
         "share/bash-completion/completions/schaas", "share/schaas/schaasd.toml", "share/schaas/proto/schaas/v1/schaas.proto",
         f"{EXAMPLES}/product.c", f"{EXAMPLES}/product.cc", f"{EXAMPLES}/CMakeLists.txt"]
RESULTS = {"c": "201 0 30\n", "cc": "201 0 30\n205 0 30\n"}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
# Views, storage and errors, of 64-bit positions and float values too.
CASES = r"""
#include <cmath>
#include <cstdio>
#include <schaas/schaas.hpp>
#include <schaas/views.hpp>
#if __has_include(<eigen3/Eigen/SparseCore>)
#include <eigen3/Eigen/SparseCore>
#endif
int main() {
  const schaas::Session session;
  std::vector<float> values = {1, 2, 3};  // [[1 0 2] [0 0 0] [0 3 0]] by columns
  const std::int64_t positions[] = {0, 1, 2, 3}, coordinates[] = {0, 2, 0};
  const std::array<float, 3> vector = {1, 10, 100};
  const float by_columns[] = {1, 3, 2};
  const auto b = schaas::View::csc({3, 3}, positions, coordinates, by_columns);
  schaas::Problem problem{"y(i) = B(i,j) * x(j)", {{"B", "csc"}}};
  problem.value_type = SCHAAS_F32;
  problem.position_bits = 64;
  const schaas::Kernels kernels(session, problem);
  const auto x = schaas::View::dense({3}, vector);
  auto product = kernels.bind({{"B", b}, {"x", x}});
  product.run();
  const auto* y = static_cast<const float*>(product.result()->values);
  std::printf("%g %g %g\n", y[0], y[1], y[2]);
  std::printf("%d %d\n", kernels.frontier().find("\"entries\"") != std::string::npos,
              kernels.tune({{"B", b}, {"x", x}}).find("\"fastest\"") != std::string::npos);
  const auto paths = schaas::Storage::pack("P", {2, 2}, {{0, 1}, {1, 0}}, {0, 5}, "csr", INFINITY);
  const auto all = schaas::Storage::convert("P", paths.tensor(), "dense", paths.fill_value());
  const auto* p = static_cast<const double*>(all.tensor().values);
  std::printf("%g %g %g %g\n", p[0], p[1], p[2], p[3]);
  try {
    schaas::Kernels(session, {"y(i) = B(i,j", {}, {}});
  } catch (const schaas::Error& error) {
    std::printf("%d %s\n", error.status(), error.code().c_str());
  }
  try {
    schaas::View::csr({4, 3}, positions, coordinates, values);
  } catch (const std::invalid_argument& error) {
    std::printf("%s\n", error.what());
  }
#ifdef EIGEN_SPARSECORE_MODULE_H
  Eigen::SparseMatrix<float, Eigen::ColMajor, std::int64_t> matrix(3, 3);
  matrix.insert(0, 0) = 1, matrix.insert(0, 2) = 2, matrix.insert(2, 1) = 3;
  matrix.makeCompressed();
  auto of_eigen = kernels.bind({{"B", schaas::View::eigen_sparse(matrix)}, {"x", x}});
  of_eigen.run();
  y = static_cast<const float*>(of_eigen.result()->values);
  std::printf("%g %g %g\n", y[0], y[1], y[2]);
#else
  std::printf("201 0 30\n");
#endif
}
"""
TOLD_BY_CASES = ["201 0 30", "1 1", "inf 0 5 inf", "2 syntax", "there are 4 positions, the extents ask for 5", "201 0 30"]


def compilers():
    """(C compiler, C++ compiler): gcc, and clang where it is installed."""
    return [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if all(map(shutil.which, pair))]


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Installation(cls)
        cls.folder, cls.root = cls.place.folder, cls.place.root
        cls.first = cls.folder / "installed first"
        run("cmake", "--install", BUILD, "--prefix", cls.first)
        cls.first.rename(cls.root)
        with_server.PROGRAMS = cls.root / "bin"  # the daemon that was installed
        cls.clean = cls.place.with_(SCHAAS_SERVER=with_server.daemon().address, PKG_CONFIG_PATH=cls.root / "lib/pkgconfig")

    def test_it_is_complete(self):
        self.assertEqual([name for name in FILES if not (self.root / name).exists()], [])

    def test_no_file_names_where_it_was_made(self):
        places = [str(place).encode() for place in (self.first, BUILD, with_server.ROOT)]
        unit = self.root / "lib/systemd/system/schaasd.service"
        named = [str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file() and path != unit
                 and any(place in path.read_bytes() for place in places)]
        self.assertEqual(named, [])
        self.assertIn(f"ExecStart={self.first}/bin/schaasd ", unit.read_text())

    def test_programs_by_cmake(self):
        for (c, cpp), standard in zip(compilers(), (17, 20)):
            with self.subTest(compiler=cpp, standard=standard):
                build = self.folder / f"cmake-{cpp}-{standard}"
                run("cmake", "-S", self.root / EXAMPLES, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.root}", f"-DCMAKE_C_COMPILER={c}",
                    f"-DCMAKE_CXX_COMPILER={cpp}", f"-DCMAKE_CXX_STANDARD={standard}")
                run("cmake", "--build", build)
                for language, expected in RESULTS.items():
                    self.assertEqual(run(build / f"product_{language}", env=self.clean), expected)

    def flags(self):
        """As docs/client.md says."""
        told = [run("pkg-config", *words, "schaas", env=self.clean) for words in (["--cflags", "--libs"], ["--variable=libdir"])]
        return [*told[0].split(), f"-Wl,-rpath,{told[1].strip()}"]

    def compile_and_run(self, compiler, standard, source, name):
        program = self.folder / name
        run(compiler, f"-std={standard}", *WARNINGS, source, "-o", program, *self.flags())
        return run(program, env=self.clean)

    def test_programs_by_pkg_config(self):
        for c, cpp in compilers():
            for compiler, standard, language in ((c, "c11", "c"), (cpp, "c++17", "cc"), (cpp, "c++20", "cc")):
                with self.subTest(compiler=compiler, standard=standard):
                    told = self.compile_and_run(compiler, standard, self.root / EXAMPLES / f"product.{language}", f"pc-{compiler}-{standard}")
                    self.assertEqual(told, RESULTS[language])

    def test_views_storage_and_errors(self):
        source = self.folder / "cases.cc"
        source.write_text(CASES)
        for (_, cpp), standard in zip(compilers(), ("c++17", "c++20")):
            with self.subTest(compiler=cpp, standard=standard):
                self.assertEqual(self.compile_and_run(cpp, standard, source, f"cases-{cpp}-{standard}").splitlines(), TOLD_BY_CASES)

    def test_versions_of_other_interfaces_are_refused(self):
        source = self.folder / "newer"
        source.mkdir()
        text = (self.root / EXAMPLES / "CMakeLists.txt").read_text()
        (source / "CMakeLists.txt").write_text(text.replace("find_package(schaas 0.1 ", "find_package(schaas 0.2 "))
        done = subprocess.run(["cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.root}"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("version: 0.1.0", done.stderr)

    def test_python_and_the_program(self):
        variables = {**self.clean, "PYTHONPATH": str(self.root / "lib/python3/dist-packages")}
        text = "import schaas, numpy; print(schaas.einsum('ij,j->i', numpy.eye(2), numpy.array([3.0, 4.0])))"
        self.assertEqual(run(sys.executable, "-c", text, env=variables, cwd=self.folder), "[3. 4.]\n")
        self.assertIn("schaas", run(self.root / "bin/schaas", "--version", env=self.clean))

    def test_a_private_server_is_the_installed_one(self):
        alone = {name: value for name, value in self.clean.items() if name != "SCHAAS_SERVER"}
        self.assertEqual(self.compile_and_run("gcc", "c11", self.root / EXAMPLES / "product.c", "private"), RESULTS["c"])
        self.assertEqual(run(self.folder / "private", env={**alone, "PATH": "/usr/bin:/bin"}), RESULTS["c"])
        self.assertTrue(any(self.runs(process) for process in pathlib.Path("/proc").glob("[0-9]*")))

    def runs(self, process):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            return words[0].decode().startswith(str(self.root)) and b"--private" in words
        except OSError:
            return False

    def test_completion_and_protocol(self):
        completions = self.root / "share/bash-completion/completions/schaas"
        told = run("bash", "-c", f". '{completions}'; COMP_WORDS=(schaas sch); COMP_CWORD=1; _schaas; echo \"${{COMPREPLY[@]}}\"", env=self.clean)
        self.assertEqual(told, "schedule\n")
        run("protoc", "-I", self.root / "share/schaas/proto", "--descriptor_set_out", self.folder / "descriptors", "schaas/v1/schaas.proto",
            "schaas/v1/jobs.proto", "schaas/v1/admin.proto", "schaas/v1/bundle.proto")

    @unittest.skipUnless(shutil.which("help2man"), "no help2man was there to make manual pages")
    def test_there_is_a_manual_page_of_each_command(self):
        commands = re.findall(r"^  ([a-z]+)  +\S", run(self.root / "bin/schaas", "--help", env=self.clean).split("Subcommands:")[1], re.MULTILINE)
        pages = sorted(path.stem for path in (self.root / "share/man/man1").iterdir())
        self.assertEqual(pages, sorted(["schaas", "schaasd", *(f"schaas-{command}" for command in commands)]))
        self.assertIn(r"\fB\-\-verify\fR", (self.root / "share/man/man1/schaas-run.1").read_text())


if __name__ == "__main__":
    with_server.main()
