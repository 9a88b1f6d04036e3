#pragma once
#include <string>
#include <vector>

#include "kernels_cache/schedule_store.h"

namespace schaas::server {

/// The line of a problem's text (problem::print) that people recognise: its statements. "" of "".
std::string statement_of(const std::string& problem_text);

/// A stored frontier as a page: a picture of time against memory at allowed sizes, whose
/// points lead to the schedules below it: loops, costs, measurements. In the names of who asked, beside the
/// canonical form; in canonical names where those are not known. Errors: internal [stored-frontier], and
/// those of parse_problem, when the row cannot be read.
support::Result<std::string> frontier_page(const kernels_cache::FrontierRow& row,
                                           const std::vector<kernels_cache::MeasurementRow>& measurements);

}  // namespace schaas::server
