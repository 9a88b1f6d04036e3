"""The connection to a server: a private one by default."""

import ctypes
import os
import threading
import weakref

from . import _library as library
from ._errors import unsupported


class Session:
    """A connection. `address`: "host:port" or "unix:/path"; None: $SCHAAS_SERVER, else the user's private server, which is
    started when it does not run."""

    def __init__(self, address=None):
        self._handle = library.handle_from(library.api.schaas_session_open, None if address is None else address.encode())
        self._end = weakref.finalize(self, library.api.schaas_session_close, ctypes.c_void_p(self._handle))
        self._process = os.getpid()

    @property
    def address(self):
        return library.api.schaas_session_address(self._handle).decode()

    def kernel(self, expression, **options):
        from ._kernel import Kernel
        return Kernel(expression, session=self, **options)

    def __repr__(self):
        return f"<schaas.Session with {self.address}>"


_lock = threading.Lock()
_current = None


def connect(address=None, token=None):
    """From now on kernels are asked from this server. Kernels that exist keep theirs."""
    global _current
    if token is not None:
        raise unsupported("token", "servers do not ask who is there yet; leave `token` out and reach the server through a channel "
                                   "you trust, such as ssh")
    session = Session(address)
    with _lock:
        _current = session
    return session


def current():
    """The session of this process: a connection does not survive a fork."""
    global _current
    with _lock:
        if _current is None or _current._process != os.getpid():
            _current = Session()
        return _current
