#include "client/cli/figures.h"

#include <cmath>
#include <cstdio>

// Figures for people: three digits, and the unit that the magnitude asks for.
namespace schaas::cli {
namespace {

std::string three_digits(double value, const char* unit) {
  char text[64];
  // Rounding to three digits must not give a fourth: 9.995 would be shown as 10.00.
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, unit);
  return text;
}

}  // namespace

std::string seconds(double value) {
  if (value <= 0) return "0 s";
  if (value >= 1) return three_digits(value, "s");
  if (value >= 1e-3) return three_digits(value * 1e3, "ms");
  return three_digits(value * 1e6, "us");
}

std::string bytes(double value) {
  if (value < 1024) return std::to_string(static_cast<std::int64_t>(value)) + " B";
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (value /= 1024; value >= 1024 && unit < 3; ++unit) value /= 1024;
  return three_digits(value, units[unit]);
}

std::string rounded(double value) {
  char text[64];
  // Whole numbers below a million are shown with all digits.
  if (std::abs(value) < 1e6 && value == std::floor(value)) {
    std::snprintf(text, sizeof text, "%.0f", value);
  } else {
    std::snprintf(text, sizeof text, "%.4g", value);
  }
  return text;
}

std::string shape(const std::vector<std::int64_t>& extents) {
  if (extents.empty()) return "scalar";
  std::string out;
  for (const std::int64_t extent : extents) {
    out += (out.empty() ? "" : " x ") + grouped(std::to_string(extent));
  }
  return out;
}

}  // namespace schaas::cli
