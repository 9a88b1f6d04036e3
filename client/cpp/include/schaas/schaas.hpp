#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "schaas/schaas.h"

/// The C interface from C++ programs that are built against an installation: owners instead of close and
/// free, exceptions instead of statuses. Header only, so that the library's own compiler and standard do not
/// matter; C++17 or later. "schaas/views.hpp" makes tensors of arrays that the program has.
///
///     schaas::Session session;
///     schaas::Kernels kernels(session, {"y(i) = B(i,j) * x(j)", {{"B", "csr"}}});
///     schaas::Computation product = kernels.bind({{"B", &b}, {"x", &x}});
///     product.run();
///     use(*product.result());
namespace schaas {

/// what() is the whole text, with the source line and a caret.
class Error : public std::runtime_error {
 public:
  explicit Error(schaas_error* error)
      : std::runtime_error(schaas_error_text(error)),
        status_(schaas_error_status(error)),
        code_(schaas_error_code(error)) {
    schaas_error_free(error);
  }
  int status() const { return status_; }  ///< SCHAAS_INVALID, ...
  const std::string& code() const { return code_; }

 private:
  int status_;
  std::string code_;
};

inline void check(std::int32_t status, schaas_error* error) {
  if (status != SCHAAS_SUCCESS) throw Error(error);
}

struct Problem {
  std::string expression;
  std::vector<std::pair<std::string, std::string>> formats{};  ///< tensor, format: those that are not dense
  std::vector<std::string> constraints{};
  std::int32_t value_type = SCHAAS_F64;
  std::int32_t position_bits = 32;
  double patience_seconds = 0;  ///< for so long bindings wait for a better kernel, too
};

class Session {
 public:
  /// "": $SCHAAS_SERVER, else the user's private server.
  explicit Session(const std::string& server = {}) : Session(to_server(server)) {}
  /// With proofs of who is at either end; `struct_bytes` is set here.
  explicit Session(schaas_connect_options options) {
    options.struct_bytes = sizeof options;
    schaas_session* opened = nullptr;
    schaas_error* error = nullptr;
    const std::int32_t status = schaas_session_connect(&options, &opened, &error);
    check(status, error);
    handle_.reset(opened);
  }
  /// The kernels of a file, without a server.
  static Session bundle(const std::string& path, const std::string& server_key = {}) {
    schaas_session* opened = nullptr;
    schaas_error* error = nullptr;
    const std::int32_t status =
        schaas_bundle_open(path.c_str(), server_key.empty() ? nullptr : server_key.c_str(), &opened, &error);
    check(status, error);
    return Session(opened);
  }
  schaas_session* get() const { return handle_.get(); }

 private:
  explicit Session(schaas_session* opened) : handle_(opened) {}
  static schaas_connect_options to_server(const std::string& server) {
    schaas_connect_options options{};
    options.server = server.empty() ? nullptr : server.c_str();
    return options;
  }
  struct Close {
    void operator()(schaas_session* session) const { schaas_session_close(session); }
  };
  std::unique_ptr<schaas_session, Close> handle_;
};

class Computation {
 public:
  explicit Computation(schaas_computation* bound) : handle_(bound) {}
  void run() {
    schaas_error* error = nullptr;
    const std::int32_t status = schaas_run(handle_.get(), &error);
    check(status, error);
  }
  /// Until the next run.
  const schaas_tensor* result() const { return schaas_result(handle_.get()); }
  /// The value of the elements that the result does not store: the zero of the semiring.
  double fill_value() const { return schaas_result_fill(handle_.get()); }

 private:
  struct Close {
    void operator()(schaas_computation* computation) const { schaas_computation_close(computation); }
  };
  std::unique_ptr<schaas_computation, Close> handle_;
};

class Kernels {
 public:
  Kernels(const Session& session, const Problem& problem) {
    std::vector<const char*> formats, constraints;
    for (const auto& [tensor, format] : problem.formats)
      formats.insert(formats.end(), {tensor.c_str(), format.c_str()});
    for (const auto& constraint : problem.constraints) constraints.push_back(constraint.c_str());
    schaas_problem given{};
    given.struct_bytes = sizeof given;
    given.expression = problem.expression.c_str();
    given.formats = formats.data();
    given.format_count = static_cast<std::int32_t>(problem.formats.size());
    given.constraints = constraints.data();
    given.constraint_count = static_cast<std::int32_t>(constraints.size());
    given.value_type = problem.value_type;
    given.position_bits = problem.position_bits;
    given.patience_seconds = problem.patience_seconds;
    schaas_kernels* opened = nullptr;
    schaas_error* error = nullptr;
    const std::int32_t status = schaas_kernels_open(session.get(), &given, &opened, &error);
    check(status, error);
    handle_.reset(opened);
  }
  Computation bind(const std::vector<schaas_operand>& operands,
                   const schaas_options* options = nullptr) const {
    schaas_computation* bound = nullptr;
    schaas_error* error = nullptr;
    const std::int32_t status = schaas_bind(
        handle_.get(), operands.data(), static_cast<std::int32_t>(operands.size()), options, &bound, &error);
    check(status, error);
    return Computation(bound);
  }
  /// Measures the schedules of the frontier on these tensors; later bindings of these sizes take the fastest.
  /// Returns JSON (schaas_tune).
  std::string tune(const std::vector<schaas_operand>& operands,
                   const schaas_options* options = nullptr) const {
    return text_of(schaas_tune, operands, options);
  }
  /// The frontier and what its schedules cost for these tensors, or for those of the last binding, as JSON
  /// (schaas_frontier_at).
  std::string frontier(const std::vector<schaas_operand>& operands = {},
                       const schaas_options* options = nullptr) const {
    return text_of(schaas_frontier_at, operands, options);
  }

 private:
  template <class Function>
  std::string text_of(Function function, const std::vector<schaas_operand>& operands,
                      const schaas_options* options) const {
    char* text = nullptr;
    schaas_error* error = nullptr;
    const std::int32_t status = function(handle_.get(), operands.data(),
                                         static_cast<std::int32_t>(operands.size()), options, &text, &error);
    check(status, error);
    std::string owned = text;
    schaas_text_free(text);
    return owned;
  }
  struct Close {
    void operator()(schaas_kernels* kernels) const { schaas_kernels_close(kernels); }
  };
  std::unique_ptr<schaas_kernels, Close> handle_;
};

/// A tensor that the library owns. `fill_value`: of every element that it does not store.
class Storage {
 public:
  /// Coordinates by mode, then entry; duplicates add up. Values are double, or std::int64_t for bool
  /// and integer types (of SCHAAS_U64 the bits).
  template <class Number = double>
  static Storage pack(const std::string& name, const std::vector<std::int64_t>& extents,
                      const std::vector<std::vector<std::int64_t>>& coordinates,
                      const std::vector<Number>& values, const std::string& format, double fill_value = 0,
                      std::int32_t value_type = std::is_same_v<Number, double> ? SCHAAS_F64 : SCHAAS_I64,
                      std::int32_t position_bits = 32) {
    constexpr bool whole = std::is_same_v<Number, std::int64_t>;
    static_assert(whole || std::is_same_v<Number, double>, "values are double or std::int64_t");
    const bool integers = value_type != SCHAAS_F64 && value_type != SCHAAS_F32 && value_type != SCHAAS_F16 &&
                          value_type != SCHAAS_BF16;
    if (whole != integers)
      throw std::invalid_argument("`" + name + "`: integer types take std::int64_t, the others double");
    std::vector<const std::int64_t*> lists;
    for (const auto& list : coordinates) {
      if (list.size() != values.size())
        throw std::invalid_argument("`" + name + "` has " + std::to_string(values.size()) + " values and " +
                                    std::to_string(list.size()) + " coordinates of a mode");
      lists.push_back(list.data());
    }
    if (lists.size() != extents.size())
      throw std::invalid_argument("`" + name + "` has " + std::to_string(extents.size()) + " extents and " +
                                  std::to_string(lists.size()) + " lists of coordinates");
    const schaas_storage_options options = filled(fill_value);
    schaas_storage* made = nullptr;
    schaas_error* error = nullptr;
    const std::int32_t status =
        schaas_pack_with(name.c_str(), static_cast<std::int32_t>(extents.size()), extents.data(),
                         lists.data(), values.data(), static_cast<std::int64_t>(values.size()),
                         format.c_str(), value_type, position_bits, &options, &made, &error);
    check(status, error);
    return Storage(made);
  }
  /// The same tensor in another format.
  static Storage convert(const std::string& name, const schaas_tensor& tensor, const std::string& format,
                         double fill_value = 0) {
    const schaas_storage_options options = filled(fill_value);
    schaas_storage* made = nullptr;
    schaas_error* error = nullptr;
    const std::int32_t status =
        schaas_convert_with(name.c_str(), &tensor, format.c_str(), &options, &made, &error);
    check(status, error);
    return Storage(made);
  }
  static Storage read(const std::string& path, double fill_value = 0) {
    const schaas_storage_options options = filled(fill_value);
    schaas_storage* made = nullptr;
    schaas_error* error = nullptr;
    const std::int32_t status = schaas_read_with(path.c_str(), &options, &made, &error);
    check(status, error);
    return Storage(made);
  }
  void write(const std::string& path) const {
    const schaas_storage_options options = filled(fill_value());
    schaas_error* error = nullptr;
    const std::int32_t status = schaas_write_with(path.c_str(), &tensor(), &options, &error);
    check(status, error);
  }
  const schaas_tensor& tensor() const { return *schaas_storage_view(handle_.get()); }
  double fill_value() const { return schaas_storage_fill(handle_.get()); }

 private:
  explicit Storage(schaas_storage* made) : handle_(made) {}
  static schaas_storage_options filled(double value) {
    schaas_storage_options options{};
    options.struct_bytes = sizeof options;
    options.fill_value = value;
    return options;
  }
  struct Free {
    void operator()(schaas_storage* storage) const { schaas_storage_free(storage); }
  };
  std::unique_ptr<schaas_storage, Free> handle_;
};

}  // namespace schaas
