#include "tests/support/interpreted_value.h"

#include <complex>
#include <cstring>

#include "tests/support/typed_number.h"

namespace schaas::test_support {

using operators::Function;
using operators::ValueType;

namespace {

/// The bits of an integer, widened to 64.
std::int64_t read_integer(const void* values, ValueType stored, std::int64_t at) {
  return with_type(static_cast<std::int32_t>(stored), [&](auto zero) {
    std::memcpy(&zero, static_cast<const char*>(values) + at * static_cast<std::int64_t>(sizeof zero),
                sizeof zero);
    return static_cast<std::int64_t>(zero);
  });
}

void write_integer(void* values, ValueType stored, std::int64_t at, std::int64_t value) {
  with_type(static_cast<std::int32_t>(stored), [&](auto zero) {
    zero = static_cast<decltype(zero)>(value);
    std::memcpy(static_cast<char*>(values) + at * static_cast<std::int64_t>(sizeof zero), &zero, sizeof zero);
  });
}

double as_single(double value) { return static_cast<double>(static_cast<float>(value)); }

}  // namespace

ValueArithmetic::ValueArithmetic(ValueType type)
    : type_(operators::arithmetic_type(type)),
      real_(!operators::is_integer(type) && !operators::is_complex(type)),
      single_(operators::part_type(type_) == ValueType::f32) {}

Value ValueArithmetic::rounded(Value value) const {
  if (!single_) return value;
  value.value = as_single(value.value);
  value.imaginary = as_single(value.imaginary);
  return value;
}

Value ValueArithmetic::number(double value) const {
  return real_ ? rounded({value}) : rounded(client::given(value, type_));
}

Value ValueArithmetic::of_index(std::int64_t at) const {
  if (!operators::is_integer(type_)) return number(static_cast<double>(at));
  return client::given(operators::wrapped(static_cast<std::uint64_t>(at), type_), type_);
}

Value ValueArithmetic::sum(const Value& a, const Value& b) const {
  return real_ ? rounded({a.value + b.value}) : rounded(client::apply(Function::add, a, b));
}

Value ValueArithmetic::product(const Value& a, const Value& b) const {
  return real_ ? rounded({a.value * b.value}) : rounded(client::apply(Function::multiply, a, b));
}

Value ValueArithmetic::apply(Function function, const std::vector<Value>& arguments) const {
  if (real_) {
    std::vector<double> values;
    for (const Value& each : arguments) values.push_back(each.value);
    return rounded({operators::evaluate(function, values)});
  }
  if (arguments.size() == 1) return rounded(client::apply(function, arguments.front()));
  Value all = arguments.front();
  for (std::size_t n = 1; n < arguments.size(); ++n)
    all = rounded(client::apply(function, all, arguments[n]));
  return all;
}

Value ValueArithmetic::read(const void* values, ValueType stored, std::int64_t at) const {
  if (operators::is_integer(stored)) {
    const std::int64_t integer = read_integer(values, stored, at);
    return operators::is_integer(type_) ? client::given(integer, type_)
                                        : number(operators::real_of(integer, stored));
  }
  const auto type = static_cast<std::int32_t>(stored);
  return real_ ? Value{read_number(values, type, at)}
               : client::given(read_complex_number(values, type, at), type_);
}

void ValueArithmetic::write(void* values, ValueType stored, std::int64_t at, const Value& value) const {
  if (operators::is_integer(stored)) return write_integer(values, stored, at, value.integer);
  write_complex_number(values, static_cast<std::int32_t>(stored), at, {value.value, value.imaginary});
}

}  // namespace schaas::test_support
