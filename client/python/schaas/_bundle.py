"""Kernels from a file: for use where there is no server."""

import json
import os

from . import _library as library
from ._errors import invalid
from ._kernel import Kernel
from ._session import Session


def load(path, server_key=None):
    """The kernel of a bundle (`schaas bundle EXPR -f B=csr -o kernels.schaas`): called as any other. Operands are brought into
    its formats and type; what is not in the file is refused. Kernels are code: `server_key` ("ed25519:...", or a file that holds it;
    default $SCHAAS_SERVER_KEY) says who must have signed them; without it open only what you trust."""
    session = Session(_handle=library.handle_from(library.api.schaas_bundle_open, os.fspath(path).encode(),
                                                  None if server_key is None else server_key.encode()))
    told = json.loads(library.text_from(library.api.schaas_session_describe, session._handle))["bundle"]
    first, *others = told["answers"]
    if any(other["expression"] != first["expression"] for other in others):
        raise invalid("bundle-problem", f"{path} holds kernels of several expressions")
    kernel = Kernel(first["expression"], where=first["constraints"], dtype=first["value_type"], session=session,
                    _bits={answer["position_bits"] for answer in told["answers"]}, **first["formats"])
    kernel._widens = False  # of what is in the file
    kernel._made_by = load, (os.path.abspath(path), server_key)
    kernel.bundle = {name: told[name] for name in ("made_by", "server", "created")}
    return kernel
