#pragma once
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "compiler/support/diagnostic.h"

namespace schaas::support {

/// A broken invariant of ours. Thrown by SCHAAS_CHECK, caught at exactly one point: the request boundary.
struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

#define SCHAAS_STRINGIZE_(x) #x
#define SCHAAS_STRINGIZE(x) SCHAAS_STRINGIZE_(x)
/// Throws InternalError with file and line when `condition` is false. Always on. The file stands alone:
/// nothing that is shown or installed names the folder where it was built.
#define SCHAAS_CHECK(condition, what)                                                               \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      throw ::schaas::support::InternalError(                                                       \
          std::string(__FILE_NAME__ ":" SCHAAS_STRINGIZE(__LINE__) ": " #condition ": ") + (what)); \
    }                                                                                               \
  } while (false)

/// A value or the Diagnostic that says why there is none. `Result<void>` carries success only.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  Result(Diagnostic error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return checked(), std::get<0>(state_); }
  const T& value() const& { return checked(), std::get<0>(state_); }
  /// By value, so that `for (auto& x : f().value())` does not walk a dead temporary.
  T value() && { return checked(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Diagnostic& error() const {
    SCHAAS_CHECK(!ok(), "error() of a successful result");
    return std::get<1>(state_);
  }

 private:
  void checked() const {
    if (!ok()) throw InternalError("value() of a failed result: " + render(std::get<1>(state_)));
  }
  std::variant<T, Diagnostic> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Diagnostic error) : error_(std::move(error)) {}  // NOLINT: implicit by design
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Diagnostic& error() const {
    SCHAAS_CHECK(!ok(), "error() of a successful result");
    return *error_;
  }

 private:
  std::optional<Diagnostic> error_;
};

/// Evaluates a Result expression; on failure returns its Diagnostic from the enclosing function.
#define SCHAAS_RETURN_IF_ERROR(expression)                   \
  do {                                                       \
    auto schaas_status_ = (expression);                      \
    if (!schaas_status_.ok()) return schaas_status_.error(); \
  } while (false)
#define SCHAAS_CONCAT_(a, b) a##b
#define SCHAAS_CONCAT(a, b) SCHAAS_CONCAT_(a, b)
#define SCHAAS_ASSIGN_OR_RETURN_(tmp, declaration, expression) \
  auto tmp = (expression);                                     \
  if (!tmp.ok()) return tmp.error();                           \
  declaration = std::move(tmp).value()
/// SCHAAS_ASSIGN_OR_RETURN(auto x, f()); declares x from the value or returns the Diagnostic.
#define SCHAAS_ASSIGN_OR_RETURN(declaration, expression) \
  SCHAAS_ASSIGN_OR_RETURN_(SCHAAS_CONCAT(schaas_result_, __LINE__), declaration, expression)

}  // namespace schaas::support
