"""The build backend (PEP 517), with nothing but the standard library, so that it works without a network.

A wheel holds the package, libschaas with libschaas-remote, schaasd and the programs it starts, and the program schaas. It is for the system that it
is built on, and its tag says so. A portable one also brings the libraries that these need (bundled_libraries.py) and asks for no package of the
system, but for a C compiler where the daemon is to compile:

    python3 client/python/build_wheel.py FOLDER [--portable]       pip wheel client/python -C portable=1

SCHAAS_BUILD names the build folder (default: build/release of the tree, built first when there is none).
"""

import base64
import hashlib
import io
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import bundled_libraries  # noqa: E402  beside this file

ROOT = HERE.parents[1]
SDIST = ["CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md", "CHANGELOG.md", "client", "compiler", "deploy", "docs", "kernels_cache", "proto", "server"]
PROGRAMS = ("schaas", "schaasd", "schaas-solver", "schaas-trial", "schaas-nvrtc")
# Starts the program of the package without importing it, which would load numpy. pip writes the interpreter into the first line.
SCRIPT = """#!python
import importlib.util
import os
import sys

program = os.path.join(os.path.dirname(importlib.util.find_spec("schaas").origin), "_lib", "schaas")
os.execv(program, [program, *sys.argv[1:]])
"""


def _project():
    """The lines `key = "text"` and `key = [texts]` of pyproject.toml."""
    told = {}
    for key, text, several in re.findall(r'^([a-z-]+) = (?:"(.*)"|\[([^]]*)\])$', (HERE / "pyproject.toml").read_text(), re.MULTILINE):
        told[key] = re.findall(r'"([^"]+)"', several) if several else text
    return told


PROJECT = _project()
VERSION = PROJECT["version"]
INFO = f"schaas-{VERSION}.dist-info"


def _metadata():
    head = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {VERSION}", f"Summary: {PROJECT['description']}",
            f"Author: {PROJECT['author']}", f"License: {PROJECT['license-expression']}", "License-File: LICENSE", f"Keywords: {','.join(PROJECT['keywords'])}",
            *(f"Classifier: {line}" for line in PROJECT["classifiers"]), f"Requires-Python: {PROJECT['requires-python']}",
            *(f"Requires-Dist: {need}" for need in PROJECT["dependencies"]), "Description-Content-Type: text/markdown", "", ""]
    return "\n".join(head) + (ROOT / "README.md").read_text()


def _build_folder():
    build = pathlib.Path(os.environ.get("SCHAAS_BUILD", ROOT / "build" / "release"))
    if not (build / "bin" / "schaasd").exists():
        if "SCHAAS_BUILD" in os.environ:
            raise SystemExit(f"{build}/bin/schaasd is missing: build the product there first (docs/CONTRIBUTING.md)")
        for words in (["--preset", "product"], ["--build", "--preset", "product"]):
            subprocess.run(["cmake", *words], cwd=ROOT, check=True)
    return build


def _copy_compiled(folder):
    """What was compiled, in one folder. libschaas looks for its daemon beside itself, and the daemon for what it starts."""
    build = _build_folder()
    files = [build / "lib" / "libschaas.so.0", build / "lib" / f"libschaas-remote.so.{VERSION}", *(build / "bin" / name for name in PROGRAMS)]
    for file in files:
        shutil.copy(file, folder / file.name)
        (folder / file.name).chmod(0o755)
    return [folder / file.name for file in files]


def _package():
    """(path in the wheel, content, mode) of the package itself."""
    for path in sorted((HERE / "schaas").iterdir()):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            yield f"schaas/{path.name}", path.read_bytes(), 0o644


def _information(tag):
    yield f"{INFO}/METADATA", _metadata().encode(), 0o644
    yield f"{INFO}/WHEEL", f"Wheel-Version: 1.0\nGenerator: schaas\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode(), 0o644
    yield f"{INFO}/LICENSE", (ROOT / "LICENSE").read_bytes(), 0o644


def _write(folder, tag, files):
    name = f"schaas-{VERSION}-py3-none-{tag}.whl"
    record = []
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for inside, data, mode in files:
            entry = zipfile.ZipInfo(inside, (2020, 1, 1, 0, 0, 0))  # the same tree gives the same wheel
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{inside},sha256={digest},{len(data)}")
        record.append(f"{INFO}/RECORD,,")
        wheel.writestr(f"{INFO}/RECORD", "\n".join(record) + "\n")
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        compiled = _copy_compiled(folder)
        tag, notices = f"linux_{platform.machine()}", []
        if (config_settings or {}).get("portable"):
            notices = list(bundled_libraries.licences(bundled_libraries.bundle(compiled)))
            tag = bundled_libraries.tag([path for path in folder.rglob("*") if path.is_file()], platform.machine())
        files = [*_package(),
                 *((f"schaas/_lib/{path.relative_to(folder)}", path.read_bytes(), 0o755) for path in sorted(folder.rglob("*")) if path.is_file()),
                 (f"schaas-{VERSION}.data/scripts/schaas", SCRIPT.encode(), 0o755), *_information(tag),
                 *((f"{INFO}/licences/{package}", text.read_bytes(), 0o644) for package, text in notices)]
        return _write(wheel_directory, tag, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e`: the tree itself is the package; its build is used."""
    tag = f"linux_{platform.machine()}"
    return _write(wheel_directory, tag, [("schaas.pth", f"{HERE}\n".encode(), 0o644), *_information(tag)])


def build_sdist(sdist_directory, config_settings=None):
    """All that the product is built from; `pip install` of it compiles, with the packages of deploy/packages.txt."""
    name = f"schaas-{VERSION}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{name}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for top in SDIST:
            archive.add(ROOT / top, f"{name}/{top}", filter=lambda entry: None if "__pycache__" in entry.name else entry)
        described = (HERE / "pyproject.toml").read_text().replace('backend-path = ["."]', 'backend-path = ["client/python"]')
        for inside, text in (("pyproject.toml", described), ("PKG-INFO", _metadata())):
            entry = tarfile.TarInfo(f"{name}/{inside}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return f"{name}.tar.gz"


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--portable"]
    print(build_wheel(words[0] if words else ".", {"portable": "--portable" in sys.argv}))
