"""Locks that are free in a child after fork(), also where another thread of the parent held them then."""

import os
import threading
import weakref

_locks = weakref.WeakSet()


class Lock:
    """A threading.Lock, and another one in each child."""

    def __init__(self):
        self._renew()
        _locks.add(self)

    def _renew(self):
        lock = threading.Lock()
        self.acquire, self.release = lock.acquire, lock.release

    def __enter__(self):
        self.acquire()

    def __exit__(self, *_):
        self.release()


def _renew_all():
    for lock in list(_locks):
        lock._renew()


os.register_at_fork(after_in_child=_renew_all)
