"""The connection to a server: a private one by default."""

import ctypes
import json
import os
import warnings

from . import _library as library
from . import _waiting as waiting
from ._errors import invalid, unsupported
from ._forking import Lock


class OfflineWarning(UserWarning):
    """The server is gone; kernels that were received earlier run."""


class Session:
    """A connection. `address`: "host:port" or "unix:/path"; None: $SCHAAS_SERVER, else the user's private server, which is
    started when it does not run. `server_key`: the key the server must have, or a file with it. `ca`: TLS, the file of the
    server's certificate authority, or "system"; `certificate` and `key`: this client's own. `token`, or `token_file`: for servers that
    ask for one. What is None is taken from the environment variables of the program `schaas` (docs/security.md)."""

    def __init__(self, address=None, *, token=None, token_file=None, ca=None, certificate=None, key=None, server_key=None,
                 _handle=None):
        def text(value):
            try:
                return None if value is None else os.fsencode(value)
            except TypeError:
                raise invalid("option", f"{value!r}: expected a text, or a path") from None
        options = library.ConnectOptions(ctypes.sizeof(library.ConnectOptions), text(address), text(server_key), text(ca),
                                         text(certificate), text(key), text(token), text(token_file))

        def connect_to(progress):
            options.progress = progress
            return library.handle_from(library.api.schaas_session_connect, ctypes.byref(options))

        self._handle = _handle or waiting.run(connect_to, "the server", library.api.schaas_session_close)
        library.close_with(self, library.api.schaas_session_close, self._handle)
        self._process = os.getpid()
        self._warned = False

    def notice(self):
        """"" mostly; else that the server is gone and kernels that were received earlier run."""
        return json.loads(library.text_from(library.api.schaas_session_describe, self._handle))["notice"]

    def warn(self):
        """The notice as a warning, once."""
        if not self._warned and (text := self.notice()):
            self._warned = True
            warnings.warn(text, OfflineWarning, stacklevel=5)

    @property
    def address(self):
        return library.api.schaas_session_address(self._handle).decode()

    def __copy__(self):
        return self  # a connection is shared

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise unsupported("pickle", "a connection is not pickled: connect there, with schaas.Session(...) or schaas.connect(...)")

    def __repr__(self):
        return f"<schaas.Session with {self.address}>"


_lock = Lock()
_current = None


def connect(address=None, **options):
    """From now on kernels are asked from this server. Kernels that exist keep theirs. Options as of Session."""
    global _current
    session = Session(address, **options)
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
