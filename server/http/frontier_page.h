#pragma once
#include <string>
#include <vector>

#include "kernels_cache/schedule_store.h"

namespace schaas::server {

/// Returns the statements of a problem's text (problem::print); "" for "".
std::string statement_of(const std::string& problem_text);

/// Renders a stored frontier as a plot of time against memory at allowed sizes. Its points link to the
/// schedules below, with loops, costs and timings. Uses the names of the last request beside the canonical
/// form; canonical names where those are unknown. Errors: internal [stored-frontier], and those of
/// parse_problem, when the row cannot be read.
support::Result<std::string> frontier_page(const kernels_cache::FrontierRow& row,
                                           const std::vector<kernels_cache::MeasurementRow>& measurements);

}  // namespace schaas::server
