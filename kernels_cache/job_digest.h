#pragma once
#include <string>

#include "kernels_cache/job_store.h"

namespace schaas::kernels_cache {

/// Returns the identity of a job's content: a digest over every field that was submitted, length-prefixed.
std::string digest_of(const NewJob& job);

}  // namespace schaas::kernels_cache
