#include "client/cpp/remote/channel.h"

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include "client/cpp/remote/server_address.h"

// Credentials and the channel. Files that the user names are read whole and never quoted in messages. A token
// goes over TLS, a Unix socket, or the loopback interface alone. A private server needs none: its socket
// proves who the user is.
namespace schaas::client {
namespace {

using support::Result;

constexpr int largest_message = 256 << 20;
constexpr int max_absence = 10'000;  ///< milliseconds until a server that is gone is looked for again

// Whole; nothing of it goes into messages.
Result<std::string> content(const char* code, const char* what, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (file && !text.str().empty()) return text.str();
  return support::invalid(code, std::string("the ") + what + " `" + path + "` cannot be read or is empty");
}

Result<std::string> token_in(const std::string& path) {
  struct stat status {};
  // A token is a password: others must not be able to read it.
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    return support::noting(
        support::invalid("token-file",
                         "others than its owner may read or write the file of the token `" + path + "`"),
        "`chmod 600 " + path +
            "`; when somebody may have read it, ask the server's operator for a new token");
  }
  SCHAAS_ASSIGN_OR_RETURN(const std::string text, content("token-file", "file of the token", path));
  // The first word of the file is the token; blanks around it are allowed.
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const std::size_t end = begin == std::string::npos ? begin : text.find_first_of(" \t\r\n", begin);
  const std::string token = begin == std::string::npos ? "" : text.substr(begin, end - begin);
  const bool printable =
      token.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.~+/=") ==
      std::string::npos;
  if (!token.empty() && printable) return token;
  return support::invalid("token-file",
                          "there is no token in `" + path + "`; expected a line like schaas_0123...");
}

}  // namespace

std::string configured(const std::string& option, const char* variable) {
  if (!option.empty()) return option;
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

Result<Proof> proof_for(const std::string& address, const ConnectOptions& options, bool is_private) {
  Proof proof;
  if (is_private) return proof;
  if (!address.starts_with("unix:")) {
    proof.authority = configured(options.tls_ca, "SCHAAS_TLS_CA");
    proof.certificate = configured(options.tls_cert, "SCHAAS_TLS_CERT");
    proof.key = configured(options.tls_key, "SCHAAS_TLS_KEY");
  }
  if (proof.certificate.empty() != proof.key.empty()) {
    return support::invalid("tls-file",
                            proof.key.empty()
                                ? "a certificate without its key: give --tls-key or SCHAAS_TLS_KEY, too"
                                : "a key without its certificate: give --tls-cert or SCHAAS_TLS_CERT, too");
  }
  if (!proof.certificate.empty() && !proof.tls())
    return support::invalid(
        "tls-file",
        "a certificate of the client, but nothing to know the server by: give --tls-ca or "
        "SCHAAS_TLS_CA, too (`system`: the authorities this machine knows)");
  std::string token = options.token;
  if (const std::string path = configured(options.token_file, "SCHAAS_TOKEN_FILE");
      token.empty() && !path.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(token, token_in(path));
  }
  if (token.empty()) return proof;
  if (!proof.tls() && !is_on_this_machine(address)) {
    return support::noting(
        support::unreachable("token-in-clear",
                             "the token would go to " + address + " unencrypted, for all on the way to read"),
        "use TLS: --tls-ca or SCHAAS_TLS_CA");
  }
  proof.authorization = "Bearer " + token;
  return proof;
}

Result<std::shared_ptr<grpc::Channel>> open_channel(const std::string& address, const Proof& proof) {
  // Held to the end of the process: gRPC's last release can wait up to 10 s for its own poller.
  [[maybe_unused]] static const bool held = (grpc_init(), true);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(largest_message);
  // Servers are reached directly, whatever proxy the environment names.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, max_absence);
  thread_local std::minstd_rand random{std::random_device{}()};
  // Clients begin anywhere among the machines of a name, so that servers have equal shares of them.
  const Target target = target_of(address, random());
  if (!proof.tls()) {
    if (!target.host.empty()) arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, address);
    return grpc::CreateCustomChannel(target.uri, grpc::InsecureChannelCredentials(), arguments);
  }
  if (!target.host.empty()) arguments.SetSslTargetNameOverride(target.host);
  grpc::SslCredentialsOptions tls;
  if (proof.authority != "system") {
    SCHAAS_ASSIGN_OR_RETURN(tls.pem_root_certs,
                            content("tls-file", "authority of the server", proof.authority));
  }
  if (!proof.certificate.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(tls.pem_cert_chain, content("tls-file", "certificate", proof.certificate));
    SCHAAS_ASSIGN_OR_RETURN(tls.pem_private_key, content("tls-file", "key", proof.key));
  }
  return grpc::CreateCustomChannel(target.uri, grpc::SslCredentials(tls), arguments);
}

}  // namespace schaas::client
