#pragma once
#include "schaas/connection.h"
#include "schaas/v1/schaas.pb.h"

/// Conversion between messages and the client's values. Beside it connection.cc and status.cc alone see
/// messages.
namespace schaas::client {

v1::Problem to_proto(const ProblemText& problem);
Explanation from_proto(const v1::Explanation& from);
v1::SearchOptions to_proto(const SearchOptions& options);
v1::ScheduleRequest to_proto(const ScheduleRequest& request);
v1::ReportRequest to_proto(const ProblemText& problem, const std::vector<Measurement>& measurements);

Frontier from_proto(const v1::Frontier& frontier);
KernelInfo from_proto(const v1::Kernel& kernel);
ServerInfo from_proto(const v1::ServerInfo& info);
CacheEntry from_proto(const v1::CacheEntry& entry);
support::Diagnostic from_proto(const v1::Diagnostic& diagnostic);
CacheVerification from_proto(const v1::VerifyCacheReply& reply);
/// Errors: internal [server-internal] for an event or variable this client does not know.
support::Result<ScheduleEvent> from_proto(const v1::ScheduleEvent& event);

}  // namespace schaas::client
