#pragma once
#include <string>

#include "kernels_cache/job_store.h"

namespace schaas::kernels_cache {

/// Returns the identity of a job: a digest over its key and every field that was submitted, length-prefixed.
std::string digest_of(const NewJob& job);

/// Tells whether a stored digest is this job's. Rows of earlier versions have one that leaves out the key.
bool is_digest_of(const std::string& stored, const NewJob& job);

}  // namespace schaas::kernels_cache
