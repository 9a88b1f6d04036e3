#pragma once
#include <string>

#include "compiler/support/diagnostic.h"
#include "kernels_cache/binary_store.h"
#include "kernels_cache/schedule_store.h"
#include "schaas/v1/schaas.pb.h"
#include "server/scheduling.h"
#include "server/server_facts.h"

/// The only place that sees both the wire's types and ours. Total functions: what is wrong with a request is
/// found by the front end, where the user's text is at hand.
namespace schaas::server {

problem::ProblemText from_proto(const v1::Problem& problem);
SearchBounds from_proto(const v1::SearchOptions& options);
ScheduleQuery from_proto(const v1::ScheduleRequest& request);
ExplainQuery from_proto(const v1::ExplainRequest& request);
ReportQuery from_proto(const v1::ReportRequest& request);
v1::Explanation to_proto(const NamedExplanation& explanation);
EmitQuery from_proto(const v1::EmitRequest& request);

v1::ScheduleEvent to_proto(const Event& event);
v1::Frontier to_proto(const NamedFrontier& frontier);
v1::Kernel to_proto(const NamedKernel& kernel);
v1::Diagnostic to_proto(const support::Diagnostic& diagnostic);
v1::ServerInfo to_proto(const ServerFacts& facts);
v1::CacheEntry to_proto(const kernels_cache::ProblemSummary& summary);
v1::Kernel to_proto(const kernels_cache::KernelRow& row);

}  // namespace schaas::server
