#include "status.h"

#include <optional>

#include "schaas/v1/schaas.pb.h"

namespace schaas::client {
namespace {

support::Family family_of(const std::string& text) {
  using support::Family;
  for (const Family family : {Family::invalid, Family::unsupported, Family::exhausted, Family::unreachable}) {
    if (text == support::name(family)) return family;
  }
  return Family::internal;
}

std::optional<support::Diagnostic> sent_diagnostic(const grpc::ClientContext& context) {
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto it = metadata.find("schaas-diagnostic-bin");
  v1::Diagnostic wire;
  if (it == metadata.end() || !wire.ParseFromArray(it->second.data(), static_cast<int>(it->second.size()))) {
    return std::nullopt;
  }
  support::Diagnostic d;
  d.family = family_of(wire.family());
  d.code = wire.code();
  d.message = wire.message();
  d.source_name = wire.source_name();
  d.source = wire.source();
  d.first_line = wire.first_line();
  if (wire.has_range()) d.range = support::SourceRange{wire.begin(), wire.end()};
  d.notes = {wire.notes().begin(), wire.notes().end()};
  return d;
}

}  // namespace

support::Diagnostic server_down(const std::string& address, const std::string& why) {
  return support::noting(
      support::unreachable("server-down", "no server answers at " + address + ": " + why),
      "start one with `schaasd --listen " + address +
          "`, name another with SCHAAS_SERVER, or unset SCHAAS_SERVER to use a private one");
}

support::Diagnostic diagnostic_of(const grpc::Status& status, const grpc::ClientContext& context,
                                  const std::string& address) {
  if (auto sent = sent_diagnostic(context)) return *std::move(sent);
  const std::string text = "the server at " + address + " says: " + status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      return server_down(address, status.error_message());
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return support::exhausted("deadline", "the server at " + address + " did not answer in time");
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return support::exhausted("server-limit", text);
    case grpc::StatusCode::UNIMPLEMENTED:
      return support::unsupported("server-method", text + "; is it an older schaasd, or another service?");
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
      return support::invalid("server-invalid", text);
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return support::unreachable("server-refused", text);
    default:
      return support::internal("server-internal", text);
  }
}

}  // namespace schaas::client
