#include "kernels_cache/clock.h"

#include <cstdio>
#include <ctime>

// Times of rows are texts that sort as times do: fixed width, UTC, milliseconds. The calendar is computed by
// gmtime_r, which knows no time zone.
namespace schaas::kernels_cache {
namespace {

class SystemClock final : public Clock {
 public:
  Time now() const override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
};

class FixedClock final : public Clock {
 public:
  explicit FixedClock(Time time) : time_(time) {}
  Time now() const override { return time_; }

 private:
  Time time_;
};

}  // namespace

std::shared_ptr<const Clock> system_clock() { return std::make_shared<SystemClock>(); }
std::shared_ptr<const Clock> fixed_clock(Clock::Time time) { return std::make_shared<FixedClock>(time); }

std::string print(Clock::Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t t = static_cast<std::time_t>(seconds.time_since_epoch().count());
  std::tm parts{};
  gmtime_r(&t, &parts);
  char day[32];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  char text[48];
  std::snprintf(text, sizeof text, "%s.%03dZ", day, static_cast<int>((time - seconds).count()));
  return text;
}

}  // namespace schaas::kernels_cache
