#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/support/result.h"
#include "proto/methods.h"

namespace schaas::server {

/// Quotas of a token; 0: unlimited.
struct Quotas {
  std::uint64_t requests_per_minute = 0;
  std::uint64_t concurrent = 0;  ///< concurrent requests
  std::uint64_t queued = 0;      ///< waiting items of jobs
  bool operator==(const Quotas&) const = default;
};

/// A client of the server. Only the digest of the secret is stored.
struct Token {
  std::string name;    ///< shown in the log and in lists of jobs
  std::string sha256;  ///< digest of the secret
  std::vector<Scope> scopes;
  Quotas quotas;
  bool allows(Scope scope) const;
};

/// Reads a tokens file: a line for each token; `#` begins a comment:
///
///     NAME SHA256 scopes=read,schedule [requests-per-minute=600] [concurrent=8] [queued=10000]
///
/// Scopes: read, schedule, precompute, report, admin (which includes the others). Errors: invalid [tokens]:
/// the file cannot be read, others than its owner may write it, or a line is wrong (shown with its number).
support::Result<std::vector<Token>> read_tokens(const std::string& path);

/// Generates a token: "schaas_" and 64 random hexadecimal digits.
std::string make_token();
/// Prints the token for its client and the line for the tokens file.
std::string introduction(const std::string& name, const std::string& token);
/// Checks a name: 1 to 64 letters, digits and `-_.@`. Errors: invalid [tokens].
support::Result<void> check_token_name(const std::string& name);

}  // namespace schaas::server
