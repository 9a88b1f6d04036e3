#pragma once
#include <string>

#include "schaas/tensor.h"

namespace schaas::client {

struct ConvertOptions {
  std::string name;       ///< name of the tensor, for messages
  int threads = 0;        ///< 0: host_threads()
  int position_bits = 0;  ///< 32 or 64; 0: those of the tensor
};

/// Converts a tensor to another format; extents, value type, fill value and stored zeros stay. Elements
/// without an entry get the fill value where they become dense; elements of that value are left out where
/// they become sparse. The result is what pack() would make of the entries. Matrices whose inner level is
/// sparse (csr, csc, dcsr, dcsc, coo in either mode order) are converted directly. With the same order of
/// modes the inner arrays are copied; with the other one they are sorted by counting, O(nonzeros + extent).
/// Between dense formats every value is copied. Everything else goes through a list of entries, which is
/// sorted when the order of modes changes. Errors: invalid [format-rank], [position-overflow]; exhausted
/// [memory].
support::Result<PackedTensor> convert(const PackedTensor& tensor, const format::TensorFormat& format,
                                      const ConvertOptions& options);

/// The way that serves all formats: through a list of entries. For comparison.
support::Result<PackedTensor> convert_by_entries(const PackedTensor& tensor,
                                                 const format::TensorFormat& format,
                                                 const ConvertOptions& options);

}  // namespace schaas::client
