#pragma once
#include <string>

#include "compiler/support/result.h"

namespace schaas::cli {

/// Checks that a picture can be written there: .svg, or .png where the program rsvg-convert is (Debian:
/// librsvg2-bin). Errors: invalid [file-ending]; unsupported [picture-program]; those of check_writable.
support::Result<void> check_picture(const std::string& path);

/// Writes a drawing by ending, whole or not at all. Errors: those of write_text and check_picture; internal
/// [picture-program] when it fails.
support::Result<void> write_picture(const std::string& path, const std::string& svg);

}  // namespace schaas::cli
