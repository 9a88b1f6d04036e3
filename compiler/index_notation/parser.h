#pragma once
#include <string>
#include <string_view>

#include "compiler/index_notation/nodes.h"
#include "compiler/operators/value_type.h"
#include "compiler/support/result.h"

namespace schaas::index_notation {

/// Parses a program: statements `A(i,l) = B(i,j) * C(j,l)` separated by `;`, a semiring's name and `:` before
/// them when it is another than plus-times. The grammar is in docs/language.md; whitespace is free, names are
/// [A-Za-z][A-Za-z0-9_]*, at most Limits::name_bytes long. Ranges point into `text`. Syntax only: `verify`
/// checks meaning. Errors: invalid [syntax], [empty], [too-long], [name-too-long], [control-character],
/// [nesting], [unknown-function], [unknown-reduction], [unknown-semiring], [arity], [chained-comparison],
/// [number-range], [update], [reserved-name]; unsupported [operator] (also arithmetic on an index of a
/// tensor), [too-many-terms], [too-many-statements].
support::Result<Program> parse(std::string_view text);

/// Parses an expression alone. Errors: as above.
support::Result<Expression> parse_expression(std::string_view text);

/// Returns the text of a program whose sums and products are those of the values' type. Booleans without a
/// semiring get `or-and:`, as numpy's `+` and `*` are for them; every other text stays as it is.
std::string with_semiring_of(std::string_view program, operators::ValueType type);

/// Returns the expression with coordinates for the scalars that have the name of one of `indices`.
Expression with_coordinates(const Expression& expression, const std::vector<std::string>& indices);

}  // namespace schaas::index_notation
