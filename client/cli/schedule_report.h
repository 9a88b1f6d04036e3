#pragma once
#include <string>

#include "client/cli/answer.h"
#include "schaas/connection.h"

namespace schaas::cli {

/// Facts of an answer that `schaas schedule` shows.
struct ScheduleFacts {
  std::string expression;
  bool published_stages = false;  ///< stages of the papers (profile sparseauto), not proofs
  client::ScheduleAnswer answer;
  double server_seconds = 0;
  std::string server_address;
};

/// The table of the frontier, counts and seconds of every stage.
Answer report(const ScheduleFacts& facts);

/// Why the schedules that `which` may stand for are, or are not, on the frontier. One on the frontier is
/// shown with the traces of the same cost and all it has removed, each with the argument.
Answer explain(const ScheduleFacts& facts, const std::string& which,
               const std::vector<client::Explanation>& explanations);

}  // namespace schaas::cli
