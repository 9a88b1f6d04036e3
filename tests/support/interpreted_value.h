#pragma once
#include <cstdint>
#include <vector>

#include "client/cpp/oracle/oracle_arithmetic.h"
#include "compiler/operators/value_type.h"

namespace schaas::test_support {

/// A value of loop IR: a real number, an integer or a complex number. The scale of its errors is not used.
using Value = client::Judged;

/// Arithmetic in the type of a kernel's values: exact and with wrap-around of integers, rounded to 4 bytes
/// after each operation where the type has them. Integers and complex numbers are computed with as the
/// client's oracle does, real ones by operators::evaluate.
class ValueArithmetic {
 public:
  explicit ValueArithmetic(operators::ValueType type);

  Value number(double value) const;       ///< a literal; infinity is the extreme of an integer type
  Value of_index(std::int64_t at) const;  ///< an index, converted as C does
  Value apply(operators::Function function, const std::vector<Value>& arguments) const;
  Value folded(operators::Monoid monoid, const Value& into, const Value& value) const {
    if (monoid == operators::Monoid::sum) return sum(into, value);
    return apply(operators::combine(monoid), {into, value});
  }
  Value sum(const Value& a, const Value& b) const;
  Value product(const Value& a, const Value& b) const;
  /// Elements of arrays whose values are stored as `stored`, a type that widens to the kernel's.
  Value read(const void* values, operators::ValueType stored, std::int64_t at) const;
  void write(void* values, operators::ValueType stored, std::int64_t at, const Value& value) const;
  std::int64_t bytes() const { return static_cast<std::int64_t>(operators::bytes_of(type_)); }

 private:
  Value rounded(Value value) const;

  operators::ValueType type_;
  bool real_, single_;
};

}  // namespace schaas::test_support
