#include "server/http/html.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cmath>

#include "compiler/support/markup.h"
#include "compiler/support/plot.h"

// The few pieces that all pages share. Numbers are for people: with units, and with thousands set apart.
namespace schaas::server::html {

std::string escaped(std::string_view text) { return support::escaped_markup(text); }

std::string page(const std::string& title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + escaped(title) +
         "</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n"
         "<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n<body>\n"
         "<nav><a href=\"/\">schaasd</a> <a href=\"/jobs\">jobs</a> <a href=\"/problems\">problems</a> "
         "<a href=\"/fleet\">fleet</a> "
         "<a href=\"/metrics\">metrics</a></nav>\n<h1>" +
         escaped(title) + "</h1>\n" + body + "</body>\n</html>\n";
}

std::string of_bytes(double bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string of_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} \u00b5s", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 600) return fmt::format("{:.1f} s", seconds);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// Groups digits; from ten million on, and for what is not finite, as a power of ten.
std::string of_count(double count) {
  if (!std::isfinite(count) || std::fabs(count) >= 1e7) return fmt::format("{:.2e}", count);
  std::string digits = fmt::format("{:.0f}", count);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string style() {
  return "body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:70rem;padding:0 "
         "1rem;color:#222}\n"
         "nav "
         "a{margin-right:1rem}a{color:#0550ae}h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.1rem}"
         "\n"
         "table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem "
         "0;text-align:left;vertical-align:top;"
         "border-bottom:1px solid #ddd}.n{text-align:right}\n"
         "pre,code{font:13px/1.4 "
         "ui-monospace,monospace}pre{background:#f5f5f5;padding:.6rem;overflow-x:auto}\n"
         "progress{width:12rem}section:target{background:#fff8dc}\n"
         ".bad{color:#a00}\n" +
         support::plot_style();
}

}  // namespace schaas::server::html
