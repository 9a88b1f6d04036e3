#pragma once
#include <optional>
#include <string>
#include <vector>

#include "schaas/frontier.h"

namespace schaas::client {

/// The coordinates of a storage level that entries have.
struct OccupiedRows {
  std::string tensor;
  int level = 0;
  bool operator==(const OccupiedRows&) const = default;
};
/// Returns, by nest of a variant, the coordinates for which alone its outermost loop runs. Rows of a result
/// are cleared where a row of a CSR operand has no entries (compiler/lower/emit/cleared.cc). Rows of a
/// temporary between phases are left out where no entry reads them
/// (compiler/lower/analysis/referenced_rows.cc). Nothing where the loop runs for all, or by entries anyway.
std::vector<std::optional<OccupiedRows>> occupied_rows(const std::vector<Nest>& nests);

}  // namespace schaas::client
