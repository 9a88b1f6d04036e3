"""Waits for servers and compilers: on a thread, so that the interpreter hears Ctrl-C at once, and with a sign of how far they are, on
a terminal, in a notebook, and for `logging`."""

import logging
import shutil
import sys
import threading

from . import _library as library

_log = logging.getLogger("schaas")
_log.addHandler(logging.NullHandler())

_SLICE = 0.05  # seconds between two looks at a wait
_SHOWN_AFTER = 0.5  # seconds: shorter waits show nothing
_BAR = 20  # characters


def run(work, about, discard=None):
    """What `work(progress)` returns, a call of the library with the address of a callback for it. An interrupt cancels the call,
    which takes 0.1 s at most, and goes on; `discard` is for what `work` returned all the same."""
    wait = _Wait(about)
    if threading.current_thread() is not threading.main_thread():
        return work(wait.address)  # interrupts are for the main thread
    try:
        threading.Thread(target=wait.work, args=(work,), name="schaas-wait", daemon=True).start()
        while not wait.done.wait(_SLICE):
            wait.show()
    except BaseException:
        wait.cancelled = True
        if not wait.claim():  # else the interrupt came while the thread was started
            _until(wait.done)
            if wait.error is None and discard is not None:
                discard(wait.value)
        raise
    finally:
        wait.clear()
    if wait.error is not None:
        raise wait.error
    return wait.value


def _until(done):
    while True:
        try:
            done.wait()
            return
        except KeyboardInterrupt:
            pass  # the first one is on its way


class _Wait:
    """A call of the library in progress."""

    def __init__(self, about):
        self._about = about
        self._callback = library.PROGRESS(self._told)  # lives as long as the call
        self.address = library.address_of(self._callback)
        self.done = threading.Event()
        self._claimed = threading.Lock()
        self.cancelled = False
        self.value = self.error = None
        self._latest = self._logged = None
        self._sign = None

    def claim(self):
        """Returns true for the first caller: the thread that works, or an interrupt before it began."""
        return self._claimed.acquire(blocking=False)

    def work(self, work):
        if not self.claim():
            return
        try:
            self.value = work(self.address)
        except BaseException as error:  # raised where it is waited for
            self.error = error
        self.done.set()

    def _told(self, _, told):
        progress = told.contents
        self._latest = (progress.stage.decode(), progress.seconds, progress.done, progress.of, progress.kernels, progress.kernels_of)
        state = self._latest[0], progress.kernels, progress.kernels_of
        if state != self._logged:
            self._logged = state
            _log.info("%s: %s", self._about, _text(self._latest, ""))
        return int(self.cancelled)

    def show(self):
        if self._latest is None or self._latest[1] < _SHOWN_AFTER:
            return
        if self._sign is None:
            self._sign = _Cell() if _in_notebook() else _Line() if _on_terminal() else _Nothing()
        self._sign.show(self._about, self._latest)

    def clear(self):
        if self._sign is not None:
            self._sign.clear()


def _share(latest):
    _, _, done, of, kernels, kernels_of = latest
    return min(kernels / kernels_of, 1) if kernels_of else min(done / of, 1) if of else None


def _text(latest, bar):
    stage, seconds, _, _, kernels, kernels_of = latest
    counted = f"{kernels} of {kernels_of} kernels" if kernels_of else ""
    return " ".join(part for part in (stage, bar, counted) if part) + f", {seconds:.1f} s"


def _on_terminal():
    return sys.stderr is not None and hasattr(sys.stderr, "isatty") and sys.stderr.isatty()


def _in_notebook():
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


class _Nothing:
    def show(self, about, latest):
        pass

    def clear(self):
        pass


class _Line:
    """A line of the terminal, drawn anew each time."""

    def show(self, about, latest):
        share = _share(latest)
        bar = "" if share is None else "[" + "#" * int(_BAR * share) + " " * (_BAR - int(_BAR * share)) + "]"
        text = f"schaas: {_text(latest, bar)}: {about}"
        sys.stderr.write("\r\033[K" + text[:shutil.get_terminal_size().columns - 1])
        sys.stderr.flush()

    def clear(self):
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()


class _Cell:
    """An output of the notebook's cell, which goes with the wait."""

    def __init__(self):
        self._handle = None

    def show(self, about, latest):
        share = _share(latest)
        value = "" if share is None else f' value="{share:.3f}"'
        text = _text(latest, "")
        self._put({"text/plain": f"schaas: {text}: {about}", "text/html": f"<progress{value}></progress> schaas: {text}"})

    def clear(self):
        if self._handle is not None:
            self._put({"text/plain": ""})

    def _put(self, data):
        from IPython.display import display
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)
