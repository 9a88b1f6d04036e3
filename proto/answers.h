#pragma once
#include "client/cpp/include/schaas/frontier.h"

/// Answers as values: the structs that programs of the client see, which the server fills in.
namespace schaas::answers {

using client::Competitor;
using client::Constraint;
using client::Counts;
using client::Explanation;
using client::Frontier;
using client::GpuPhase;
using client::GpuSchedule;
using client::Measurement;
using client::Nest;
using client::Removal;
using client::Scope;
using client::Term;
using client::Variable;
using client::Variant;
using client::Verdict;
using Entry = client::FrontierEntry;
using Kernel = client::KernelInfo;
using Seconds = client::StageSeconds;

}  // namespace schaas::answers
