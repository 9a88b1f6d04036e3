# spack repo add deploy/spack && spack dev-build schaas@main      (in a clone)
from spack.package import *


class Schaas(CMakePackage):
    """Scheduling as a service for sparse tensor algebra: searches all loop nests of a product of sparse and dense tensors, compiles those
    that can be fastest, and runs the best for the sizes at hand."""

    license("Apache-2.0")

    version("main")
    version("0.1.0")

    variant("python", default=True, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build")
    # libschaas-remote has gRPC inside, from its static libraries.
    depends_on("grpc~shared cxxstd=17")
    depends_on("protobuf")
    depends_on("z3")
    depends_on("sqlite@3.37:")
    depends_on("jemalloc")
    depends_on("spdlog")
    depends_on("cli11")
    depends_on("cpp-httplib")
    depends_on("nlohmann-json")
    depends_on("openssl@3:")
    depends_on("zlib-api")
    depends_on("bzip2")
    depends_on("xz")
    depends_on("gmp")
    # Kernels are compiled where the daemon runs.
    depends_on("gcc", type="run")

    extends("python", when="+python")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-numpy@1.22:", type="run", when="+python")
    depends_on("py-scipy@1.8:", type="run", when="+python")

    generator("ninja")

    def cmake_args(self):
        return [self.define("SCHAAS_TESTS", False), self.define("SCHAAS_UNITY", True)]

    def setup_run_environment(self, env):
        if self.spec.satisfies("+python"):
            env.prepend_path("PYTHONPATH", join_path(self.prefix.lib, "python3", "dist-packages"))
