#pragma once
#include <string>
#include <vector>

#include "schaas/frontier.h"

namespace schaas::client {

/// By nest of a variant, the tensor whose rows without entries the nest is not run for: its result's rows are
/// cleared instead (compiler/lower/cleared.cc). Empty where it runs for all rows, or by entries anyway.
std::vector<std::string> skipped_rows(const std::vector<Nest>& nests);

}  // namespace schaas::client
