#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "schaas/expression.h"
#include "schaas/select.h"

namespace schaas::client {

/// Every operand of the program is there, has the order it is used with, and gives its indices one extent
/// each; `given` holds those that no operand has. Errors: invalid [missing-operand], [unknown-tensor],
/// [unknown-index], [operand-rank], [extent-conflict], [missing-extent].
support::Result<std::map<std::string, std::int64_t>> bound_extents(
    const Program& program, const std::map<std::string, PackedTensor*>& operands,
    const std::map<std::string, std::int64_t>& given);

/// Lists the tensors that a program reads: operands, and a result that it updates.
std::vector<Access> read_by(const Program& program);

}  // namespace schaas::client
