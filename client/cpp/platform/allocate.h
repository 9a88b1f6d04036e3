#pragma once
#include <cstdint>
#include <string>

#include "compiler/support/result.h"
#include "schaas/buffer.h"

namespace schaas::client {

/// A buffer of `count` elements of `element_bytes`, or exhausted [memory] naming `what` when the size does
/// not fit in 63 bits, exceeds this machine's memory or what is free of it, or cannot be had.
support::Result<Buffer> allocate(std::int64_t count, std::int64_t element_bytes, const std::string& what,
                                 Buffer::Contents contents = Buffer::Contents::zeros);

/// `buffer` gets room for `count` elements, as Buffer::resize says. Errors: as allocate; it is then as it
/// was.
support::Result<void> resize(Buffer& buffer, std::int64_t count, std::int64_t element_bytes,
                             const std::string& what);

/// The [memory] diagnostic for something too large to count or hold.
support::Diagnostic too_large(const std::string& what, const std::string& size);
/// "3.2 GiB"
std::string bytes_text(double bytes);

}  // namespace schaas::client
