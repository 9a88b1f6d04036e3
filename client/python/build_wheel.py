"""The build backend (PEP 517), with nothing but the standard library, so that it works without a network.

A wheel holds the package, libschaas with libschaas-remote and, when they were built, schaasd and the two programs it starts, so that an installed
package needs no other file of the project. SCHAAS_BUILD names the build folder (default: build/release of the tree).
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def _project(key):
    return re.search(rf'^{key} = "(.*)"$', (HERE / "pyproject.toml").read_text(), re.MULTILINE).group(1)


VERSION = _project("version")
INFO = f"schaas-{VERSION}.dist-info"
TAG = f"py3-none-linux_{platform.machine()}"


def _metadata():
    text = (HERE / "pyproject.toml").read_text()
    needs = re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*)\]$", text, re.MULTILINE).group(1))
    return "\n".join(["Metadata-Version: 2.1", "Name: schaas", f"Version: {VERSION}", f"Summary: {_project('description')}",
                      f"Requires-Python: {_project('requires-python')}", *(f"Requires-Dist: {need}" for need in needs), ""])


def _native():
    """(path in the wheel, file) of what was compiled."""
    build = pathlib.Path(os.environ.get("SCHAAS_BUILD", HERE.parents[1] / "build" / "release"))
    for name in ("libschaas.so.0", f"libschaas-remote.so.{VERSION}"):
        library = build / "lib" / name
        if not library.exists():
            raise SystemExit(f"{library} is missing: build the target schaas_c first, or set SCHAAS_BUILD to the build folder")
        yield f"schaas/_lib/{name}", library.resolve()
    for program in ("schaasd", "schaas-solver", "schaas-trial", "schaas-nvrtc"):
        if (build / "bin" / program).exists():
            yield f"schaas/_lib/{program}", build / "bin" / program


def _files():
    for path in sorted((HERE / "schaas").glob("*.py")):
        yield f"schaas/{path.name}", path
    yield from _native()


def _write(folder, files):
    name = f"schaas-{VERSION}-{TAG}.whl"
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


def _wheel_text():
    return f"Wheel-Version: 1.0\nGenerator: schaas\nRoot-Is-Purelib: false\nTag: {TAG}\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = [(inside, path.read_bytes(), 0o755 if "_lib/" in inside else 0o644) for inside, path in _files()]
    files += [(f"{INFO}/METADATA", _metadata().encode(), 0o644), (f"{INFO}/WHEEL", _wheel_text().encode(), 0o644)]
    return _write(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e`: the tree itself is the package; its build is used."""
    files = [("schaas.pth", f"{HERE}\n".encode(), 0o644), (f"{INFO}/METADATA", _metadata().encode(), 0o644),
             (f"{INFO}/WHEEL", _wheel_text().encode(), 0o644)]
    return _write(wheel_directory, files)


if __name__ == "__main__":
    import sys
    print(build_wheel(sys.argv[1] if len(sys.argv) > 1 else "."))
