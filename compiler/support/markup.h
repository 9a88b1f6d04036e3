#pragma once
#include <string>
#include <string_view>

namespace schaas::support {

/// The text as it stands between tags or in a quoted attribute of HTML and SVG; control characters but tab
/// and line feed become spaces.
std::string escaped_markup(std::string_view text);

}  // namespace schaas::support
