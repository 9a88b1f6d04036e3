#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::client {

/// The dictionary of a NumPy file: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
struct NpyHeader {
  enum class Type { f4, f8, i4, i8 } type = Type::f8;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t element_bytes() const { return type == Type::f4 || type == Type::i4 ? 4 : 8; }
};

/// Errors (with a caret into the dictionary, `path` as its source): invalid [npy-header]; unsupported
/// [npy-type] for other element types and byte orders.
support::Result<NpyHeader> parse_npy_header(std::string_view text, const std::string& path);
/// Magic, version 1.0 and dictionary, padded so that the data start at a multiple of 64.
std::string print_npy_preamble(const NpyHeader& header);

}  // namespace schaas::client
