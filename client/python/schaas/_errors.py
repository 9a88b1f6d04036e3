"""What goes wrong, as exceptions. str() is the whole text, with the place in the user's expression and a caret."""

import difflib


class Error(Exception):
    """`code` is stable ("extent-conflict"), `message` one sentence."""

    def __init__(self, code, message, text):
        super().__init__(text)
        self.code = code
        self.message = message

    def __reduce__(self):
        return type(self), (self.code, self.message, self.args[0])


class Invalid(Error, ValueError):
    """What was asked is wrong."""


class Unsupported(Error, NotImplementedError):
    """Right, but not possible yet; the text says what works."""


class Exhausted(Error, MemoryError):
    """Time or memory."""


class Unreachable(Error, ConnectionError):
    """No server."""


class Internal(Error, RuntimeError):
    """A bug of schaas."""


_FAMILIES = {2: Invalid, 3: Unsupported, 4: Exhausted, 5: Unreachable}


def error_of(status, code, message, text):
    return _FAMILIES.get(status, Internal)(code, message, text)


def invalid(code, message):
    return Invalid(code, message, f"invalid [{code}]: {message}")


def unsupported(code, message):
    return Unsupported(code, message, f"unsupported [{code}]: {message}")


def did_you_mean(given, known):
    """"; did you mean `linear`?" where one of the known words is near, else ""."""
    near = difflib.get_close_matches(str(given).lower(), [word.lower() for word in known], 1)
    meant = next((word for word in known if near and word.lower() == near[0]), None)
    return f"; did you mean `{meant}`?" if meant else ""
