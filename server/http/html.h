#pragma once
#include <string>
#include <string_view>

/// Building blocks of the status page: plain HTML without scripts or external resources.
namespace schaas::server::html {

/// Escapes text for element content and double-quoted attributes.
std::string escaped(std::string_view text);
/// Renders a whole page; `title` is text, `body` markup.
std::string page(const std::string& title, const std::string& body);
/// Format "1.5 MiB" or "12 kB", "1.2 ms", and "1,234,567".
std::string of_bytes(double bytes);
std::string of_seconds(double seconds);
std::string of_count(double count);
/// Returns the style sheet, plots included.
std::string style();

}  // namespace schaas::server::html
