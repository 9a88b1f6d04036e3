#include "server/auth/tokens.h"

#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "compiler/support/digest.h"
#include "compiler/support/hexadecimal.h"
#include "compiler/support/nearest_name.h"

// The tokens file: one line for each client, with the digest of its secret. The file can be read without
// learning a token, but whoever can write it can become a client, so others than its owner may not. A wrong
// line is an error of the whole file; a reload then keeps the old tokens.
namespace schaas::server {
namespace {

using support::Diagnostic;
using support::Result;

constexpr std::size_t max_name_bytes = 64, token_bytes = 32;

// Names in the order of `Scope`, without `any`, which no token needs to have.
const std::vector<std::string>& scope_names() {
  static const std::vector<std::string> names = {"read", "schedule", "precompute", "report", "admin"};
  return names;
}

Result<Scope> scope_of(const std::string& name) {
  const auto& names = scope_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    return support::invalid("tokens", "unknown scope `" + name +
                                          "`; known are read, schedule, precompute, report, admin" +
                                          support::did_you_mean(name, names));
  }
  return static_cast<Scope>(found - names.begin() + 1);
}

// Reads a quota. 0 is refused: it would mean no limit.
Result<std::uint64_t> count_of(const std::string& word, const std::string& text) {
  std::uint64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && count > 0) return count;
  return support::invalid("tokens", "`" + word + "`: expected a positive number");
}

Result<void> read_scopes(const std::string& list, Token& token) {
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    SCHAAS_ASSIGN_OR_RETURN(const Scope scope, scope_of(name));
    token.scopes.push_back(scope);
  }
  return {};
}

// Reads `scopes=...` or a quota, `NAME=NUMBER`.
Result<void> read_setting(const std::string& word, Token& token) {
  const std::size_t sign = word.find('=');
  const std::string name = word.substr(0, sign);
  const std::string value = sign == std::string::npos ? "" : word.substr(sign + 1);
  if (name == "scopes") return read_scopes(value, token);
  std::uint64_t* quota = name == "requests-per-minute" ? &token.quotas.requests_per_minute
                         : name == "concurrent"        ? &token.quotas.concurrent
                         : name == "queued"            ? &token.quotas.queued
                                                       : nullptr;
  if (quota == nullptr) {
    return support::invalid("tokens", "unknown setting `" + name +
                                          "`; known are scopes, requests-per-minute, concurrent, queued");
  }
  SCHAAS_ASSIGN_OR_RETURN(*quota, count_of(word, value));
  return {};
}

// Reads a line: name, digest, settings.
Result<Token> read_token(const std::string& line) {
  std::istringstream words(line);
  Token token;
  words >> token.name >> token.sha256;
  SCHAAS_RETURN_IF_ERROR(check_token_name(token.name));
  if (!support::is_sha256_hex(token.sha256)) {
    return support::invalid("tokens", "the token of `" + token.name +
                                          "` must be given by its SHA-256, 64 lower-case hexadecimal digits; "
                                          "`schaasd --new-token NAME` prints such a line");
  }
  for (std::string word; words >> word;) SCHAAS_RETURN_IF_ERROR(read_setting(word, token));
  if (token.scopes.empty())
    return support::invalid("tokens", "`" + token.name + "` may do nothing: it has no scopes=...");
  return token;
}

// Points an error at its line.
Diagnostic in_line(const Diagnostic& error, const std::string& path, const std::string& line,
                   std::uint64_t number) {
  Diagnostic out = support::at(error, path, line, {0, static_cast<std::uint32_t>(line.size())});
  out.first_line = number;
  return out;
}

Result<void> check_owner_only_writes(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & 022) == 0) return {};
  return support::noting(
      support::invalid("tokens", "others than its owner may write the tokens file `" + path + "`"),
      "`chmod go-w " + path + "`");
}

}  // namespace

bool Token::allows(Scope scope) const {
  return scope == Scope::any || std::find(scopes.begin(), scopes.end(), scope) != scopes.end() ||
         std::find(scopes.begin(), scopes.end(), Scope::admin) != scopes.end();
}

Result<std::vector<Token>> read_tokens(const std::string& path) {
  SCHAAS_RETURN_IF_ERROR(check_owner_only_writes(path));
  std::ifstream file(path);
  if (!file) return support::invalid("tokens", "the tokens file `" + path + "` cannot be read");
  std::vector<Token> tokens;
  std::uint64_t number = 0;
  for (std::string whole; std::getline(file, whole);) {
    ++number;
    const std::string line = whole.substr(0, whole.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto token = read_token(line);
    if (!token.ok()) return in_line(token.error(), path, line, number);
    const bool again = std::any_of(tokens.begin(), tokens.end(),
                                   [&](const Token& known) { return known.sha256 == token->sha256; });
    if (again) return in_line(support::invalid("tokens", "this token is there twice"), path, line, number);
    tokens.push_back(std::move(token).value());
  }
  return tokens;
}

// 256 random bits: no guessing, so digests need no salt and no slow hash.
std::string make_token() {
  std::string bytes(token_bytes, '\0');
  const bool made = ::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  SCHAAS_CHECK(made, "randomness for a token");
  return "schaas_" + support::hexadecimal(bytes);
}

std::string introduction(const std::string& name, const std::string& token) {
  return "the token, for a file that only its holder reads (schaas --token-file FILE, or "
         "SCHAAS_TOKEN_FILE):\n" +
         token + "\nthe line of it for the tokens file of the server (schaasd --tokens FILE):\n" + name +
         " " + support::digest_of(token).sha256 + " scopes=read,schedule,report\n";
}

Result<void> check_token_name(const std::string& name) {
  const bool good = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '@';
  });
  if (good && !name.empty() && name.size() <= max_name_bytes) return {};
  return support::invalid(
      "tokens",
      "`" + name.substr(0, 80) + "` is no name of a token; expected 1 to 64 letters, digits and `-_.@`");
}

}  // namespace schaas::server
