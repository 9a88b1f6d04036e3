#include "kernels_cache/job_rows.h"

#include <charconv>
#include <cstdlib>

#include "compiler/support/digest.h"

namespace schaas::kernels_cache {
namespace {

using support::Result;

/// Prints seconds with six decimals, and in full where these do not tell them apart from others. (Digests of
/// stored jobs have the former.)
std::string exact(double seconds) {
  const std::string text = std::to_string(seconds);
  if (std::strtod(text.c_str(), nullptr) == seconds) return text;
  char shortest[32];
  return {shortest, std::to_chars(shortest, shortest + sizeof shortest, seconds).ptr};
}

/// Returns the digest of a job behind the text `all`, which is empty for rows of earlier versions.
std::string digest_after(std::string all, const NewJob& job) {
  const auto add = [&](const std::string& part) { all += std::to_string(part.size()) + ":" + part; };
  add(job.client);
  add(job.label);
  add(std::to_string(job.priority));
  add(exact(job.budget_seconds));
  for (const auto& request : job.requests) add(request);
  return support::digest_of(all).sha256;
}

}  // namespace

std::uint64_t bytes_of(const NewJob& job) {
  // Everything of a row but its request, roughly.
  constexpr std::uint64_t of_a_row = 200;
  std::uint64_t bytes = of_a_row;
  for (const auto& request : job.requests) bytes += request.size() + of_a_row;
  return bytes;
}

std::string digest_of(const NewJob& job) {
  const std::string& key = job.idempotency_key;
  return digest_after(std::to_string(key.size()) + ":" + key, job);
}

bool is_digest_of(const std::string& stored, const NewJob& job) {
  return stored == digest_of(job) || stored == digest_after("", job);
}

Result<std::int64_t> client_named(Connection& connection, const std::string& name, const std::string& doing) {
  Statement insert(connection, "INSERT INTO client(name) VALUES ($1) ON CONFLICT(name) DO NOTHING");
  SCHAAS_RETURN_IF_ERROR(insert.bind(name).run(doing));
  Statement query(connection, "SELECT id FROM client WHERE name = $1");
  SCHAAS_RETURN_IF_ERROR(query.bind(name).step(doing));
  return query.integer(0);
}

}  // namespace schaas::kernels_cache
