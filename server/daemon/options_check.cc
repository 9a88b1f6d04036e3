#include "server/daemon/options_check.h"

#include <filesystem>
#include <utility>

#include "server/auth/signing_key.h"
#include "server/storage/database_file.h"

// Checks that `--check-config` and a start share. They change nothing and take nothing, so they may run
// beside a daemon; free addresses and sound databases are known at a start only.
namespace schaas::server {
namespace {

using support::Result;

// Requires TLS on addresses that other machines reach, unless --insecure-tcp allows otherwise.
Result<void> check_reach(const DaemonOptions& options, const std::vector<ListenAddress>& addresses) {
  if (options.tls.wanted()) return check_tls(options.tls);
  for (const ListenAddress& address : addresses) {
    if (address.is_local() || options.insecure_tcp) continue;
    return support::noting(
        support::invalid("insecure-listen",
                         "`" + address.text() + "` can be reached from other machines, and there is no TLS"),
        "give --tls-cert and --tls-key, and --tokens or --tls-client-ca to say who may use it; or listen on "
        "127.0.0.1 "
        "(ssh can bring others there); --insecure-tcp listens all the same, where everybody is trusted");
  }
  return {};
}

// A database holds the kernels of a fleet, signed with one key, and the jobs that workers take.
Result<void> check_database(const DaemonOptions& options) {
  if (options.database.empty()) {
    if (options.adopt_toolchain)
      return support::invalid("command-line", "--adopt-toolchain is for a shared database; give --database");
    if (!options.worker) return {};
    return support::invalid("command-line", "--worker takes items of a shared database; give --database");
  }
  if (options.signing_key.empty()) {
    return support::noting(
        support::invalid("signing-key", "servers of one database sign with one key; give --signing-key"),
        "copy the signing.key of the first server to the others");
  }
  SCHAAS_RETURN_IF_ERROR(read_database_file(options.database));
  return {};
}

// Checks the signing key. Files yet to be created in the data directory need no check of their own.
Result<void> check_files(const DaemonOptions& options) {
  if (!options.signing_key.empty()) return check_signing_key(options.signing_key);
  const std::string own = DataDirectory::signing_key_in(options.data_directory);
  return std::filesystem::exists(own) ? check_signing_key(own) : Result<void>();
}

Result<void> check_sockets(const DaemonOptions& options, const std::vector<ListenAddress>& addresses) {
  for (const ListenAddress& address : addresses) {
    const auto folder = std::filesystem::path(address.path).parent_path();
    const bool will_be_there = folder == options.data_directory && !std::filesystem::exists(folder);
    if (address.is_unix && !will_be_there) SCHAAS_RETURN_IF_ERROR(check_socket(address.path));
  }
  return {};
}

}  // namespace

Result<std::vector<ListenAddress>> addresses_of(const DaemonOptions& options) {
  std::vector<std::string> texts = options.listen;
  if (texts.empty()) texts.push_back("unix:" + DataDirectory::socket_in(options.data_directory));
  std::vector<ListenAddress> addresses;
  for (const auto& text : texts) {
    SCHAAS_ASSIGN_OR_RETURN(ListenAddress address, parse_listen_address(text));
    addresses.push_back(std::move(address));
  }
  return addresses;
}

Result<void> check_options(const DaemonOptions& options) {
  SCHAAS_RETURN_IF_ERROR(DataDirectory::check(options.data_directory));
  SCHAAS_RETURN_IF_ERROR(check_database(options));
  SCHAAS_RETURN_IF_ERROR(check_files(options));
  SCHAAS_ASSIGN_OR_RETURN(const std::vector<ListenAddress> addresses, addresses_of(options));
  SCHAAS_RETURN_IF_ERROR(check_sockets(options, addresses));
  SCHAAS_RETURN_IF_ERROR(check_reach(options, addresses));
  if (!options.http.empty()) SCHAAS_RETURN_IF_ERROR(check_http_address(options.http, options.http_reach()));
  if (!options.tokens.empty()) SCHAAS_RETURN_IF_ERROR(read_tokens(options.tokens));
  return {};
}

}  // namespace schaas::server
