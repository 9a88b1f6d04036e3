#pragma once
#include <string>
#include <vector>

#include "kernels_cache/schedule_store.h"

namespace schaas::server {

/// A stored frontier as a page: a picture of time against memory at allowed sizes, whose
/// points lead to the schedules below it: loops, costs, measurements. In canonical names. Errors: internal
/// [stored-frontier], and those of parse_problem, when the row cannot be read.
support::Result<std::string> frontier_page(const kernels_cache::FrontierRow& row,
                                           const std::vector<kernels_cache::MeasurementRow>& measurements);

}  // namespace schaas::server
