#pragma once
#include <map>
#include <string>
#include <variant>

#include "schaas/expression.h"
#include "schaas/tensor.h"

/// The oracle of `--verify`: evaluates a program independently of the compiler, in double, at real size.
/// docs/client.md explains the method and the error measure.
namespace schaas::client {

using OracleOperand = std::variant<const CooTensor*, const DenseTensor*>;

/// The exact-as-double result and, per entry, the sum of the absolute values of the terms that make it up.
struct Expected {
  DenseTensor values;      ///< f64, modes as in the result access
  DenseTensor magnitudes;  ///< f64, same shape
};

/// Operands by tensor name; a tensor may occur twice. Errors: invalid [oracle-operand] (missing, rank or
/// extents disagree), unsupported [oracle-size] (an intermediate or the result would need more than
/// `memory_limit` bytes), exhausted [memory].
support::Result<Expected> evaluate(const Program& program,
                                   const std::map<std::string, OracleOperand>& operands,
                                   std::int64_t memory_limit = std::int64_t{8} << 30);

struct Comparison {
  double max_relative_error = 0;  ///< max over entries of |actual - expected| / sum of |terms|
  std::int64_t worst = -1;        ///< row-major index of the worst entry; -1 when all are exact
  std::int64_t checked = 0;       ///< entries compared
};
/// An entry without terms must be exactly 0, a NaN must meet a NaN; otherwise its error is infinite.
/// Errors: invalid [extent-mismatch].
support::Result<Comparison> compare(const DenseTensor& actual, const Expected& expected);
/// 1e-10 for f64, 1e-4 for f32.
double tolerance(ValueType type);

}  // namespace schaas::client
