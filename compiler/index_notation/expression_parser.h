#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compiler/index_notation/nodes.h"
#include "compiler/index_notation/token_reader.h"

namespace schaas::index_notation {

/// Reads expressions and accesses off the words of a reader, which other languages with expressions in them
/// share. Each function starts at the next word and stops before the first one that does not belong.
///     expression := sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
///     sum        := product { ("+" | "-") product }
///     product    := unary { ("*" | "/") unary }
///     unary      := "-" unary | primary
///     primary    := number | "inf" | access | function "(" expression { "," expression } ")"
///                 | monoid "(" index { "," index } ")" "(" expression ")" | "(" expression ")"
///     access     := name [ "(" mode { "," mode } ")" ]
///     mode       := index [ "(" [ bound ] ":" [ bound ] [ ":" [ bound ] ] ")" ]
///                 | whole | "(" bound ")" | shift
///     shift      := sum of indices, scalars, whole numbers and whole multiples of these
///     bound      := whole | name
///     whole      := [ "-" ] digits
/// A shift `B(i+k)` is read as `sum(p)(B(p) * (p == i+k))`, which is 0 outside of B; p is `B_mode1` or, where
/// the text has that name, another one. A minus sign before a number belongs to the number. Errors: parser.h.
class ExpressionParser {
 public:
  /// `reader` must outlive the parser. Operations, numbers and accesses are counted from here on.
  explicit ExpressionParser(TokenReader& reader) : reader_(reader) {}

  /// `depth`: parentheses open already.
  support::Result<Expression> expression(std::size_t depth);
  /// A tensor whose modes are no shifts.
  support::Result<Access> access();
  /// Returns the range of the first shift that was read.
  std::optional<support::SourceRange> first_shift() const { return first_shift_; }

 private:
  using Operand = support::Result<Expression> (ExpressionParser::*)(std::size_t);

  support::Result<Expression> sum(std::size_t depth);
  support::Result<Expression> product(std::size_t depth);
  support::Result<Expression> unary(std::size_t depth);
  support::Result<Expression> primary(std::size_t depth);
  support::Result<Expression> grouped(std::size_t depth);
  support::Result<Expression> number(bool negative, std::uint32_t begin);
  support::Result<Expression> named(std::size_t depth);
  support::Result<Expression> call(operators::Function function, std::size_t depth);
  support::Result<Expression> reduction(std::size_t depth);
  /// Modes of an access that are shifts, as comparisons of a coordinate with what the text says.
  struct Shifts {
    std::size_t depth = 0;  ///< parentheses open at the access
    std::vector<Expression> comparisons;
  };
  support::Result<Access> access(Shifts* shifts);
  support::Result<void> index(Access& found, Shifts* shifts);
  support::Result<void> shift(Access& found, Shifts& shifts);
  bool at_shift() const;
  bool is_misspelt_call(const Access& found) const;
  bool at_operand_in_parentheses() const;
  support::Diagnostic not_a_function(const Access& found) const;
  std::string coordinate_name(const Access& found);
  support::Result<void> fixed_coordinate(Access& found);
  support::Result<std::optional<Range>> range(const std::string& tensor);
  support::Result<Bound> bound(const std::string& tensor);
  support::Result<void> count(std::size_t more = 1);

  bool at_reduction() const;
  bool at_range_of_index() const;
  bool at_fixed_in_parentheses() const;
  Expression join(operators::Function function, Expression left, Expression right) const;
  support::Diagnostic unsupported(const char* code, const std::string& message,
                                  const std::string& note) const;
  support::Diagnostic no_such_operator() const;
  support::Diagnostic not_an_index(const Access& found) const;
  support::Diagnostic bracket(const std::string& tensor) const;
  support::Diagnostic unknown_function(const std::string& name, support::SourceRange range) const;

  TokenReader& reader_;
  std::size_t terms_ = 0;
  std::size_t shifts_ = 0;  ///< read so far
  std::optional<support::SourceRange> first_shift_;
};

}  // namespace schaas::index_notation
