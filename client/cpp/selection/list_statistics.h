#pragma once
#include <functional>
#include <map>
#include <string>

#include "schaas/expression.h"
#include "schaas/select.h"

namespace schaas::client {

/// Estimates the lists of a program where its loops reach them, from a bounded number of entries. Lists are
/// compressed first levels, and rows of tensors whose first level is dense and whose second is compressed.
/// Others are left out, and so are tensors on a device or in blocks. Empty for programs that read one list.
/// `tensor_named`: an operand; null where there is none.
ListStatistics list_statistics(const Program& program,
                               const std::function<const PackedTensor*(const std::string&)>& tensor_named);

/// Adds what takes time that grows with the entries: the coordinates that operands hold, and the lists where
/// loops reach them.
void add_statistics(const Program& program, const std::map<std::string, PackedTensor*>& operands,
                    Sizes& sizes);

}  // namespace schaas::client
