#pragma once
#include <string>
#include <string_view>

namespace schaas::support {

/// Replaces by `?` what acts on a terminal or a page instead of being shown: control characters but tab and
/// line feed. Does the same to C1 in UTF-8, and to characters that change the direction of writing.
std::string printable(std::string_view text);

/// Replaces by `?` each byte that is not of valid UTF-8, which protobuf neither sends nor takes.
std::string valid_utf8(const std::string& text);

}  // namespace schaas::support
