"""A daemon to attack, its memory and how it ends; and the proxy of deploy/nginx to put in front."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

import attackers

CONFIGURATION = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "nginx" / "schaasd.conf"
NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def await_answer(target, process, log):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), contextlib.closing(attackers.Frames(target)):
            return
        time.sleep(0.05)
    raise RuntimeError(f"nobody listens on {target.address}:\n" + log.read_text(errors="replace"))


def tokens(programs, names):
    """New tokens by name, and the tokens file for them."""
    words, lines = {}, ""
    for name in names:
        told = subprocess.run([programs / "schaasd", "--new-token", name], capture_output=True, text=True, check=True).stdout
        words[name] = re.search(r"^schaas_\w+$", told, re.MULTILINE).group(0)
        lines += re.search(rf"^{name} .*$", told, re.MULTILINE).group(0) + "\n"
    return words, lines


class Daemon:
    """A schaasd on a Unix socket, a TCP port and an HTTP port, in a folder of its own."""

    def __init__(self, programs, tokens=""):
        self.folder = tempfile.TemporaryDirectory(prefix="schaas-attacked-")
        folder = pathlib.Path(self.folder.name)
        self.local, self.remote, self.http = f"unix:{folder}/socket", f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        self.log = folder / "log"
        options = []
        if tokens:  # for others than the daemon's user, too
            (folder / "tokens").touch(0o600)
            (folder / "tokens").write_text(tokens)
            options = ["--tokens", folder / "tokens", "--socket-mode", "660"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([programs / "schaasd", "--data-dir", folder / "data", "--listen", self.local, "--listen", self.remote,
                                             "--http", self.http, *options], stdout=subprocess.DEVNULL, stderr=log)
        await_answer(attackers.Target(self.local), self.process, self.log)

    def memory(self, key="VmRSS"):
        """Mebibytes; VmHWM: the most since `reset_peak`."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(key):
                return int(line.split()[1]) / 1024
        return 0.0

    def last_words(self, lines=20):
        """The end of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def reset_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def close(self):
        self.process.terminate()
        try:
            status = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "none within 30 s"
        self.folder.cleanup()
        return status


def replaced(text, there, here):
    assert there in text, f"the configuration has no {there}"
    return text.replace(there, str(here))


class Proxy:
    """nginx as it is configured, with the files and the port of this test."""

    def __init__(self, folder, server):
        port = free_port()
        self.address, self.certificate, key = f"localhost:{port}", folder / "server.pem", folder / "server.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
        text = CONFIGURATION.read_text()
        for there, here in (("/run/schaas/schaasd.sock", server.removeprefix("unix:")), ("listen 8470", f"listen 127.0.0.1:{port}"),
                            ("/etc/schaas/server.pem", self.certificate), ("/etc/schaas/server.key", key)):
            text = replaced(text, there, here)
        (folder / "schaasd.conf").write_text(text)
        places = "".join(f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        user = "user root;\n" if os.geteuid() == 0 else ""
        (folder / "nginx.conf").write_text(f"{user}daemon off;\nworker_processes auto;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log warn;\n"
                                           f"events {{ worker_connections 1024; }}\nhttp {{\naccess_log off;\n{places}include {folder}/schaasd.conf;\n}}\n")
        self.process = subprocess.Popen([NGINX, "-p", folder, "-e", folder / "error.log", "-c", folder / "nginx.conf"])
        await_answer(attackers.Target(self.address, tls=True), self.process, folder / "error.log")

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
