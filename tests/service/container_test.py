#!/usr/bin/env python3
"""The image of deploy/docker, built without an engine, and the daemon in it, asked by a client outside.

    container_test.py BIN            BIN: folder with the programs, of which the client is used; builds the image: all of schaas is compiled
    container_test.py BIN STORE      STORE: folder of buildah's that has the image `schaas` already

Needs root, buildah and debootstrap, whose Debian stands for the images that the Dockerfile begins with; else it is skipped.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import schaas_program as program

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "deploy" / "docker" / "Dockerfile"
BIN = pathlib.Path(sys.argv[1])
STORE = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None


def buildah(store, *words, **how):
    command = ["buildah", "--root", store / "images", "--runroot", store / "run", "--storage-driver", "vfs", *words]
    return subprocess.run(list(map(str, command)), check=True, text=True, stdout=subprocess.PIPE, **how).stdout.strip()


def import_base(store):
    """Debian as debootstrap installs it, under the names of the Dockerfile."""
    names = [name for name in re.findall(r"^FROM (\S+)", DOCKERFILE.read_text(), re.MULTILINE)]
    subprocess.run(["debootstrap", "--variant=minbase", "bookworm", store / "base"], check=True, stdout=subprocess.DEVNULL)
    container = buildah(store, "from", "scratch")
    buildah(store, "add", "-q", container, store / "base", "/")
    for name in names:
        buildah(store, "commit", "-q", container, f"localhost/{name}")
    buildah(store, "rm", container)
    shutil.rmtree(store / "base")


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="schaas-container-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.store = STORE or cls.folder
        if STORE is None:
            import_base(cls.store)
            buildah(cls.store, "bud", "--isolation", "chroot", "--pull-never", "-f", DOCKERFILE, "-t", "schaas", ROOT)
        cls.container = buildah(cls.store, "from", "--pull-never", "localhost/schaas")
        cls.addClassCleanup(buildah, cls.store, "rm", cls.container)
        cls.settings = json.loads(buildah(cls.store, "inspect", "--type", "image", "localhost/schaas"))["OCIv1"]["config"]
        cls.sockets = cls.folder / "sockets"
        cls.sockets.mkdir()
        owner = int(re.search(r"useradd --uid (\d+)", DOCKERFILE.read_text()).group(1))
        os.chown(cls.sockets, owner, owner)  # as compose.yaml says
        cls.daemon = subprocess.Popen(
            list(map(str, ["buildah", "--root", cls.store / "images", "--runroot", cls.store / "run", "--storage-driver", "vfs", "run", "--isolation", "chroot",
                           "--user", cls.settings["User"], "-v", f"{cls.sockets}:/run/schaas", cls.container, "--",
                           *cls.settings["Entrypoint"], *cls.settings["Cmd"]])),
            stdout=subprocess.PIPE, stderr=open(cls.folder / "log", "wb"), text=True)
        cls.addClassCleanup(cls.end)
        line = cls.daemon.stdout.readline()
        assert line == "listening on unix:/run/schaas/schaasd.sock\n", line + (cls.folder / "log").read_text()

    @classmethod
    def end(cls):
        if cls.daemon.poll() is None:
            cls.daemon.terminate()
        cls.daemon.wait(timeout=60)
        cls.daemon.stdout.close()

    def client(self, *words):
        done = program.run(BIN, *words, "--json", server=f"unix:{self.sockets}/schaasd.sock",
                           environment={"XDG_CONFIG_HOME": str(self.folder / "config")})
        self.assertEqual(done.returncode, 0, done.stderr + (self.folder / "log").read_text())
        return program.one_object(done.stdout)

    def test_computes_what_a_client_outside_asks_for(self):
        done = self.client("run", "A(i,k) = B(i,j) * C(j,k)", "-f", "B=csr", "-d", "i=40", "-d", "j=30", "-d", "k=8", "--verify")
        self.assertTrue(done["verify"]["passed"], done["verify"])
        self.assertGreater(done["server"]["compiled"], 0)

    def test_is_healthy_as_it_says_itself(self):
        check = self.settings.get("Healthcheck", {}).get("Test") or re.search(r"^HEALTHCHECK .*CMD (\[.*\])", DOCKERFILE.read_text(), re.MULTILINE).group(1)
        words = json.loads(check) if isinstance(check, str) else check[1:]
        told = buildah(self.store, "run", "--isolation", "chroot", "--user", self.settings["User"], "-v", f"{self.sockets}:/run/schaas",
                       self.container, "--", *words)
        self.assertIn("version", told)

    def test_belongs_to_a_user_of_its_own(self):
        inside = lambda *words: buildah(self.store, "run", "--isolation", "chroot", "--user", self.settings["User"], self.container, "--", *words)
        self.assertNotEqual(inside("id", "-u"), "0")
        self.assertEqual(inside("stat", "-c", "%a %U", "/var/lib/schaas"), "700 schaas")
        self.assertEqual((self.sockets / "schaasd.sock").stat().st_mode & 0o777, 0o600)

    def test_takes_the_configuration_it_has(self):
        told = buildah(self.store, "run", "--isolation", "chroot", "--user", self.settings["User"], self.container, "--",
                       *self.settings["Entrypoint"], "--check-config")
        self.assertIn("right", told)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: not root")
        sys.exit(77)
    for tool in ("buildah", "debootstrap"):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool}")
            sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
