#include "client/cpp/remote/status.h"

#include <optional>

#include "client/cpp/remote/marshalling.h"
#include "compiler/support/printable.h"

// Failed calls as diagnostics. A server of ours sends its own diagnostic in the metadata; other failures come
// from gRPC, or from another service at the address, and are told by the status code.
namespace schaas::client {
namespace {

std::optional<support::Diagnostic> sent_diagnostic(const grpc::ClientContext& context) {
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto it = metadata.find("schaas-diagnostic-bin");
  v1::Diagnostic wire;
  if (it == metadata.end() || !wire.ParseFromArray(it->second.data(), static_cast<int>(it->second.size()))) {
    return std::nullopt;
  }
  return from_proto(wire);
}

// gRPC tells a failed handshake by its words alone.
bool is_about_tls(const std::string& why) {
  for (const char* word : {"handshake", "SSL", "Ssl", "CERTIFICATE", "peer certificate"})
    if (why.find(word) != std::string::npos) return true;
  return false;
}

support::Diagnostic tls_failed(const std::string& address, const std::string& why) {
  return support::noting(support::unreachable("tls-failed", "this client and the server at " + address +
                                                                " do not believe each other: " + why),
                         "the server's certificate must be valid, from the authority that --tls-ca names, "
                         "and for this name; where the "
                         "server asks for one, the client's must be, too (--tls-cert, --tls-key)");
}

}  // namespace

support::Diagnostic server_down(const std::string& address, const std::string& why) {
  // gRPC tells the cause in its text alone.
  if (why.find("Permission denied") != std::string::npos)
    return support::noting(
        support::unreachable("socket-permission", "this user may not connect to " + address + ": " + why),
        "its operator sets `socket-mode` (schaasd.toml) to 660 and adds this user to the socket's group");
  return support::noting(
      support::unreachable("server-down", "no server answers at " + address + ": " + why),
      "start one with `schaasd --listen " + address +
          "`, name another with SCHAAS_SERVER, or unset SCHAAS_SERVER to use a private one");
}

support::Diagnostic diagnostic_of(const grpc::Status& status, const grpc::ClientContext& context,
                                  const std::string& address) {
  if (auto sent = sent_diagnostic(context)) return *std::move(sent);
  const std::string said = support::printable(status.error_message());
  const std::string text = "the server at " + address + " says: " + said;
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      if (is_about_tls(said)) return tls_failed(address, said);
      return server_down(address, said);
    case grpc::StatusCode::CANCELLED:  // by the server: callers look first at what they cancelled themselves
      return server_down(address, "it stops, and ended the call");
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
