#pragma once
#include <string>
#include <vector>

#include "client/cli/answer.h"
#include "schaas/bundle.h"

namespace schaas::cli {

/// Lists the contents of a bundle: a line for each instruction set and width. `answers` is not empty.
Answer report_answers(const std::vector<client::BundledAnswer>& answers);
/// The same of a file, with who made it. Errors: those of Bundle::open.
support::Result<Answer> report_bundle(const std::string& path, const std::string& server_key);

}  // namespace schaas::cli
