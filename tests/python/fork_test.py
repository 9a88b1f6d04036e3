"""After fork() children and parents go on: kernels that the parent has, kernels that are new, one and several threads, whatever
other threads of the parent do at that moment."""

import faulthandler
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
import traceback
import unittest

if __name__ != "__mp_main__":  # what multiprocessing starts has the parent's daemon, from the environment
    import with_server
    with_server.daemon()
import numpy as np
import scipy.sparse as sp

import schaas

MATRIX = sp.random(3000, 3000, 0.02, format="csr", random_state=1)
RIGHT = np.random.default_rng(1).random((3000, 8))
KNOWN = schaas.kernel("A(i,k) = B(i,j) * C(j,k)")
LIMIT = 40  # seconds for a child; what hangs does so for ever
faulthandler.register(signal.SIGALRM)  # prints the lines that threads are at; children have no thread of dump_traceback_later


def product(threads):
    assert np.allclose(KNOWN(B=MATRIX, C=RIGHT, threads=threads), MATRIX @ RIGHT)


def ask(number):
    """A kernel that no process has."""
    found = schaas.kernel(f"y(i) = x(i) * {number}")(x=np.ones(3))
    assert found[0] == number, found


def entries():
    coords = np.random.default_rng(2).integers(0, 300, (3, 400_000))
    assert schaas.tensor(coords, np.ones(400_000), (300, 300, 300)).shape == (300, 300, 300)


def start_child(*works, leave=os._exit):
    """A child that does all that. One that hangs says in which line."""
    child = os.fork()
    if child == 0:
        signal.alarm(LIMIT - 5)
        status = 1
        try:
            for work in works:
                work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            leave(status)
    return child


def status_of(child):
    """Exit status; "hangs" when it does not end."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hangs"


def status_of_child(*works, **options):
    return status_of(start_child(*works, **options))


_next = iter(range(100_000, 200_000))


class Fork(unittest.TestCase):
    def setUp(self):
        product(2)
        ask(next(_next))

    def check(self, *works, **options):
        self.assertEqual(status_of_child(*works, **options), 0)
        product(2)
        ask(next(_next))  # the parent's connection is as it was

    def test_a_child_computes_with_the_kernels_of_its_parent(self):
        for threads in (0, 1, 2, 4):
            self.check(lambda threads=threads: product(threads))

    def test_a_child_asks_for_new_kernels(self):
        first, second = next(_next), next(_next)
        self.check(lambda: ask(first), lambda: ask(second))

    def test_a_child_packs_tensors_and_binds_kernels(self):
        def bound():
            out = KNOWN.bind(B=MATRIX, C=RIGHT)
            assert np.allclose(out(), MATRIX @ RIGHT) and np.allclose(out(), MATRIX @ RIGHT)
        self.check(entries, bound)

    def test_a_bound_computation_of_the_parent_runs_in_a_child(self):
        bound = KNOWN.bind(B=MATRIX, C=RIGHT)
        bound()
        self.check(lambda: np.testing.assert_allclose(bound(), MATRIX @ RIGHT))
        np.testing.assert_allclose(bound(), MATRIX @ RIGHT)

    def test_a_child_that_ends_as_a_program_does(self):
        number = next(_next)
        self.check(lambda: ask(number), leave=_finish)

    def test_children_of_children(self):
        numbers = [next(_next) for _ in range(3)]

        def grandchild():
            ask(numbers[0])
            assert status_of_child(lambda: ask(numbers[1]), lambda: product(2)) == 0
            ask(numbers[2])
        self.check(grandchild)

    def test_many_children_at_once(self):
        numbers = [next(_next) for _ in range(4)]
        children = [start_child(lambda: product(2), lambda number=number: ask(number)) for number in numbers]
        ask(next(_next))  # while they ask
        self.assertEqual([status_of(child) for child in children], [0] * 4)

    def test_while_other_threads_ask_and_compute(self):
        over, wrong = threading.Event(), []
        numbers = [next(_next) for _ in range(200)]

        def keep_asking():
            for number in numbers:
                if over.is_set():
                    return
                try:
                    ask(number)
                except Exception as error:
                    wrong.append(error)

        def keep_computing():
            while not over.is_set():
                try:
                    product(2)
                except Exception as error:
                    wrong.append(error)
        others = [threading.Thread(target=keep_asking), threading.Thread(target=keep_computing)]
        for thread in others:
            thread.start()
        statuses = []
        for _ in range(6):
            number = next(_next)
            statuses.append(status_of_child(lambda: product(2), lambda number=number: ask(number)))
            time.sleep(0.05)
        over.set()
        for thread in others:
            thread.join()
        self.assertEqual(statuses, [0] * 6)
        self.assertEqual(wrong, [])

    def test_while_another_thread_connects(self):
        """Connecting holds a lock of the package; the server of that thread never answers."""
        silent = socket.create_server(("127.0.0.1", 0))
        number = next(_next)

        def ask_in_vain():
            with self.assertRaises(schaas.Error):
                ask(number)

        def child():
            answers = os.environ["SCHAAS_SERVER"]
            os.environ["SCHAAS_SERVER"] = "127.0.0.1:%d" % silent.getsockname()[1]
            threading.Thread(target=ask_in_vain, daemon=True).start()
            silent.accept()
            os.environ["SCHAAS_SERVER"] = answers
            assert status_of_child(lambda: ask(number)) == 0
        with silent:
            self.check(child)

    def test_multiprocessing_however_it_starts_processes(self):
        for method in ("fork", "forkserver", "spawn"):
            with self.subTest(method), multiprocessing.get_context(method).Pool(2) as pool:
                found = pool.map_async(_in_a_pool, [next(_next) for _ in range(4)]).get(LIMIT)
                self.assertEqual(found, [True] * 4)
        ask(next(_next))


def _finish(status):
    """Ends the child as the end of a program does: what it inherited is destroyed."""
    import atexit
    import gc
    global KNOWN
    KNOWN = None
    gc.collect()
    atexit._run_exitfuncs()
    os._exit(status)


def _in_a_pool(number):
    product(2)
    ask(number)
    return True


if __name__ == "__main__":
    with_server.main()
