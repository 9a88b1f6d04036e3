#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "client/cli/operands.h"
#include "client/cli/problem_options.h"

namespace schaas::cli {

/// The options that say where tensors come from, shared by `run` and `plot`.
struct TensorOptions {
  std::vector<std::string> files, extents;  ///< NAME=FILE, INDEX=N
  std::uint64_t seed = 1;
};
void add_to(CLI::App& command, TensorOptions& options);

/// "f64", "f32". Errors: invalid [value-type].
support::Result<client::ValueType> value_type(const std::string& text);

/// Formats come from the problem's options. Errors: invalid [option-syntax], [given-twice], [extent],
/// [value-type].
support::Result<TensorArguments> tensor_arguments(const TensorOptions& options,
                                                  const ProblemOptions& problem);

}  // namespace schaas::cli
