#pragma once
#include <memory>
#include <string>

#include "kernels_cache/binary_store.h"

namespace schaas::kernels_cache {

/// Opens a store of one file per binary, DIRECTORY/ab/abcdef..., named by its SHA-256. A put writes a
/// temporary file, flushes it, renames it and flushes the directory: a crash leaves the whole binary or none.
/// Opening removes the temporary files of a crash. Damaged files move to DIRECTORY/damaged. The modification
/// time of a file is its last use, written at most once a minute. One process at a time (the daemon's lock).
/// Errors: invalid [data-directory] when the directory cannot be created or written.
support::Result<std::unique_ptr<BinaryStore>> open_file_binary_store(const std::string& directory);

}  // namespace schaas::kernels_cache
