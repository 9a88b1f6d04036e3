"""An installation in a folder of its own: programs in C and C++ that find it by pkg-config and by CMake, Python, the program."""

import re
import sys
import unittest

import with_server
from installed import Installation, run

BUILD = with_server.PROGRAMS.parent
CPP = """
#include <cmath>
#include <cstdio>
#include <schaas/schaas.hpp>
int main() {
  double values[] = {1, 2, 3}, vector[] = {1, 10, 100};
  std::int32_t pos[] = {0, 2, 2, 3}, crd[] = {0, 2, 1}, order[] = {0, 1};
  std::int64_t extents[] = {3, 3};
  const schaas_level csr[] = {{SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, 3}, {SCHAAS_LEVEL_COMPRESSED, 32, pos, crd, 3}};
  const schaas_level dense[] = {{SCHAAS_LEVEL_DENSE, 0, nullptr, nullptr, 3}};
  const schaas_tensor b{2, SCHAAS_F64, extents, order, csr, values}, x{1, SCHAAS_F64, extents, order, dense, vector};
  const schaas::Session session;
  const schaas::Kernels kernels(session, {"y(i) = B(i,j) * x(j)", {{"B", "csr"}}});
  auto product = kernels.bind({{"B", &b}, {"x", &x}});
  product.run();
  const auto* y = static_cast<const double*>(product.result()->values);
  std::printf("%g %g %g\\n", y[0], y[1], y[2]);
  const auto paths = schaas::Storage::pack("P", {2, 2}, {{0, 1}, {1, 0}}, {0, 5}, "csr", INFINITY);
  const auto all = schaas::Storage::convert("P", paths.tensor(), "dense", paths.fill_value());
  const auto* p = static_cast<const double*>(all.tensor().values);
  std::printf("%g %g %g %g\\n", p[0], p[1], p[2], p[3]);
  try {
    schaas::Kernels(session, {"y(i) = B(i,j"});
  } catch (const schaas::Error& error) {
    std::printf("%d %s\\n", error.status(), error.code().c_str());
  }
}
"""
CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(uses_schaas LANGUAGES CXX)
find_package(schaas 0.1 REQUIRED)
add_executable(uses main.cc)
target_compile_features(uses PRIVATE cxx_std_20)
target_link_libraries(uses schaas::schaas)
"""


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Installation(cls)
        cls.folder, cls.root = cls.place.folder, cls.place.root
        run("cmake", "--install", BUILD, "--prefix", cls.root)
        cls.library = next(cls.root.glob("lib*/**/libschaas.so.0")).parent
        with_server.PROGRAMS = cls.root / "bin"  # the daemon that was installed
        cls.clean = cls.place.with_(SCHAAS_SERVER=with_server.daemon().address, LD_LIBRARY_PATH=cls.library)
        (cls.folder / "main.cc").write_text(CPP)
        (cls.folder / "CMakeLists.txt").write_text(CMAKE)

    def test_cpp_by_cmake(self):
        run("cmake", "-S", self.folder, "-B", self.folder / "cmake", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.root}")
        run("cmake", "--build", self.folder / "cmake")
        self.assertEqual(run(self.folder / "cmake/uses", env=self.clean), "201 0 30\ninf 0 5 inf\n2 syntax\n")

    def test_c_by_pkg_config(self):
        text = (self.library / "pkgconfig/schaas.pc").read_text()
        prefix = re.search(r"^prefix=(.*)$", text, re.MULTILINE).group(1)
        (self.folder / "pc").mkdir()
        (self.folder / "pc/schaas.pc").write_text(text.replace(prefix, str(self.root)))  # --prefix moves what configuration fixed
        flags = run("pkg-config", "--cflags", "--libs", "schaas", env={**self.clean, "PKG_CONFIG_PATH": str(self.folder / "pc")}).split()
        run("cc", "-std=c11", with_server.ROOT / "tests/python/c_program.c", "-o", self.folder / "from_c", *flags)
        self.assertEqual(run(self.folder / "from_c", env=self.clean).splitlines()[:3], ["no sizes", "sizes", "201 0 30 in place"])

    def test_python_and_the_program(self):
        variables = {**self.clean, "PYTHONPATH": str(self.root / "lib/python3/dist-packages")}
        text = "import schaas, numpy; print(schaas.einsum('ij,j->i', numpy.eye(2), numpy.array([3.0, 4.0])))"
        self.assertEqual(run(sys.executable, "-c", text, env=variables, cwd=self.folder), "[3. 4.]\n")
        self.assertIn("schaas", run(self.root / "bin/schaas", "--version"))


if __name__ == "__main__":
    with_server.main()
