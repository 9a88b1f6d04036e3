#pragma once
#include <cstdint>
#include <string>

#include "kernels_cache/database.h"
#include "kernels_cache/job_store.h"

/// Rows of the job database, as the store and the salvage of a damaged one write and check them.
namespace schaas::kernels_cache {

/// Returns the identity of a job: a digest over its key and every field that was submitted, length-prefixed.
std::string digest_of(const NewJob& job);

/// Tells whether a stored digest is this job's. Rows of earlier versions have one that leaves out the key.
bool is_digest_of(const std::string& stored, const NewJob& job);

/// Estimates the bytes of a job in the database.
std::uint64_t bytes_of(const NewJob& job);

/// Returns the row id of a client, which is added when it is new. Runs inside the caller's transaction.
support::Result<std::int64_t> client_named(Connection& connection, const std::string& name,
                                           const std::string& doing);

}  // namespace schaas::kernels_cache
