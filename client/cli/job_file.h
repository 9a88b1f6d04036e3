#pragma once
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "schaas/connection.h"

namespace schaas::cli {

/// The requests in the text of a job file: JSON objects, one after the other or in an array; lines that begin
/// with # are left out. Members: expression; formats (an object); constraints; dtype, positions, profile,
/// space, isa (as the options of `schaas run`); kernels (how many), traces. expression, each format, dtype,
/// isa and positions may be lists: every combination is a request. constraints is a list of texts that all
/// hold, or a list of such lists, each a case of its own. `path` goes into messages. Errors: invalid
/// [job-file] with the position, the unknown member, or what was expected.
support::Result<std::vector<client::ScheduleRequest>> parse_job_file(const std::string& text,
                                                                     const std::string& path);

}  // namespace schaas::cli
