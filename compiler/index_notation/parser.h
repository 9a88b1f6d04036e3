#pragma once
#include <string_view>

#include "compiler/index_notation/nodes.h"
#include "compiler/support/result.h"

namespace schaas::index_notation {

/// Parses one statement `A(i,l) = B(i,j) * C(j,l)`; whitespace is free, names are [A-Za-z][A-Za-z0-9_]*, at
/// most Limits::name_bytes long. Ranges point into `text`. Syntax only: `verify` checks meaning. Errors:
/// invalid [syntax], [empty], [too-long], [name-too-long], [control-character], [nesting]; unsupported
/// [operator], [function], [literal], [several-statements], [accumulate] for what docs/language.md lists as
/// recognised and not implemented yet; each says what would work.
support::Result<Assignment> parse(std::string_view text);

}  // namespace schaas::index_notation
