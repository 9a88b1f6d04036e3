#pragma once
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>

#include "client/cpp/api/c_operands.h"
#include "client/cpp/api/kept_calls.h"
#include "client/cpp/platform/seconds_since.h"
#include "compiler/support/result.h"
#include "schaas/bundle.h"
#include "schaas/kernel_set.h"
#include "schaas/schaas.h"

// Objects behind the opaque names of schaas.h, and the one conversion of C++ errors to C ones.

struct schaas_error {
  schaas::support::Diagnostic diagnostic;
  std::string text;
};
struct schaas_session {
  schaas::client::Session session;
  std::optional<schaas::client::Bundle> bundle{};
};
struct schaas_kernels {
  schaas::client::KernelSet set;
  schaas::client::Session session;
  schaas::client::KernelSetOptions options;  ///< without the stop of its opening
  schaas::client::KeptCalls kept{};
};
struct schaas_storage {
  schaas::client::PackedTensor tensor;
  schaas_tensor view{};
};
struct schaas_computation {
  schaas::client::GivenTensors given;
  std::optional<schaas::client::Computation> computation;
  schaas_tensor view{};
  double fill = 0;  ///< fill value of the result
};

namespace schaas::client {

/// Runs `body`, which returns Result<void>; an exception becomes a diagnostic as well.
template <class Body>
std::int32_t at_boundary(schaas_error** error, const Body& body) noexcept {
  const auto fail = [error](support::Diagnostic diagnostic) {
    const std::int32_t status = support::exit_code(diagnostic.family);
    if (error != nullptr) {
      std::string text = support::render(diagnostic);
      *error = new schaas_error{std::move(diagnostic), std::move(text)};
    }
    return status;
  };
  try {
    try {
      const support::Result<void> done = body();
      return done.ok() ? SCHAAS_SUCCESS : fail(done.error());
    } catch (const std::bad_alloc&) {
      return fail(support::exhausted("memory", "there is not enough memory"));
    } catch (const std::exception& exception) {
      return fail(support::internal("client-internal", exception.what()));
    }
  } catch (...) {  // no memory even for the message
    return SCHAAS_EXHAUSTED;
  }
}

/// The callback of a caller, as the C++ interface takes it; empty where there is none.
using ProgressCallback = std::function<bool(const WaitProgress&)>;
ProgressCallback callback_of(schaas_progress_function progress, void* context);

/// A struct of so many bytes, perhaps of a program built for an earlier version, has this field.
#define SCHAAS_HAS(given, field) \
  ((given).struct_bytes >= offsetof(std::remove_cvref_t<decltype(given)>, field) + sizeof((given).field))

/// Runs `body(stop)`, which asks a server, on a thread of its own, while this one tells the caller how long
/// it has been waiting; without a callback, on this thread.
template <class Body>
auto while_telling(const ProgressCallback& progress, const char* stage, const Body& body)
    -> decltype(body(std::stop_token())) {
  if (!progress) return body(std::stop_token());
  using Clock = std::chrono::steady_clock;
  std::stop_source stop;
  std::packaged_task<decltype(body(std::stop_token()))()> task([&] { return body(stop.get_token()); });
  auto done = task.get_future();
  const std::jthread thread(std::move(task));
  for (const auto start = Clock::now();
       done.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready;) {
    WaitProgress now;
    now.stage = stage;
    now.seconds = seconds_since(start);
    if (!progress(now)) {
      stop.request_stop();
      break;
    }
  }
  return done.get();
}

/// To be freed by schaas_text_free.
char* text_for_c(const std::string& text);

/// An error that names the argument.
support::Diagnostic null_argument(const char* name);

/// SCHAAS_F64 or SCHAAS_F32. Errors: invalid [value-type].
support::Result<ValueType> value_type_of(std::int32_t number);
/// 32 or 64. Errors: invalid [position-bits].
support::Result<int> position_bits_of(std::int32_t bits);

}  // namespace schaas::client
