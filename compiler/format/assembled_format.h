#pragma once
#include "compiler/format/tensor_format.h"

namespace schaas::format {

/// Returns the format in which kernels write a result stored as `format`. Levels that locate (bitmap, banded,
/// hashed) become lists of the same entries, `compressed`, in the same order of modes; others stay. The
/// caller converts the result into `format` afterwards. Compiler and client share this function and so agree.
TensorFormat assembled_format(TensorFormat format);

}  // namespace schaas::format
