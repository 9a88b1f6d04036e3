"""Programs of derivatives, made by the library without a server."""

import ctypes

from . import _library as library


def gradient(expression, of, *, seed=None, name=None, **formats):
    """The program of a derivative, a text for `kernel`: of a scalar result with respect to each element of the operand `of`; of another
    result Y that of sum(Y * dY), where `dY`, the gradient of a scalar with respect to Y, is an operand more. Given twice, it is a
    product of the Hessian with a vector.

    `seed` is another name for `dY`, `name` one for the result, which is `d` and the operand's name. Formats (`B="csr"`) are those of
    operands that are not dense: the derivative by a sparse one has its entries."""
    options = library.GradientOptions()
    options.struct_bytes = ctypes.sizeof(options)
    options.of = library.text_option("of", of)
    options.seed = None if seed is None else library.text_option("seed", seed)
    options.name = None if name is None else library.text_option("name", name)
    options.formats = library.texts([text for tensor, given in formats.items() for text in (tensor, str(given))])
    options.format_count = len(formats)
    text = library.text_option("expression", expression).replace(b"[", b"(").replace(b"]", b")")
    return library.text_from(library.api.schaas_gradient, text, ctypes.byref(options))
