#pragma once
#include <memory>
#include <string>

#include "kernels_cache/binary_store.h"

namespace schaas::kernels_cache {

/// One file per binary: DIRECTORY/ab/abcdef... named by its SHA-256. A put writes a temporary file beside it,
/// flushes it, renames it and flushes the directory, so a crash leaves the whole binary or none; leftovers of
/// a crash are removed on opening. Damaged files are moved to DIRECTORY/damaged for inspection. When a
/// binary was used is the time of its file's last modification, written at most once a minute. One process
/// at a time (the daemon's lock). Errors: invalid [data-directory] when the directory cannot be made or
/// written.
support::Result<std::unique_ptr<BinaryStore>> open_file_binary_store(const std::string& directory);

}  // namespace schaas::kernels_cache
