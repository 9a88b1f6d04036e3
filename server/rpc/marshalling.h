#pragma once
#include <string>

#include "compiler/support/diagnostic.h"
#include "kernels_cache/binary_store.h"
#include "kernels_cache/schedule_store.h"
#include "schaas/v1/schaas.pb.h"
#include "server/answers/scheduling.h"
#include "server/rpc/server_facts.h"

/// Conversion between protocol messages and domain types; no other file sees both. Total functions: the front
/// end, which has the user's text, reports what is wrong with a request.
namespace schaas::server {

problem::ProblemText from_proto(const v1::Problem& problem);
SearchBounds from_proto(const v1::SearchOptions& options);
ScheduleQuery from_proto(const v1::ScheduleRequest& request);
ExplainQuery from_proto(const v1::ExplainRequest& request);
ReportQuery from_proto(const v1::ReportRequest& request);
EmitQuery from_proto(const v1::EmitRequest& request);
v1::EmitReply to_proto(const EmitAnswer& answer);

v1::ScheduleEvent to_proto(const Event& event);
v1::Frontier to_proto(const answers::Frontier& frontier);
v1::Kernel to_proto(const answers::Kernel& kernel);
v1::Explanation to_proto(const answers::Explanation& explanation);
v1::Diagnostic to_proto(const support::Diagnostic& diagnostic);
v1::ServerInfo to_proto(const ServerFacts& facts);
v1::CacheEntry to_proto(const kernels_cache::ProblemSummary& summary);
v1::Kernel to_proto(const kernels_cache::KernelRow& row);

}  // namespace schaas::server
