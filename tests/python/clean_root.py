#!/usr/bin/env python3
"""The Debian packages and the portable wheel in a Debian that has never seen them: debootstrap makes it, apt installs what they ask for, the
program and Python compute in it. By hand, as root, with a Debian mirror in reach; some minutes.

    tests/python/clean_root.py build/release [FOLDER]      FOLDER: of an earlier try; made anew when it is not there
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from installed import end_processes_of

HERE = pathlib.Path(__file__).resolve().parent
# Beside the wheel: Python with what the wheel depends on, and a compiler.
BESIDE_THE_WHEEL = ["python3-venv", "python3-numpy", "python3-scipy", "gcc", "libc6-dev"]
TRY = """
import numpy as np, scipy.sparse as sp, schaas
b, x = sp.random(12, 9, 0.3, format="csr", random_state=3), np.arange(9.0)
assert np.allclose(schaas.einsum("ij,j->i", b, x), b @ x)
print("Python computes:", schaas.__file__)
"""


def run(*words, **options):
    subprocess.run([str(word) for word in words], check=True, **options)


class Root:
    def __init__(self, folder):
        self.folder, self.home = folder, "/root"
        if not (folder / "usr").exists():
            run("debootstrap", "--variant=minbase", "bookworm", folder)
        # The loader looks for libraries beside a program by /proc/self/exe.
        run("mount", "-t", "proc", "proc", folder / "proc")

    def close(self):
        end_processes_of(self.folder)
        run("umount", self.folder / "proc")

    def run(self, *words):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": self.home, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        run("chroot", self.folder, *words, env=environment)

    def install(self, *names):
        self.run("apt-get", "install", "-qq", "-y", "--no-install-recommends", *names)


def main():
    if os.geteuid() != 0:
        sys.exit("SKIP: chroot needs root")
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release").resolve()
    root = Root(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="schaas-clean-")).resolve())
    try:
        try_in(root, build)
    finally:
        root.close()


def try_in(root, build):
    packages = root.folder / "packages"
    packages.mkdir(exist_ok=True)
    for old in packages.iterdir():
        old.unlink()
    run(HERE.parents[1] / "deploy/build-packages.sh", build, packages)
    run(sys.executable, HERE.parents[1] / "client/python/build_wheel.py", packages, "--portable", env={**os.environ, "SCHAAS_BUILD": str(build)})
    inside = sorted(f"/packages/{package.name}" for package in packages.glob("*.deb"))

    root.home = tempfile.mkdtemp(prefix="wheel-", dir=root.folder / "root").removeprefix(str(root.folder))  # a user with nothing yet
    print("== the wheel, with nothing but Python and gcc", flush=True)
    if (root.folder / "usr/bin/schaas").exists():
        root.run("apt-get", "-qq", "remove", "-y", "schaas", "schaas-daemon", "libschaas0", "python3-schaas")
    root.install(*BESIDE_THE_WHEEL)
    run("rm", "-rf", root.folder / "opt/wheel")
    root.run("python3", "-m", "venv", "--system-site-packages", "/opt/wheel")
    root.run("/opt/wheel/bin/pip", "install", "--quiet", "--no-index", "--no-deps", f"/packages/{next(packages.glob('*.whl')).name}")
    root.run("/opt/wheel/bin/python", "-c", TRY)
    root.run("/opt/wheel/bin/schaas", "doctor")

    end_processes_of(root.folder)

    root.home = tempfile.mkdtemp(prefix="packages-", dir=root.folder / "root").removeprefix(str(root.folder))
    print("== the packages", flush=True)
    root.install(*inside)
    root.run("schaas", "run", "A(i,l) = B(i,j) * C(j,k) * D(k,l)", "-f", "B=csr", "-d", "i=40", "-d", "j=30", "-d", "k=8", "-d", "l=8",
             "--verify")
    root.run("python3", "-c", TRY)
    root.run("schaas", "doctor")
    root.run("id", "schaas")
    root.run("test", "-L", "/etc/systemd/system/multi-user.target.wants/schaasd.service")
    print("== programs in C and C++", flush=True)
    root.install("g++", "cmake", "make", "pkg-config")
    examples = "/usr/share/doc/libschaas-dev/examples"
    root.run("sh", "-c", f"gcc -std=c11 {examples}/product.c -o /tmp/product $(pkg-config --cflags --libs schaas) && /tmp/product")
    root.run("cmake", "-S", examples, "-B", "/tmp/examples")
    root.run("cmake", "--build", "/tmp/examples")
    root.run("/tmp/examples/product_cc")
    print("all of it works in", root.folder)


if __name__ == "__main__":
    main()
