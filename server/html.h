#pragma once
#include <string>
#include <string_view>

/// Pages of the status page: plain, without scripts or anything from elsewhere.
namespace schaas::server::html {

/// For text and for attributes in double quotes.
std::string escaped(std::string_view text);
/// A whole page; `title` is text, `body` markup.
std::string page(const std::string& title, const std::string& body);
/// "1.5 MiB", "12 kB"... of bytes; "1.2 ms" of seconds; "1,234,567" of a count.
std::string of_bytes(double bytes);
std::string of_seconds(double seconds);
std::string of_count(double count);
/// The one style sheet, with that of drawings.
std::string style();

}  // namespace schaas::server::html
