#!/usr/bin/env python3
"""Servers and workers that share a PostgreSQL database: fleet_test.py BIN [TEST]. Exits with 77 where it is not installed."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request

import fleet
import postgres

MATRIX = "A(i,k) = B(i,j) * C(j,k)"


class Fleet(unittest.TestCase):
    programs = None

    def setUp(self):
        self.fleet = fleet.Fleet(self.programs)
        self.addCleanup(self.fleet.close)

    def schedule(self, expression, server):
        done = self.fleet.schaas("schedule", expression, "-f", "B=csr", server=server)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def ask_to_run(self, expression, server, *options):
        matrix = self.fleet.folder / "matrix.mtx"
        matrix.write_text("%%MatrixMarket matrix coordinate real general\n3 4 2\n1 2 0.5\n3 4 -2\n")
        return self.fleet.schaas("run", expression, "-f", "B=csr", "-t", f"B={matrix}", "--verify", *options, server=server)

    def run_kernel(self, server):
        """Searches, compiles and runs."""
        done = self.ask_to_run(MATRIX, server, "-d", "k=5")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_answers_of_one_server_are_those_of_the_others(self):
        one, two = self.fleet.server("one"), self.fleet.server("two")
        self.run_kernel(one.address)
        made = one.metrics('schaas_kernels_total{answer="made"')
        self.assertGreater(made, 0)
        self.run_kernel(two.address)
        self.assertEqual(two.metrics('schaas_frontiers_total{answer="made"'), 0)
        self.assertEqual(two.metrics('schaas_kernels_total{answer="made"'), 0)
        self.assertEqual(self.fleet.ask("SELECT count(*) FROM kernel WHERE NOT EXISTS (SELECT 1 FROM binary_content "
                                        "WHERE binary_content.sha256 = kernel.sha256)"), "0")

    def test_equal_questions_at_once_are_worked_on_once(self):
        servers = [self.fleet.server(name) for name in ("one", "two", "three")]
        threads = [threading.Thread(target=self.run_kernel, args=(server.address,)) for server in servers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # A search in parts, for the first kernels, may be made beside the whole one.
        self.assertEqual(self.fleet.ask("SELECT count(*) FROM frontier"), "1")

        def kernels():
            return [int(self.fleet.ask("SELECT count(*) FROM kernel")),
                    sum(server.metrics('schaas_kernels_total{answer="made"') for server in servers)]

        # A run ends with its first kernel; a full one may be stored between the two questions.
        deadline = time.monotonic() + 60
        while (stored_and_made := kernels())[0] != stored_and_made[1] and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertEqual(*stored_and_made)

    def test_a_client_goes_on_at_the_next_address(self):
        one, two = self.fleet.server("one"), self.fleet.server("two")
        both = f"{one.address},{two.address}"
        for killed in (one, two):
            killed.kill()
            self.schedule(MATRIX, both)
            killed.start()
            killed.wait_ready()

    def test_workers_take_the_items_of_jobs_and_end(self):
        one = self.fleet.server("one")
        job = self.fleet.precompute(one.address, 6)
        workers = [self.fleet.worker(name, "--idle-seconds", "3") for name in ("w1", "w2")]
        watched = self.fleet.schaas("watch", job, server=one.address)
        self.assertEqual(watched.returncode, 0, watched.stderr + watched.stdout)
        self.assertEqual([worker.process.wait(timeout=60) for worker in workers], [0, 0])
        self.assertEqual(self.fleet.ask("SELECT state, count(*) FROM item GROUP BY state"), "done|6")
        self.assertEqual(self.fleet.ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), "0")

    def test_items_for_another_processor_wait_for_it(self):
        one = self.fleet.server("one")
        self.fleet.precompute(one.address, 3)
        self.assertRegex(self.fleet.ask("SELECT DISTINCT isa FROM item"), "^[a-z0-9-]+$")
        self.fleet.ask("UPDATE item SET isa = 'native:00000000' WHERE number = 0")
        self.fleet.worker("worker")
        done = "SELECT string_agg(number::text, ' ' ORDER BY number) FROM item WHERE state = 'done'"
        self.assertEqual(self.fleet.wait_for(done, "1 2", 120), "1 2")
        self.assertEqual(self.fleet.ask("SELECT state FROM item WHERE number = 0"), "waiting")
        self.fleet.ask("UPDATE item SET isa = 'generic' WHERE number = 0; NOTIFY schaas_items")
        self.assertEqual(self.fleet.wait_for(done, "0 1 2", 120), "0 1 2")

    def with_names(self, *names):
        """The words before a command for which each name has two machines, 127.0.0.7 and 127.0.0.8."""
        hosts = self.fleet.folder / "hosts"
        hosts.write_text("127.0.0.1 localhost\n" + "".join(f"127.0.0.{n} {' '.join(names)}\n" for n in (7, 8)))
        words = ["unshare", "-m", "sh", "-c", f'mount --bind {hosts} /etc/hosts && exec "$@"', "sh"]
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no name can be made here: mounting needs root")
        return words

    def two_machines(self, *options):
        """Servers at one port of both machines; returns them, the port, and the key that clients are to expect."""
        with socket.socket() as free:
            free.bind(("127.0.0.7", 0))
            port = free.getsockname()[1]
        servers = [self.fleet.server(f"n{n}", "--items", "0", "--listen", f"127.0.0.{n}:{port}", *options) for n in (7, 8)]
        return servers, port, self.fleet.ask("SELECT public_key FROM fleet")

    def info(self, before, *options):
        return subprocess.run([*before, self.programs / "schaas", "info", *options], capture_output=True, text=True, timeout=60,
                              check=False, env={**os.environ, "XDG_CONFIG_HOME": str(self.fleet.folder / "config")})

    def check_that_both_are_asked(self, servers, ask):
        ask(30)
        asked = [server.metrics('schaas_requests_total{method="Info"') for server in servers]
        self.assertGreater(min(asked), 0, "each has a share")
        for server in servers:
            server.kill()
            ask(4)
            server.start()
            server.wait_ready()

    def test_a_name_of_several_servers_is_tried_one_after_the_other(self):
        before = self.with_names("schaas.test")
        servers, port, key = self.two_machines()

        def ask(count):
            for _ in range(count):
                done = self.info(before, "--server", f"schaas.test:{port}", "--server-key", key)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.check_that_both_are_asked(servers, ask)

    def test_a_name_of_several_servers_is_that_of_their_certificate(self):
        before = self.with_names("schaas.test", "other.test")
        certificate, private = self.fleet.folder / "tls.pem", self.fleet.folder / "tls.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=schaas", "-addext", "subjectAltName=DNS:schaas.test", "-keyout", private, "-out", certificate],
                       check=True, capture_output=True)
        servers, port, key = self.two_machines("--tls-cert", str(certificate), "--tls-key", str(private))

        def ask(count):
            for _ in range(count):
                done = self.info(before, "--server", f"schaas.test:{port}", "--server-key", key, "--tls-ca", str(certificate))
                self.assertEqual(done.returncode, 0, done.stderr)
        self.check_that_both_are_asked(servers, ask)
        # Another name of the same machines is not in the certificate, nor are their addresses.
        for name in ("other.test", "127.0.0.7"):
            refused = self.info(before, "--server", f"{name}:{port}", "--server-key", key, "--tls-ca", str(certificate))
            self.assertNotEqual(refused.returncode, 0, name)

    def test_what_a_killed_worker_held_is_done_by_another(self):
        one = self.fleet.server("one")
        first = self.fleet.worker("first")
        self.fleet.precompute(one.address, 6)
        self.assertEqual(self.fleet.wait_for("SELECT 1 FROM item WHERE state = 'running' LIMIT 1", "1", 60), "1")
        first.kill()
        self.fleet.worker("second")
        self.assertEqual(self.fleet.wait_for("SELECT count(*) FROM item WHERE state = 'done'", "6", 120), "6")

    def test_the_script_for_slurm_starts_workers_again(self):
        one = self.fleet.server("one")
        script = pathlib.Path(__file__).resolve().parents[2] / "deploy/slurm/worker.sbatch"
        environment = {**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}", "SCHAAS_DATABASE": str(self.fleet.uri_file),
                       "SCHAAS_SIGNING_KEY": str(self.fleet.folder / "key"), "SLURM_CPUS_PER_TASK": "1", "SCHAAS_IDLE_SECONDS": "2",
                       "TMPDIR": str(self.fleet.folder)}
        with open(self.fleet.folder / "script.log", "wb") as log:
            process = subprocess.Popen(["sh", script], env=environment, stdout=log, stderr=log)
        self.addCleanup(process.kill)
        self.fleet.precompute(one.address, 4)
        self.assertEqual(self.fleet.wait_for("SELECT 1 FROM item WHERE state = 'running' LIMIT 1", "1", 60), "1")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)
        self.assertEqual(process.wait(timeout=180), 0)
        self.assertEqual(self.fleet.ask("SELECT state, count(*) FROM item GROUP BY state"), "done|4")

    def test_servers_have_one_key(self):
        self.fleet.server("one")
        words = [self.programs / "schaasd", "--data-dir", self.fleet.folder / "other", "--database", self.fleet.uri_file]
        refused = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("give --signing-key", refused.stderr)
        refused = subprocess.run([*words, "--signing-key", self.fleet.folder / "another-key"], capture_output=True, text=True,
                                 timeout=60, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("[signing-key-differs]", refused.stderr)

    def page(self, process, path):
        """The status and the text of a page."""
        where = re.search(r"serving http on (\S+)", (process.folder / "out").read_text())[1]
        try:
            with urllib.request.urlopen(f"http://{where}{path}", timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, ""

    def test_the_fleet_page_shows_who_works(self):
        one = self.fleet.server("one")
        worker = self.fleet.worker("worker")
        self.fleet.precompute(one.address, 4)
        self.assertEqual(self.fleet.wait_for("SELECT count(*) FROM item WHERE state = 'done'", "4", 120), "4")
        text = self.page(one, "/fleet")[1]
        self.assertIn("1 servers, 1 workers. 0 items wait, 0 run, 0 failed; 4 ended in the last 10 minutes.", text)
        host = socket.gethostname()
        self.assertIn(f"<td>{host}:{worker.process.pid}</td><td>worker</td>", text)
        self.assertIn(f"<td>{host}:{one.process.pid}</td><td>server</td>", text)
        worker.stop()
        self.assertIn(f"<td>{host}:{worker.process.pid}</td><td>gone</td>", self.page(one, "/fleet")[1])

    def test_metrics_reach_further_than_pages(self):
        anywhere = self.fleet.server("anywhere", "--items", "0", "--http-any")
        self.assertEqual([self.page(anywhere, path)[0] for path in ("/metrics", "/healthz", "/readyz", "/", "/fleet")],
                         [200, 200, 200, 404, 404])

    def test_compilers_are_agreed_on(self):
        one = self.fleet.server("one")
        self.run_kernel(one.address)
        folder = self.fleet.folder / "compiler"
        folder.mkdir()
        (folder / "cc").write_text('#!/bin/sh\n[ "$1" = --version ] && echo "other 1.0" && exit\nexec /usr/bin/cc "$@"\n')
        (folder / "cc").chmod(0o755)
        with unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
            two = self.fleet.server("two", "--items", "0", "--compiler-reads", folder)
            self.run_kernel(two.address)  # as stored
            self.assertIn("[other-compiler]", self.ask_to_run("y(i) = B(i,j) * x(j)", two.address).stderr)
            refused = self.fleet.worker("worker")
            self.assertNotEqual(refused.process.wait(timeout=60), 0)
            self.assertIn("[other-compiler]", refused.log.read_text())
            self.fleet.server("three", "--items", "0", "--adopt-toolchain")
            done = self.ask_to_run("y(i) = B(i,j) * x(j)", two.address)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[other-compiler]", self.ask_to_run("y(i) = 2 * B(i,j) * x(j)", one.address).stderr)

    def test_what_one_server_rejects_is_refused_by_all(self):
        one, two = self.fleet.server("one"), self.fleet.server("two")
        self.run_kernel(one.address)
        key = self.fleet.ask("SELECT key FROM kernel ORDER BY id LIMIT 1")
        self.fleet.ask(f"INSERT INTO rejection VALUES ('{key}', 'h:1', 'element 3 is 5 (on h:1)', 'x', '2999-01-01T00:00:00.000Z'); "
                       f"DELETE FROM kernel WHERE key = '{key}'")
        for server in (one, two):
            listed = self.fleet.schaas("cache", "quarantine", server=server.address)
            self.assertIn("element 3 is 5 (on h:1)", listed.stdout)
        made = self.fleet.schaas("precompute", self.problem(), "--key", "again", server=self.fleet.server("three", "--items", "1").address)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(self.fleet.ask(f"SELECT count(*) FROM kernel WHERE key = '{key}'"), "0")
        self.assertEqual(self.fleet.schaas("cache", "lift", key, server=two.address).returncode, 0)
        self.run_kernel(one.address)

    def problem(self):
        path = self.fleet.folder / "problem.json"
        path.write_text('{"expression": "%s", "formats": {"B": "csr"}}' % MATRIX)
        return path

    def test_the_file_of_the_database_is_a_secret(self):
        self.fleet.uri_file.chmod(0o644)
        refused = subprocess.run([self.programs / "schaasd", "--data-dir", self.fleet.folder / "s", "--database",
                                  self.fleet.uri_file, "--signing-key", self.fleet.folder / "key", "--check-config"],
                                 capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("others than its owner may read or write", refused.stderr)

    def test_the_database_may_go_and_come(self):
        one = self.fleet.server("one")
        self.schedule(MATRIX, one.address)
        self.fleet.postgres.kill()
        # The first call may find that the connections ended.
        for _ in range(20):
            if self.fleet.schaas("schedule", "y(i) = B(i,j) * x(j)", "-f", "B=csr", server=one.address).returncode == 0:
                break
        else:
            self.fail(one.log.read_text())


if __name__ == "__main__":
    if postgres.programs() is None:
        print("skipped: PostgreSQL is not installed")
        sys.exit(77)
    Fleet.programs = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
