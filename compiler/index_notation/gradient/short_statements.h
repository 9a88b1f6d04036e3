#pragma once
#include <optional>
#include <vector>

#include "compiler/index_notation/gradient/quotient_terms.h"
#include "compiler/index_notation/rename.h"

namespace schaas::index_notation {

/// Appends the statement `result = terms`, with a mask `result = mask * (terms)`. Where it has more factors
/// or operands than a statement may have (support/limits.h), parts of it become intermediates before it.
void append_statement(std::vector<Assignment>& statements, const Access& result,
                      std::vector<QuotientTerm> terms, FreshNames& names,
                      const std::optional<Expression>& mask);

}  // namespace schaas::index_notation
