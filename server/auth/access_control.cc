#include "server/auth/access_control.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cmath>

#include "compiler/support/digest.h"

// Authentication by the digest of a bearer token, authorisation by its scopes, quotas by its name. Usage is
// kept by name beside the tokens, so that a reload of the file changes nothing about what runs. One mutex
// covers tokens and usage.
// Rate limiting is a token bucket: it fills evenly, holds one minute's requests, and each request takes one.
// Over the limit the time until the next is known and sent along.
namespace schaas::server {
namespace {

using support::Diagnostic;
using support::Result;

constexpr std::string_view bearer = "Bearer ";
constexpr const char* scope_words[] = {"any", "read", "schedule", "precompute", "report", "admin"};

Diagnostic no_token() {
  return support::noting(
      support::unreachable("no-token", "this server asks for a token"),
      "get one from its operator and give it in a file: schaas --token-file FILE, or SCHAAS_TOKEN_FILE");
}
Diagnostic unknown_token() {
  return support::noting(support::unreachable("unknown-token", "this server does not know the token"),
                         "it may have been withdrawn: ask its operator");
}
Diagnostic no_scope(const Token& token, const Method& method) {
  const std::string scope = scope_words[static_cast<int>(method.scope)];
  return support::noting(
      support::unreachable("scope", "the token of `" + token.name + "` does not allow " + method.name +
                                        ", which takes the scope `" + scope + "`"),
      "ask the server's operator to add `" + scope + "` to its scopes");
}
Diagnostic rate_exceeded(const Token& token, double seconds) {
  // Whole seconds, rounded up; a millisecond less is not worth another one.
  const auto whole = static_cast<std::uint64_t>(std::ceil(seconds - 1e-3));
  return support::noting(
      support::exhausted("quota-requests", "`" + token.name + "` has made more than " +
                                               std::to_string(token.quotas.requests_per_minute) +
                                               " requests in a minute"),
      "retry in " + std::to_string(whole) + " s");
}
Diagnostic concurrency_exceeded(const Token& token) {
  return support::noting(support::exhausted("quota-concurrent", "`" + token.name + "` has " +
                                                                    std::to_string(token.quotas.concurrent) +
                                                                    " requests running, which is its limit"),
                         "retry when one of them has ended");
}

}  // namespace

AccessControl::AuthorisedRequest::~AuthorisedRequest() {
  if (access_control_ != nullptr && !principal_.name.empty()) access_control_->release(principal_.name);
}

Result<std::unique_ptr<AccessControl>> AccessControl::open(Options options) {
  std::unique_ptr<AccessControl> access(new AccessControl(std::move(options)));
  SCHAAS_RETURN_IF_ERROR(access->reload());
  return access;
}

Result<void> AccessControl::reload() {
  if (options_.tokens.empty()) return {};
  SCHAAS_ASSIGN_OR_RETURN(auto tokens, read_tokens(options_.tokens));
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(tokens);
  return {};
}

Result<AccessControl::AuthorisedRequest> AccessControl::authorise(const Method& method, std::string_view peer,
                                                                  std::string_view authorization,
                                                                  double* retry_seconds) {
  if (is_trusted(peer)) return AuthorisedRequest(*this, {});
  const std::lock_guard lock(mutex_);
  SCHAAS_ASSIGN_OR_RETURN(const Token* token, allowed(method, authorization));
  double retry = 0;
  const auto counted = count(*token, retry);
  if (!counted.ok()) {
    if (retry_seconds != nullptr) *retry_seconds = retry;
    return counted.error();
  }
  return AuthorisedRequest(*this, {token->name, token->quotas, token->allows(Scope::admin)});
}

Result<void> AccessControl::authorise_again(const Method& method, std::string_view peer,
                                            std::string_view authorization) {
  if (is_trusted(peer)) return {};
  const std::lock_guard lock(mutex_);
  SCHAAS_RETURN_IF_ERROR(allowed(method, authorization));
  return {};
}

// Without a tokens file everybody is trusted; a Unix socket is guarded by its mode.
bool AccessControl::is_trusted(std::string_view peer) const {
  return options_.tokens.empty() || (peer.starts_with("unix:") && !options_.sockets_need_token);
}

// Returns the token, whose scopes allow the method. The caller holds the mutex.
Result<const Token*> AccessControl::allowed(const Method& method, std::string_view authorization) const {
  if (!authorization.starts_with(bearer)) return no_token();
  const Token* token = authenticate(authorization.substr(bearer.size()));
  if (token == nullptr) return unknown_token();
  if (!token->allows(method.scope)) return no_scope(*token, method);
  return token;
}

// Finds the token by its digest. Every digest is compared in constant time, so the duration reveals nothing.
const Token* AccessControl::authenticate(std::string_view text) const {
  const std::string sha256 = support::digest_of(text).sha256;
  const Token* found = nullptr;
  for (const Token& token : tokens_) {
    if (CRYPTO_memcmp(token.sha256.data(), sha256.data(), sha256.size()) == 0) found = &token;
  }
  return found;
}

// Returns the usage of a name, which begins with a full bucket.
AccessControl::Usage& AccessControl::usage_of(const Token& token) {
  for (Usage& usage : usage_) {
    if (usage.name == token.name) return usage;
  }
  usage_.push_back({token.name, 0, static_cast<double>(token.quotas.requests_per_minute), options_.now()});
  return usage_.back();
}

// Applies the quotas: a token bucket that refills evenly and holds one minute's requests.
Result<void> AccessControl::count(const Token& token, double& retry) {
  Usage& usage = usage_of(token);
  const Quotas& quotas = token.quotas;
  // Concurrency is checked first: a refusal must not use up a request.
  if (quotas.concurrent != 0 && usage.running >= quotas.concurrent) {
    retry = 1;
    return concurrency_exceeded(token);
  }
  if (const auto limit = static_cast<double>(quotas.requests_per_minute); limit > 0) {
    const auto now = options_.now();
    const double seconds = std::chrono::duration<double>(now - usage.counted).count();
    usage.allowance = std::min(limit, usage.allowance + seconds * limit / 60);
    usage.counted = now;
    if (usage.allowance < 1) {
      retry = (1 - usage.allowance) * 60 / limit;
      return rate_exceeded(token, retry);
    }
    usage.allowance -= 1;
  }
  ++usage.running;
  return {};
}

void AccessControl::release(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (Usage& usage : usage_) {
    if (usage.name == name) --usage.running;
  }
}

}  // namespace schaas::server
