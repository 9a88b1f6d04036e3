#pragma once
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "schaas/expression.h"
#include "schaas/tensor.h"

/// The oracle of `--verify`: evaluates a program independently of the compiler, at real size. It computes in
/// double, for integer types in integers of 64 bits that wrap around.
/// docs/client.md explains the method and the error measure.
namespace schaas::client {

using OracleOperand = std::variant<const CooTensor*, const DenseTensor*>;

struct OracleOptions {
  std::map<std::string, std::int64_t> extents;  ///< extents of indices that no operand has; others must agree
  ValueType type = ValueType::f64;              ///< type of the problem: inputs are rounded to it
  std::map<std::string, ValueType> stored{};    ///< types of operands stored in another one
  std::int64_t memory_limit = std::int64_t{8} << 30;
};

/// The result in double and, per entry, the magnitude that rounding errors are a share of. It is the sum of
/// the absolute values of the terms of the entry, carried through functions by their derivatives; infinite
/// where no accuracy can be expected. Integers are exact: their magnitudes are 0, and meaningless.
struct Expected {
  DenseTensor
      values{};  ///< f64 or the integer type, modes as in the result access; empty when there are `entries`
  DenseTensor magnitudes{};  ///< f64, same shape
  /// Results too large to be held dense: entries in row-major order, and what is everywhere else.
  struct Entries {
    CooTensor values;
    std::vector<double> magnitudes;  ///< by entry
    double background = 0, background_magnitude = 0;
  };
  std::optional<Entries> entries{};
};

/// Operands by tensor name; a tensor may occur twice. Of an update the result is an operand too: what it
/// holds before. What is not stored is the semiring's zero. Errors: invalid [oracle-operand] (missing, rank
/// or extents disagree), unsupported [oracle-size] (an intermediate or the result would need more than the
/// memory limit, or the work would take hours), [oracle-expression]; exhausted [memory].
support::Result<Expected> evaluate(const Program& program,
                                   const std::map<std::string, OracleOperand>& operands,
                                   const OracleOptions& options = {});

struct Comparison {
  double max_relative_error = 0;  ///< max over entries of |actual - expected| / sum of |terms|
  std::int64_t worst = -1;        ///< row-major index of the worst entry; -1 when all are exact
  std::int64_t checked = 0;       ///< entries compared
};
/// An entry without terms must be exactly 0, a NaN must meet a NaN, an integer the same integer; otherwise
/// its error is infinite. Errors: invalid [extent-mismatch].
support::Result<Comparison> compare(const DenseTensor& actual, const Expected& expected);
/// The same for a result in any format, by value: entries that are not stored are its fill value.
support::Result<Comparison> compare(const PackedTensor& actual, const Expected& expected);
/// 1e-10 for f64, 1e-4 for f32, 0 for integers.
double tolerance(ValueType type);

}  // namespace schaas::client
