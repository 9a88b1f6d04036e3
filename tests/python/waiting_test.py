"""Waits for kernels in Python: limits, interrupts on a terminal and in a notebook, progress, logging, and calls that do not wait."""

import logging
import os
import pty
import re
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types
import unittest
from unittest import mock

import with_server
import numpy as np
import scipy.sparse as sp

try:
    import ipykernel
    import jupyter_client.manager
except ImportError:
    jupyter_client = None

daemon = with_server.daemon()
import schaas

# A statement that no test asked for before: a search that takes longer than what these tests wait.
LONG = "A(i,n) = B(i,j) * C(j,k) * D(k,l) * E(l,m) * F(m,n) * g(i) * h(j)"


def operands(size=20):
    random = np.random.default_rng(1)
    made = {name: random.random((size, size)) for name in "CDEF"}
    made["B"] = sp.random(size, size, 0.2, format="csr", random_state=1)
    made["g"], made["h"] = random.random(size), random.random(size)
    return made


def fresh(number):
    """The long statement, with a number that makes it another one."""
    return f"{LONG} * {number}"


def interrupt_after(seconds):
    """Starts a thread that sends SIGINT to this process after so long. Returns it and the list that gets the time of sending."""
    sent = []

    def interrupt():
        time.sleep(seconds)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    return thread, sent


class Limit(unittest.TestCase):
    def test_bounds_a_wait(self):
        f = schaas.kernel(fresh(3), wait=0.05)
        for call in (lambda: f(**operands()), lambda: f.bind(**operands())):
            start = time.monotonic()
            with self.assertRaises(schaas.Exhausted) as raised:
                call()
            self.assertLess(time.monotonic() - start, 0.15 + 0.1)
            self.assertEqual(raised.exception.code, "wait-limit")
            self.assertIn(fresh(3), str(raised.exception))

    def test_of_a_call_goes_before_that_of_the_kernel(self):
        f = schaas.kernel("y(i) = B(i,j) * x(j) * 5", wait=0)
        b, x = sp.random(9, 9, 0.5, format="csr", random_state=1), np.ones(9)
        with self.assertRaises(schaas.Exhausted):
            f(b, x)
        np.testing.assert_allclose(f(b, x, wait=60), 5 * (b @ x))
        np.testing.assert_allclose(f(b, x), 5 * (b @ x))  # now it is at hand

    def test_does_not_bound_patience(self):
        b, x = sp.random(9, 9, 0.5, format="csr", random_state=1), np.ones(9)
        for number, patience in ((37, 0), (41, 0.001), (43, 60)):
            f = schaas.kernel(f"y(i) = B(i,j) * x(j) * {number}", patience=patience)
            np.testing.assert_allclose(f(b, x), number * (b @ x))

    def test_is_a_number_of_seconds(self):
        for wait in (-1, "long"):
            with self.assertRaises(schaas.Invalid):
                schaas.kernel("y(i) = x(i)", wait=wait)


class Logging(unittest.TestCase):
    def test_tells_what_is_waited_for(self):
        with self.assertLogs("schaas", logging.INFO) as told:
            f = schaas.kernel("y(i) = B(i,j) * x(j) * 11")
            f(sp.eye(4, format="csr"), np.ones(4))
        self.assertTrue(any(re.search(r"^INFO:schaas:y\(i\) = B\(i,j\) \* x\(j\) \* 11: (searching|compiling)", line)
                            for line in told.output), told.output)


class Threads(unittest.TestCase):
    def test_others_run_while_one_waits(self):
        b, x = sp.random(9, 9, 0.5, format="csr", random_state=1), np.ones(9)
        known = schaas.kernel("y(i) = B(i,j) * x(j)")
        known(b, x)
        outcomes = []

        def wait():
            try:
                schaas.kernel(fresh(13), wait=2)(**operands(), deterministic=True)
            except schaas.Exhausted as error:
                outcomes.append(error.code)

        waiting = threading.Thread(target=wait)
        waiting.start()
        longest, calls = 0, 0
        while waiting.is_alive():
            start = time.monotonic()
            known(b, x)
            longest, calls = max(longest, time.monotonic() - start), calls + 1
        waiting.join()
        self.assertIn(outcomes, ([], ["wait-limit"]))
        self.assertGreater(calls, 10)
        self.assertLess(longest, 0.25)


PROGRAM = textwrap.dedent(f"""
    import sys, time
    sys.path.insert(0, {str(with_server.ROOT / 'tests/python')!r})
    import numpy as np, scipy.sparse as sp, schaas
    random = np.random.default_rng(1)
    made = {{name: random.random((20, 20)) for name in "CDEF"}}
    made["B"] = sp.random(20, 20, 0.2, format="csr", random_state=1)
    made["g"], made["h"] = random.random(20), random.random(20)
    f = schaas.kernel(sys.argv[1])
    print("ready", flush=True)
    start = time.monotonic()
    try:
        f(**made, deterministic=True)
        print("done", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    g = schaas.kernel("y(i) = B(i,j) * x(j)")
    print("right" if np.allclose(g(made["B"], np.ones(20)), made["B"].sum(axis=1).ravel()) else "wrong", flush=True)
""")


class Frontier(unittest.TestCase):
    def test_tells_what_is_waited_for_and_hears_an_interrupt(self):
        f = schaas.kernel(fresh(53))
        thread, sent = interrupt_after(0.3)
        with self.assertLogs("schaas", logging.INFO) as told, self.assertRaises(KeyboardInterrupt):
            f.frontier
            thread.join()  # a search that was faster
        heard = time.monotonic() - sent[0]
        thread.join()
        self.assertLess(heard, 0.1)
        self.assertRegex(told.output[-1], "searching")


class Start(unittest.TestCase):
    def test_leaves_no_call_behind_when_it_is_interrupted(self):
        begun, ended = threading.Event(), threading.Event()

        class Interrupted(threading.Thread):
            def start(self):
                super().start()
                begun.wait(10)
                raise KeyboardInterrupt

        def work(progress):
            begun.set()
            time.sleep(0.3)
            ended.set()

        with mock.patch.object(threading, "Thread", Interrupted), self.assertRaises(KeyboardInterrupt):
            schaas._waiting.run(work, "a call")
        self.assertTrue(ended.is_set())


class Terminal(unittest.TestCase):
    def run_on_terminal(self, statement, moment):
        """What a program shows that is interrupted so many seconds after it is ready, and the seconds until it says so."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(sys.executable, [sys.executable, "-c", PROGRAM, statement])
        shown, sent, heard, deadline = "", None, None, time.monotonic() + 60
        while time.monotonic() < deadline:
            if "ready" in shown and sent is None:
                ready = time.monotonic()
                sent = ready + moment
            if sent is not None and time.monotonic() >= sent and heard is None:
                os.write(terminal, b"\x03")
                began, heard = time.monotonic(), 0
            if not select.select([terminal], [], [], 0.005)[0]:
                continue
            try:
                piece = os.read(terminal, 4096).decode(errors="replace")
            except OSError:
                break  # it has ended
            if heard == 0 and ("interrupted" in piece or "done" in piece):
                heard = time.monotonic() - began
            shown += piece
        os.close(terminal)
        os.waitpid(pid, 0)
        return shown, heard

    def test_hears_an_interrupt_within_a_tenth_of_a_second(self):
        for number, moment in ((17, 0.05), (19, 0.2), (23, 0.4)):
            shown, heard = self.run_on_terminal(fresh(number), moment)
            self.assertIn("right", shown)
            self.assertIn("interrupted", shown)
            self.assertLess(heard, 0.1 + 0.05, shown)  # the terminal's own way takes some time, too

    def test_shows_how_far_it_is(self):
        shown, _ = self.run_on_terminal(fresh(29), 1.5)
        self.assertRegex(shown, r"schaas: (searching|compiling).* s: A\(i,n\)")


class Notebook(unittest.TestCase):
    """IPython as a kernel has it: outputs with a display id, interrupts of the main thread."""

    def setUp(self):
        self.shown = shown = []

        class Handle:
            def update(self, data, raw):
                shown.append(data)

        def display(data, raw, display_id):
            shown.append(data)
            return Handle()

        ipython, shell = types.ModuleType("IPython"), types.SimpleNamespace(kernel=object())
        ipython.get_ipython = lambda: shell
        ipython.display = types.ModuleType("IPython.display")
        ipython.display.display = display
        self.modules = {"IPython": ipython, "IPython.display": ipython.display}
        self.before = {name: sys.modules.get(name) for name in self.modules}
        sys.modules.update(self.modules)

    def tearDown(self):
        for name, module in self.before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module

    def test_is_interrupted_and_shows_a_bar(self):
        f = schaas.kernel(fresh(31))
        thread, sent = interrupt_after(1)
        try:
            with self.assertRaises(KeyboardInterrupt):
                f(**operands(), deterministic=True)
                thread.join()  # a search that was faster
            heard = time.monotonic() - sent[0]
        finally:
            thread.join()
        self.assertLess(heard, 0.1)
        self.assertTrue(any("<progress" in data.get("text/html", "") for data in self.shown), self.shown)
        self.assertEqual(self.shown[-1], {"text/plain": ""}, "it stays")
        np.testing.assert_allclose(schaas.kernel("y(i) = B(i,j) * x(j)")(sp.eye(3, format="csr"), np.ones(3)), np.ones(3))


CELL = textwrap.dedent("""
    import time
    import numpy as np, scipy.sparse as sp, schaas
    random = np.random.default_rng(1)
    made = {name: random.random((20, 20)) for name in "CDEF"}
    made["B"] = sp.random(20, 20, 0.2, format="csr", random_state=1)
    made["g"], made["h"] = random.random(20), random.random(20)
    f = schaas.kernel(%r)
    try:
        f(**made, deterministic=True)
    except KeyboardInterrupt:
        print("interrupted at", time.monotonic())
    g = schaas.kernel("y(i) = B(i,j) * x(j)")
    print("right" if np.allclose(g(made["B"], np.ones(20)), made["B"].sum(axis=1).ravel()) else "wrong")
""")


@unittest.skipIf(jupyter_client is None, "ipykernel is not installed: apt-get install python3-ipykernel")
class IPythonKernel(unittest.TestCase):
    """The same in a kernel process of IPython, spoken to as a notebook does."""

    def setUp(self):
        self.manager, self.client = jupyter_client.manager.start_new_kernel(stderr=subprocess.DEVNULL)
        self.addCleanup(self.manager.shutdown_kernel, now=True)
        self.addCleanup(self.client.stop_channels)

    def test_is_interrupted_and_shows_a_bar_that_goes(self):
        asked = self.client.execute(CELL % fresh(47))
        printed, bars, sent, state = "", [], None, ""
        while state != "idle":
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != asked:
                continue  # about the kernel's start, which ends with `idle`, too
            kind, content = message["msg_type"], message["content"]
            self.assertNotEqual(kind, "error", content)
            state = content.get("execution_state", state)
            printed += content["text"] if kind == "stream" else ""
            if kind in ("display_data", "update_display_data"):
                bars.append(content["data"])
                if sent is None:
                    sent = time.monotonic()
                    self.manager.interrupt_kernel()
        self.assertIsNotNone(sent, "no bar: " + printed)
        self.assertRegex(bars[0]["text/html"], r"<progress.* schaas: (searching|compiling)")
        self.assertEqual(bars[-1], {"text/plain": ""})
        heard = re.search(r"interrupted at ([\d.]+)", printed)
        self.assertIsNotNone(heard, printed)
        self.assertLess(float(heard[1]) - sent, 0.1 + 0.05)  # the signal's own way takes some time, too
        self.assertIn("right", printed)


if __name__ == "__main__":
    with_server.main()
