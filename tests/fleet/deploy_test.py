#!/usr/bin/env python3
"""The files of deploy/ for Kubernetes, Docker and systemd are whole, and give schaasd options that it has: deploy_test.py BIN."""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

try:
    import yaml
except ImportError:
    print("skipped: PyYAML is not installed")
    sys.exit(77)

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"


def found_in(value, key):
    """All values of a key, wherever it stands."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key:
                yield inner
            yield from found_in(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from found_in(inner, key)


class Deploy(unittest.TestCase):
    programs = None

    def setUp(self):
        text = subprocess.run([self.programs / "schaasd", "--help"], capture_output=True, text=True, check=True).stdout
        self.known = set(re.findall(r"--[a-z-]+", text))

    def check_options(self, words):
        self.assertTrue(words)
        for word in words:
            if word.startswith("--"):
                self.assertIn(word, self.known)
        self.assertIn("--database", words)
        self.assertIn("--signing-key", words)

    def test_kubernetes(self):
        servers = yaml.safe_load((DEPLOY / "kubernetes/schaas.yaml").read_text())["items"]
        self.assertEqual([(one["kind"], one["metadata"]["name"]) for one in servers],
                         [("Service", "schaas"), ("Deployment", "schaas-server"), ("Deployment", "schaas-worker")])
        self.assertEqual(servers[0]["spec"]["clusterIP"], "None")
        for one in servers[1:]:
            pod = one["spec"]["template"]
            self.assertEqual(one["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"])
            volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
            for mounts in found_in(pod, "volumeMounts"):
                self.assertLessEqual({mount["name"] for mount in mounts}, volumes)
            self.check_options(pod["spec"]["containers"][0]["args"])
        scaled = yaml.safe_load((DEPLOY / "kubernetes/workers.yaml").read_text())["items"][1]["spec"]
        self.assertEqual(scaled["scaleTargetRef"]["name"], "schaas-worker")

    def test_compose(self):
        services = yaml.safe_load((DEPLOY / "docker/fleet.yaml").read_text())["services"]
        for name in ("server", "worker"):
            self.check_options(services[name]["command"])
        self.assertNotIn("worker", (DEPLOY / "docker/haproxy.cfg").read_text())

    @unittest.skipIf(shutil.which("haproxy") is None, "haproxy is not installed")
    def test_the_balancer_reads_its_configuration(self):
        done = subprocess.run(["haproxy", "-c", "-f", DEPLOY / "docker/haproxy.cfg"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_systemd_and_slurm(self):
        unit = (DEPLOY / "systemd/schaas-worker@.service").read_text()
        self.check_options(re.search(r"ExecStart=(.*)", unit)[1].split())
        script = (DEPLOY / "slurm/worker.sbatch").read_text()
        self.check_options(re.search(r"schaasd (--worker.*) &", script)[1].split())


if __name__ == "__main__":
    Deploy.programs = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
