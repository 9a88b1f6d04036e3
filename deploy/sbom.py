#!/usr/bin/env python3
"""Writes the bill of materials of a build as CycloneDX 1.5: the Debian packages of the libraries that its programs are linked with.

    deploy/sbom.py BUILD >FILE
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "client/python"))
import bundled_libraries  # noqa: E402

COMPILED = ("bin/schaas", "bin/schaasd", "bin/schaas-solver", "bin/schaas-trial", "lib/libschaas.so.0", "lib/libschaas-remote.so")


def component(package):
    version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], check=True, capture_output=True, text=True).stdout
    return {"type": "library", "name": package, "version": version, "purl": f"pkg:deb/debian/{package}@{version}"}


def main():
    build = pathlib.Path(sys.argv[1])
    version = re.search(r"project\(schaas VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    libraries = bundled_libraries.libraries_of([build / name for name in COMPILED])
    components = [component(package) for package in sorted(bundled_libraries.packages_of(libraries.values()))]
    json.dump({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
               "metadata": {"component": {"type": "application", "name": "schaas", "version": version, "licenses": [{"license": {"id": "Apache-2.0"}}]}},
               "components": components}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
