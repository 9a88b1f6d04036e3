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

/// Errors of these and of events: internal [server-internal] for what this client does not know.
support::Result<Frontier> from_proto(const v1::Frontier& frontier);
support::Result<KernelInfo> from_proto(const v1::Kernel& kernel);
support::Result<CacheEntry> from_proto(const v1::CacheEntry& entry);
ServerInfo from_proto(const v1::ServerInfo& info);
support::Diagnostic from_proto(const v1::Diagnostic& diagnostic);
CacheVerification from_proto(const v1::VerifyCacheReply& reply);
support::Result<ScheduleEvent> from_proto(const v1::ScheduleEvent& event);

}  // namespace schaas::client
