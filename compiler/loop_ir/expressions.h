#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "compiler/operators/operators.h"

/// Expressions of the loop IR; nodes.h declares the functions that make them.
namespace schaas::loop_ir {

enum class Type { index, value };  ///< a 64-bit integer; a number of the kernel's value type

struct Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

/// A constant index.
struct Integer {
  std::int64_t value = 0;
};
/// A constant value; may be infinite.
struct Number {
  double value = 0;
};
/// An extent, a `let`, an accumulator, a counter, a loop variable, a cursor's position or presence, `begin` /
/// `end` of the phase's range, or `capacity`. The latter is the number of slots of a hash table.
struct Name {
  std::string name;
};
struct Load {
  std::string array;
  ExpressionPtr index;
};
/// An index as a value of the kernel's type.
struct Convert {
  ExpressionPtr index;
};
/// A function of its arguments, all of them values or all of them indices. Infix functions take exactly two.
/// Of indices only: add, subtract, multiply, divide (whole
/// numbers that are not negative), minimum, maximum, comparisons, and, or, not; `and` and `or` then
/// stop at the argument that decides. Conditions are 1 and 0 in the type of the arguments.
struct Apply {
  operators::Function function = operators::Function::add;
  std::vector<ExpressionPtr> arguments;
};
/// `then` when the index `condition` is not zero, else `otherwise`; only one of them is evaluated.
struct Choose {
  ExpressionPtr condition, then, otherwise;
};
/// Order of the searched elements.
enum class Layout {
  ascending,  ///< the search gives the first position with array[p] >= key, else `end`
  hashed,     ///< a hash table (proto/kernel_abi.h): the search gives the key's position, or -1
  filled,     ///< a hash table being filled: the search gives the key's slot, or the free one, 0, for it
  distinct,   ///< ascending and distinct: the search gives the key's position, or -1
};
/// A position of [begin, end).
struct Search {
  std::string array;
  ExpressionPtr begin, end, key;
  Layout layout = Layout::ascending;
};

struct Expression {
  std::variant<Integer, Number, Name, Load, Apply, Choose, Search, Convert> node;
};

}  // namespace schaas::loop_ir
