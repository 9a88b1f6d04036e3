#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "server/methods.h"

namespace schaas::server {

/// What the holder of a token may use; 0: as much as anybody.
struct Quotas {
  std::uint64_t requests_per_minute = 0;
  std::uint64_t concurrent = 0;  ///< requests at the same moment
  std::uint64_t queued = 0;      ///< items of jobs that wait
  bool operator==(const Quotas&) const = default;
};

/// Somebody who may use the server. The token itself is known to its holder alone.
struct Token {
  std::string name;    ///< in the log and in lists of jobs
  std::string sha256;  ///< of the token
  std::vector<Scope> scopes;
  Quotas quotas;
  bool allows(Scope scope) const;
};

/// A line for each token; `#` begins a comment:
///
///     NAME SHA256 scopes=read,schedule [requests-per-minute=600] [concurrent=8] [queued=10000]
///
/// Scopes: read, schedule, precompute, report, admin (which includes the others). Errors: invalid [tokens]:
/// the file cannot be read, others than its owner may write it, or a line is wrong (shown with its number).
support::Result<std::vector<Token>> read_tokens(const std::string& path);

/// A fresh token: "schaas_" and 64 hexadecimal digits from the system's randomness.
std::string make_token();
/// What a new token's holder and the tokens file get, for people.
std::string introduction(const std::string& name, const std::string& token);
/// Names are 1 to 64 letters, digits and `-_.@`. Errors: invalid [tokens].
support::Result<void> check_token_name(const std::string& name);

}  // namespace schaas::server
