#pragma once
#include <string>
#include <string_view>

namespace schaas::support {

/// Returns a text of somebody else's as it may be shown on a terminal or a page: control characters but tab
/// and line feed (C0, DEL, C1 in UTF-8), which move the cursor or change the terminal, and those that reverse
/// the order of writing, become `?`.
std::string printable(std::string_view text);

}  // namespace schaas::support
