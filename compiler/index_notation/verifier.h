#pragma once
#include <string_view>

#include "compiler/index_notation/nodes.h"
#include "compiler/support/result.h"

namespace schaas::index_notation {

/// Checks the meaning of a parsed program; `source` is the text it was parsed from (for carets; empty: none).
/// Of names: invalid [rank-mismatch] (a tensor used with two different numbers of indices), [reserved-name],
/// [result-on-right], [used-before-definition], [redefined], [unused] and [update] (intermediates), each with
/// a suggestion where one is near. Of indices: invalid [index-bound-twice], [index-reduced] (also on the
/// left), [nothing-to-reduce], [ambiguous-sum], [ambiguous-update], [extent-unknown]. Of semirings: invalid
/// [semiring-operator]. Of names that are indices: invalid [index-as-value]. Unsupported: those of Limits,
/// [too-many-factors], [too-many-operands], [too-many-indices], [order-too-high].
support::Result<void> verify(const Program& program, std::string_view source);

}  // namespace schaas::index_notation
