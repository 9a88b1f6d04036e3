#!/usr/bin/env python3
"""The proxy that deploy/nginx configures: clients pass it, and attacks on headers and streams do not reach the daemon's memory.

    proxy_test.py BIN      BIN: folder with the programs; exit status 77 where nginx is not installed
"""

import pathlib
import shutil
import stat
import sys
import tempfile
import time
import unittest

import attacked_daemon
import attackers
import schaas_program as program

BIN = pathlib.Path(sys.argv.pop(1)).resolve()
MAX_GROWTH = 48  # MiB of the daemon in one attack
ATTACKS = ["header_references", "small_header_references", "endless_headers", "rapid_resets", "resets_of_calls", "pings", "settings"]


class ProxyInFront(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="schaas-proxy-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.token = cls.folder / "token"
        cls.token.touch(stat.S_IRUSR | stat.S_IWUSR)
        words, lines = attacked_daemon.tokens(BIN, ["someone"])
        cls.token.write_text(words["someone"] + "\n")
        cls.daemon = attacked_daemon.Daemon(BIN, tokens=lines)
        cls.addClassCleanup(cls.daemon.close)
        cls.proxy = attacked_daemon.Proxy(cls.folder, cls.daemon.local)
        cls.addClassCleanup(cls.proxy.close)
        cls.target = attackers.Target(cls.proxy.address, tls=True)

    def schaas(self, *words, token=True):
        return program.run(BIN, *words, "--tls-ca", self.proxy.certificate, *(["--token-file", self.token] if token else []), server=self.proxy.address,
                           environment={"XDG_CONFIG_HOME": str(self.folder / "configuration")})

    def test_clients_pass_it(self):
        done = self.schaas("schedule", "y(i) = B(i,j) * x(j)", "-f", "B=csr")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_client_without_a_token_is_refused(self):
        done = self.schaas("info", token=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no-token", done.stderr)

    def test_other_paths_are_refused(self):
        one = attackers.Frames(self.target)
        one.send(one.call(1, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", b""))
        self.assertIn(b"404", one.finish(1))
        one.close()

    def attack(self, name):
        """The daemon's memory that an attack of three seconds took, in MiB; `schaas info` is answered soon after."""
        self.daemon.reset_peak()
        before = self.daemon.memory()
        attackers.attack(name, self.target, 3)
        grown = self.daemon.memory("VmHWM") - before
        for _ in range(20):
            if self.schaas("info").returncode == 0:
                return grown
            time.sleep(0.5)
        self.fail(f"no answer after {name}")

    def test_attacks_take_no_memory_of_the_daemon(self):
        for name in ATTACKS:
            with self.subTest(name):
                grown = self.attack(name)
                print(f"{name}: {grown:.0f} MiB", flush=True)
                self.assertLess(grown, MAX_GROWTH)


if __name__ == "__main__":
    if not attacked_daemon.NGINX:
        print("SKIP: nginx is not installed")
        sys.exit(77)
    unittest.main()
