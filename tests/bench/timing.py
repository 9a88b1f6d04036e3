"""Times of a plain call, of a bound computation and of another program, in turns."""

import time


def milliseconds(work):
    """The time of one call, and what it returned."""
    start = time.perf_counter()
    result = work()
    return (time.perf_counter() - start) * 1e3, result


def least_milliseconds(work, times=7):
    return min(milliseconds(work)[0] for _ in range(times))


def settle(f, operands, threads, seconds):
    """A call that waits, so many seconds at most, for the best kernel of the whole frontier. Full kernels of a part of the search come
    earlier, and may take several times as long."""
    f(**operands, threads=threads, wait=seconds)


def in_turns(f, operands, theirs, rounds, threads, kept=None):
    """The least milliseconds of so many rounds: `call` of a kernel, the `first` run of a fresh bound computation and a later `run`, of
    `kept` where it is given, and `scipy`, the other program."""
    from schaas import _library as library
    times = {"call": [], "first": [], "run": [], "scipy": []}

    def measure(what, work):
        times[what].append(milliseconds(work)[0])

    def run(bound):  # without the copy that Python makes of sparse results
        library.call(library.api.schaas_run, bound._handle)

    for _ in range(rounds):
        measure("call", lambda: f(**operands, threads=threads))
        bound = f.bind(**operands, threads=threads)
        measure("first", lambda: run(bound))
        measure("run", lambda: run(bound if kept is None else kept))
        measure("scipy", theirs)
    return {what: min(values) for what, values in times.items()}
