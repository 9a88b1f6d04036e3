#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace schaas::cli {

/// Names of an option of the form NAME=VALUE, for messages: {"-t", "tensor", "FILE", "-t B=matrix.mtx"}.
struct NamedOption {
  std::string option;
  std::string of;
  std::string value;
  std::string example;
};

/// "B=matrix.mtx" -> {B, matrix.mtx}. Errors: invalid [option-syntax] (no `=`, or nothing on a side of it),
/// [given-twice].
support::Result<std::map<std::string, std::string>> parse_named(const std::vector<std::string>& texts,
                                                                const NamedOption& option);

/// "k=64" -> {k, 64}: positive, below 2^62. Errors: as above and invalid [extent].
support::Result<std::map<std::string, std::int64_t>> parse_extents(const std::vector<std::string>& texts);
/// "lo=-2" -> {lo, -2}. Errors: as of parse_named and invalid [bound].
support::Result<std::map<std::string, std::int64_t>> parse_bounds(const std::vector<std::string>& texts);

}  // namespace schaas::cli
