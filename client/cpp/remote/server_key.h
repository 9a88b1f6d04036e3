#pragma once
#include <optional>
#include <string>

#include "compiler/support/signature.h"

/// Verification of the key that a server shows.
namespace schaas::client {

struct KeyCheck {
  std::string address;
  std::string expected;  ///< a key, or the path of a file that holds one; "": what is known of the address
  bool authenticated = false;  ///< the channel has proven who the server is: TLS
  bool is_private = false;     ///< it must run under this user's account
};

/// Returns the file of known keys: `known_servers` in $XDG_CONFIG_HOME/schaas, else in ~/.config/schaas; ""
/// when neither variable is set. A line per server: its address and its key.
std::string known_servers_path();

/// The key that is expected: a key, the path of a file that holds one, or $SCHAAS_SERVER_KEY; nothing when
/// all are empty. Errors: invalid [public-key], [server-key-file].
support::Result<std::optional<support::PublicKey>> wanted_key(const std::string& text);

/// A key that was expected must be that one. Otherwise a server that runs under this user's account on this
/// machine is trusted as it is: the system says who has the socket. Any other must have the key it had
/// before; the first time, its key is remembered when the server is on this machine or the channel is
/// authenticated, and refused when it is neither. Errors: invalid [public-key], [server-key-file];
/// unreachable [server-key-mismatch], [server-key-changed], [server-key-unknown],
/// [foreign-server] (a private one of another user).
support::Result<void> check_server_key(const support::PublicKey& shown, const KeyCheck& check);

}  // namespace schaas::client
