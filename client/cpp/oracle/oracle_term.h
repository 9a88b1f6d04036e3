#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "client/cpp/oracle/oracle_tensor.h"

namespace schaas::client {

/// A tensor read at indices; indices are numbers into OraclePoint::at.
struct OracleAccess {
  std::shared_ptr<const OracleTensor> tensor;
  std::vector<int> indices;   ///< by mode
  std::vector<Wide> strides;  ///< by mode: row_major_strides of the tensor's extents
};

/// A point at which an expression is evaluated.
struct OraclePoint {
  static constexpr std::int64_t unknown = -2, absent = -1;
  std::vector<std::int64_t> at;          ///< by index: its value
  std::vector<std::int64_t> positions;   ///< by access: OracleTensor::find, or unknown
  std::vector<OracleTensor::Near> near;  ///< by access
};

/// An expression without reductions. An entry that is not stored annihilates: a factor that is the product's
/// zero because its entry is missing makes the product that zero. The other factors do not matter (0 *
/// infinity too).
struct OracleTerm {
  enum class Kind { number, access, coordinate, operation } kind = Kind::number;
  Judged number{};
  int access = 0;
  int index = 0;                    ///< its coordinate is the value
  ValueType type = ValueType::f64;  ///< type of a coordinate
  Function function = Function::add;
  std::optional<double> annihilator;  ///< value that annihilates; for which argument: see first_only
  bool first_only = false;            ///< only the first argument annihilates (0 / x)
  std::vector<OracleTerm> arguments;
};

/// Points at which a term may differ from a constant.
struct OracleSupport {
  bool everywhere = false;
  /// Otherwise: at points where all accesses of one of these sets are stored.
  std::vector<std::vector<int>> any_of;
  Judged background;  ///< everywhere else; without meaning when `everywhere`
};

/// Derives the support of a term from its functions and from the entries that its sparse operands do not
/// store. A product is supported where all its factors are, a sum where one of its terms is. f(x) is
/// supported where x is, with f(background) elsewhere. An access without tensor has values that are not known
/// yet: it is supported everywhere.
OracleSupport support_of(const OracleTerm& term, const std::vector<OracleAccess>& accesses);
/// Returns the points at which all accesses of a set of `a` and all of a set of `b` are stored.
OracleSupport both(const OracleSupport& a, const OracleSupport& b);

/// The term's value at a point.
Judged evaluate_term(const OracleTerm& term, const std::vector<OracleAccess>& accesses, OraclePoint& point);

Wide key_at(const OracleAccess& access, const OraclePoint& point);
/// Looks the access up unless the point knows its position.
std::int64_t position_of(int access, const std::vector<OracleAccess>& accesses, OraclePoint& point);

}  // namespace schaas::client
