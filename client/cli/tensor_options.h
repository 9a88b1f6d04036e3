#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "client/cli/operands.h"

namespace schaas::cli {

/// The options that say where tensors come from, shared by `run` and `plot`.
struct TensorOptions {
  std::vector<std::string> files, extents, bounds;  ///< NAME=FILE, INDEX=N, NAME=N
  std::uint64_t seed = 1;
};
void add_to(CLI::App& command, TensorOptions& options);

/// Formats come from the problem's options. Errors: invalid [option-syntax], [given-twice], [extent].
support::Result<TensorArguments> tensor_arguments(const TensorOptions& options, client::ValueType value_type);

}  // namespace schaas::cli
