#pragma once
#include <exception>
#include <optional>
#include <string>

#include "c_operands.h"
#include "compiler/support/result.h"
#include "schaas/bundle.h"
#include "schaas/kernel_set.h"
#include "schaas/schaas.h"

// What stands behind the opaque names of schaas.h, and the one place where C++ errors become C ones.

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
};
struct schaas_storage {
  schaas::client::PackedTensor tensor;
  schaas_tensor view{};
};
struct schaas_computation {
  schaas::client::GivenTensors given;
  std::optional<schaas::client::Computation> computation;
  schaas_tensor view{};
  double fill = 0;  ///< of the result
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

/// To be freed by schaas_text_free.
char* text_for_c(const std::string& text);

/// An error that names the argument.
support::Diagnostic null_argument(const char* name);

/// SCHAAS_F64 or SCHAAS_F32. Errors: invalid [value-type].
support::Result<ValueType> value_type_of(std::int32_t number);
/// 32 or 64. Errors: invalid [position-bits].
support::Result<int> position_bits_of(std::int32_t bits);

}  // namespace schaas::client
