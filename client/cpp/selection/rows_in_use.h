#pragma once
#include <optional>
#include <string>
#include <vector>

#include "schaas/frontier.h"

namespace schaas::client {

/// The coordinates of a storage level that entries have.
struct InUse {
  std::string tensor;
  int level = 0;
  bool operator==(const InUse&) const = default;
};
/// By nest of a variant, for which coordinates alone its outermost loop is run: rows of a result are cleared
/// where a row of a CSR operand has no entries (compiler/lower/cleared.cc), and rows of a temporary between
/// phases are left out where no entry reads them (compiler/lower/referenced_rows.cc). Nothing where it runs for all,
/// or by entries anyway.
std::vector<std::optional<InUse>> rows_in_use(const std::vector<Nest>& nests);

}  // namespace schaas::client
