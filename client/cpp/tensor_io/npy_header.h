#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::client {

/// The dictionary of a NumPy file: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
struct NpyHeader {
  char kind = 'f';        ///< b bool, i and u integers, f floating point, c complex
  int element_bytes = 8;  ///< 1 to 16
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape{};
};

/// Errors (with a caret into the dictionary, `path` as its source): invalid [npy-header]; unsupported
/// [npy-type] for elements that are no numbers of parts of at most 64 bits.
support::Result<NpyHeader> parse_npy_header(std::string_view text, const std::string& path);
/// Magic, version 1.0 and dictionary, padded so that the data start at a multiple of 64; C order. `descr` is
/// numpy's name of the type, "<f8".
std::string print_npy_preamble(const std::string& descr, const std::vector<std::int64_t>& shape);

}  // namespace schaas::client
