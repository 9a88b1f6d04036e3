#pragma once
#include "compiler/format/tensor_format.h"

namespace schaas::format {

/// How kernels write a result that is stored as `format`: levels that are located (bitmap, banded, hashed) as
/// lists of the same entries, `compressed`, in the same order of modes; everything else as it is. Whoever
/// runs the kernel brings the result into `format` afterwards. The compiler and the client both ask here and
/// so agree.
TensorFormat written_as(TensorFormat format);

}  // namespace schaas::format
