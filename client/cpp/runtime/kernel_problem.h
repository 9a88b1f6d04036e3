#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "proto/kernel_abi.h"
#include "schaas/expression.h"
#include "schaas/tensor.h"

namespace schaas::client {

/// Facts about a kernel's arguments from its problem text. Canonical names.
struct KernelProblem {
  Program program;
  std::vector<Access> accesses;  ///< accesses of arguments; the result's first
  std::vector<std::string>
      tensors;  ///< distinct, in argument order: the result, then operands as they appear
  std::vector<std::string> indices;  ///< distinct
  bool update = false;               ///< the result starts from what it holds
  std::map<std::string, std::string> formats;
  ValueType value_type = ValueType::f64;  ///< type of the arithmetic and the result
  int position_bits = 64;
  /// Maps an index to the representative of all indices whose extents must agree with its. They agree by mode
  /// of a tensor that is used more than once, or by an intermediate.
  std::map<std::string, std::string> extent_of;
  std::map<std::string, std::int64_t> fixed;  ///< extents for which alone the kernel is made

  /// Indices of the first access to an argument.
  const std::vector<std::string>& indices_of(std::size_t argument) const;
  /// Storage of an argument; operands in a narrower type than that of the arithmetic have it there.
  support::Result<format::TensorFormat> format_of(std::size_t argument) const;
};

/// `fixed`: the kernel's descriptor has them. Errors: invalid [kernel-problem]; [kernel-binary] (an extent of
/// no argument is fixed).
support::Result<KernelProblem> parse_kernel_problem(const std::string& text,
                                                    std::span<const schaas_fixed_extent> fixed);

class Kernel;
/// The same of a kernel's own texts, parsed once for all copies of it. Thread-safe.
const support::Result<KernelProblem>& problem_of(const Kernel& kernel);

}  // namespace schaas::client
