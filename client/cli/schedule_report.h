#pragma once
#include <string>

#include "client/cli/answer.h"
#include "schaas/connection.h"

namespace schaas::cli {

/// What `schaas schedule` shows of an answer.
struct ScheduleFacts {
  std::string expression;
  client::ScheduleAnswer answer;
  double server_seconds = 0;
  std::string server_address;
};

/// The table of the frontier, counts and seconds of every stage.
Answer report(const ScheduleFacts& facts);

/// Everything about one schedule of the frontier: costs, traces of the same cost, and what it has removed,
/// each with the argument. Errors: invalid [unknown-schedule] naming the nearest id.
support::Result<Answer> explain(const ScheduleFacts& facts, const std::string& id);

}  // namespace schaas::cli
