#pragma once
#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace schaas::test_support {

/// Returns SCHAAS_SEED of the environment, else `fixed`. A test that draws tells its seed in each failure.
inline std::uint64_t seed_or(std::uint64_t fixed) {
  const char* text = std::getenv("SCHAAS_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : fixed;
}

/// The same with the day (UTC) as yyyymmdd, for draws that are others each day beside fixed ones.
inline std::uint64_t seed_of_the_day() {
  const std::chrono::year_month_day day(
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return seed_or(static_cast<std::uint64_t>(static_cast<int>(day.year())) * 10000 +
                 static_cast<unsigned>(day.month()) * 100 + static_cast<unsigned>(day.day()));
}

}  // namespace schaas::test_support
