#include "client/cpp/remote/server_key.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/cpp/platform/user_directory.h"
#include "client/cpp/remote/server_address.h"

// Trust in a server's key, as ssh trusts hosts. The key that the user names goes first, then what the system
// says of the listener, then the key that the address had before. A key is remembered at first use only where
// the channel proves the server, or the server is on this machine. A changed key is refused, since a forged
// server would show one.
namespace schaas::client {
namespace {

namespace fs = std::filesystem;
using support::PublicKey;
using support::Result;

Result<PublicKey> expected_key(const std::string& text) {
  if (text.starts_with("ed25519:")) return PublicKey::parse(text);
  std::ifstream file(text);
  std::string line;
  if (!std::getline(file, line)) {
    return support::noting(support::invalid("server-key-file", "no key can be read from `" + text + "`"),
                           "expected a key, `ed25519:` and 64 hexadecimal digits, or a file that holds one; "
                           "`schaas info` shows a server's");
  }
  return PublicKey::parse(line);
}

struct KnownKey {
  std::string key;
  int line = 0;  ///< line of the file; 0: the address is not known
};

// The last line of an address counts.
KnownKey known_key(const std::string& path, const std::string& address) {
  std::ifstream file(path);
  KnownKey known;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string name, key;
    if (words >> name >> key && name == address) known = {key, number};
  }
  return known;
}

// Appends one line by one write: lines of processes that write at the same time do not mix.
Result<void> remember(const std::string& path, const std::string& address, const PublicKey& key) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string line = address + " " + key.text() + "\n";
  // A line that was written in part counts as a failure.
  const bool written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const std::string why = std::strerror(errno);
  if (file >= 0) close(file);
  if (written) return {};
  return support::noting(
      support::unreachable("server-key-unknown", "the key of the server at " + address +
                                                     " cannot be remembered in `" + path + "`: " + why),
      "give it instead: --server-key " + key.text() + ", or SCHAAS_SERVER_KEY");
}

support::Diagnostic mismatch(const std::string& address, const PublicKey& shown, const PublicKey& expected) {
  return support::noting(
      support::unreachable("server-key-mismatch", "the server at " + address + " has the key " +
                                                      shown.text() + ", expected " + expected.text()),
      "nothing of it was loaded; when the server was set up anew ask its operator for the new key");
}

support::Diagnostic changed(const std::string& address, const PublicKey& shown, const KnownKey& known,
                            const std::string& path) {
  return support::noting(
      support::unreachable("server-key-changed", "the server at " + address + " has the key " + shown.text() +
                                                     ", it had " + known.key + " before"),
      "it was set up anew, or somebody else answers at its address; when you know that it is the former, "
      "remove line " +
          std::to_string(known.line) + " of " + path);
}

}  // namespace

std::string known_servers_path() {
  const std::string directory = user_directory("XDG_CONFIG_HOME", ".config");
  return directory.empty() ? "" : directory + "/known_servers";
}

Result<std::optional<PublicKey>> wanted_key(const std::string& text) {
  const char* variable = std::getenv("SCHAAS_SERVER_KEY");
  const std::string wanted = !text.empty() || variable == nullptr ? text : variable;
  if (wanted.empty()) return std::optional<PublicKey>();
  SCHAAS_ASSIGN_OR_RETURN(const PublicKey key, expected_key(wanted));
  return std::optional(key);
}

// The order of the checks is that of the strength of their evidence.
Result<void> check_server_key(const PublicKey& shown, const KeyCheck& check) {
  if (!check.expected.empty()) {
    SCHAAS_ASSIGN_OR_RETURN(const PublicKey expected, expected_key(check.expected));
    if (shown == expected) return {};
    return mismatch(check.address, shown, expected);
  }
  if (answers_as(check.address, geteuid())) return {};
  if (check.is_private) {
    return support::unreachable("foreign-server", "the system does not say that the private server at " +
                                                      check.address +
                                                      " runs under your account; nothing of it was loaded");
  }
  const std::string path = known_servers_path();
  const KnownKey known = known_key(path, check.address);
  if (known.line > 0 && known.key == shown.text()) return {};
  if (known.line > 0) return changed(check.address, shown, known, path);
  if (check.authenticated || is_on_this_machine(check.address)) return remember(path, check.address, shown);
  return support::noting(
      support::unreachable("server-key-unknown",
                           "the server at " + check.address + " has the key " + shown.text() +
                               ", which is not known, and the channel to it proves nothing"),
      "ask its operator for its key and give it with --server-key or SCHAAS_SERVER_KEY, or use TLS "
      "(--tls-ca)");
}

}  // namespace schaas::client
