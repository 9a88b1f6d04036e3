#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace schaas::support {

/// Two lower-case digits a byte.
std::string hexadecimal(std::string_view bytes);
/// The bytes again; nothing when `digits` is no such text.
std::optional<std::string> bytes_of_hexadecimal(std::string_view digits);

}  // namespace schaas::support
