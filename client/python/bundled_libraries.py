"""The libraries that a wheel brings: those that its programs need and that not every Linux has (PEP 600), under names of their own, so that
a process may hold another copy of each. patchelf writes the names; readelf, ldd and ldconfig say what there is."""

import hashlib
import pathlib
import re
import shutil
import subprocess

# On every Linux with a C++ compiler's runtime; the versions of their symbols give the tag.
OF_THE_SYSTEM = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libutil|libgcc_s|libstdc\+\+)\.so\.\d+$")
# Newest symbols of libstdc++ in a glibc of 2.N (auditwheel's policy).
LIBSTDCXX = ((24, 28), (28, 31), (29, 34), (30, 35), (33, 39))
FOLDER = "libraries"  # beside the programs


def _run(*words):
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout


def _needed(file):
    return _run("patchelf", "--print-needed", file).split()


def libraries_of(files):
    """name -> path of all libraries that the files need, directly or not, but for the system's."""
    found = {}
    for file in files:
        for name, path in re.findall(r"^\s*(\S+) => (\S+) \(", _run("ldd", file), re.MULTILINE):
            if not OF_THE_SYSTEM.match(name):
                found[name] = pathlib.Path(path).resolve()
    return found


def _own_name(name, path):
    stem, _, rest = name.partition(".so")
    return f"{stem}-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}.so{rest}"


def bundle(files):
    """Copies into the folder `libraries` beside the files what they need and has them load it from there. Returns the libraries as they were."""
    for tool in ("patchelf", "readelf", "ldd"):
        if not shutil.which(tool):
            raise SystemExit(f"a portable wheel needs {tool}: apt-get install patchelf binutils")
    folder = files[0].parent / FOLDER
    folder.mkdir()
    found = libraries_of(files)
    names = {name: _own_name(name, path) for name, path in found.items()}
    for name, path in found.items():
        shutil.copy(path, folder / names[name])
        (folder / names[name]).chmod(0o755)
        _load_from(folder / names[name], "$ORIGIN", names)
        _run("patchelf", "--set-soname", names[name], folder / names[name])
    for file in files:
        _load_from(file, f"$ORIGIN/{FOLDER}", names)
    return sorted(found.values())


def _load_from(file, path, names):
    """One change at a time: patchelf 0.14 mixes them up."""
    replaced = [word for name in _needed(file) if name in names for word in ("--replace-needed", name, names[name])]
    if replaced:
        _run("patchelf", *replaced, file)
        _run("patchelf", "--set-rpath", path, file)


def tag(files, machine):
    """The platform of the wheel by the newest symbols that the files ask the system for."""
    newest = {"GLIBC": (2, 17), "GLIBCXX": (3, 4, 24)}
    least = 17
    for file in files:
        for section in re.findall(r"Version needs section.*?(?=\n\n|\Z)", _run("readelf", "--version-info", "--wide", file), re.DOTALL):
            if "GLIBC_ABI_DT_RELR" in section:
                least = 36
            for library, version in re.findall(r"\b(GLIBC|GLIBCXX)_([\d.]+)", section):
                newest[library] = max(newest[library], tuple(map(int, version.split("."))))
    by_libstdcxx = [glibc for symbols, glibc in LIBSTDCXX if newest["GLIBCXX"][2] <= symbols]
    if not by_libstdcxx:
        raise SystemExit(f"no policy is known for GLIBCXX_{'.'.join(map(str, newest['GLIBCXX']))}")
    return f"manylinux_2_{max(least, newest['GLIBC'][1], by_libstdcxx[0])}_{machine}"


def packages_of(libraries):
    """The Debian packages that have these files; none where there is no dpkg."""
    if not shutil.which("dpkg"):
        return set()
    # dpkg knows files of a merged /usr under either name.
    paths = [str(path) for library in libraries for path in (library, pathlib.Path("/", *library.parts[2:]))]
    told = subprocess.run(["dpkg", "-S", *paths], capture_output=True, text=True).stdout
    return {line.split(":")[0] for line in told.splitlines()}


def licences(libraries):
    """(package, its file of copyrights) of libraries that dpkg knows."""
    for package in sorted(packages_of(libraries)):
        text = pathlib.Path("/usr/share/doc") / package / "copyright"
        if text.exists():
            yield package, text
