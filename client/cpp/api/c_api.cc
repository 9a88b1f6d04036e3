#include <cstdlib>
#include <cstring>
#include <new>

#include "client/cpp/api/c_boundary.h"

// schaas.h: sessions, kernels, computations. Every function runs its body in at_boundary(), which turns
// results and exceptions into a status and an error object. Structs of the caller begin with their size:
// fields behind that end belong to a newer header and count as absent. Handles are owned by the caller; null
// is allowed where a handle is closed.
namespace schaas::client {

// Texts go to C programs, which free them by schaas_text_free(): hence malloc.
char* text_for_c(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

ProgressCallback callback_of(schaas_progress_function progress, void* context) {
  if (progress == nullptr) return {};
  // The callback says whether to stop, the wrapper whether to go on.
  return [progress, context](const WaitProgress& now) {
    const schaas_progress told{sizeof told, now.stage.c_str(), now.seconds,   now.done,
                               now.of,      now.kernels,       now.kernels_of};
    return progress(context, &told) == 0;
  };
}

support::Diagnostic null_argument(const char* name) {
  return support::invalid("null-argument", std::string("`") + name + "` is NULL");
}

support::Result<ValueType> value_type_of(std::int32_t number) {
  if (number >= 0 && number < static_cast<int>(operators::value_types().size()))
    return static_cast<ValueType>(number);
  return support::invalid("value-type", "value type " + std::to_string(number) +
                                            ": expected SCHAAS_F64 (0) to SCHAAS_BOOL (12), for " +
                                            operators::value_type_choices());
}

support::Result<int> position_bits_of(std::int32_t bits) {
  if (bits == 32 || bits == 64) return bits;
  return support::invalid("position-bits",
                          "positions of " + std::to_string(bits) + " bits: expected 32 or 64");
}

namespace {

support::Result<ProblemText> problem_text_of(const schaas_problem& given) {
  if (!SCHAAS_HAS(given, memory_depth))
    return support::invalid("struct-size", "`struct_bytes` of the problem is " +
                                               std::to_string(given.struct_bytes) +
                                               ", expected sizeof(schaas_problem)");
  if (given.expression == nullptr) return null_argument("expression");
  SCHAAS_ASSIGN_OR_RETURN(const int position_bits, position_bits_of(given.position_bits));
  if (given.format_count > 0 && given.formats == nullptr) return null_argument("formats");
  if (given.constraint_count > 0 && given.constraints == nullptr) return null_argument("constraints");
  ProblemText text;
  SCHAAS_ASSIGN_OR_RETURN(text.value_type, value_type_of(given.value_type));
  text.expression = with_semiring_of(given.expression, text.value_type);
  for (std::int32_t f = 0; f < given.format_count; ++f)
    text.formats[text_or(given.formats[2 * f], "")] = text_or(given.formats[2 * f + 1], "");
  for (std::int32_t c = 0; c < given.constraint_count; ++c)
    text.constraints.push_back(text_or(given.constraints[c], ""));
  text.position_bits = std::to_string(position_bits);
  text.space = text_or(given.space, "none");
  return text;
}

support::Result<ConnectOptions> options_of(const schaas_connect_options& given) {
  if (!SCHAAS_HAS(given, token_file))
    return support::invalid("struct-size", "`struct_bytes` of the options of a connection is " +
                                               std::to_string(given.struct_bytes) +
                                               ", expected sizeof(schaas_connect_options)");
  ConnectOptions options;
  options.server = text_or(given.server, "");
  options.server_key = text_or(given.server_key, "");
  options.tls_ca = text_or(given.tls_ca, "");
  options.tls_cert = text_or(given.tls_cert, "");
  options.tls_key = text_or(given.tls_key, "");
  options.token = text_or(given.token, "");
  options.token_file = text_or(given.token_file, "");
  return options;
}

KernelSetOptions options_of(const schaas_problem& given) {
  KernelSetOptions options;
  options.search.memory_depth = given.memory_depth;
  options.search.max_temporary_bytes = given.max_temporary_bytes;
  options.search.seconds = given.budget_seconds;
  options.leave_after = limit_of(given.patience_seconds).value_or(std::chrono::milliseconds(0));
  return options;
}

// Binds tensors of a call. Operands that are only summed may have entries in disorder; where the kernel that
// was selected needs order, all is taken once more with that known.
support::Result<std::unique_ptr<schaas_computation>> bound(const schaas_kernels* kernels,
                                                           const schaas_operand* operands, std::int32_t count,
                                                           const schaas_options* given, Runs runs,
                                                           bool order_matters = false) {
  if (kernels == nullptr) return null_argument("kernels");
  auto computation = std::make_unique<schaas_computation>();
  computation->fill = kernels->set.program().semiring->zero;
  computation->given.order_matters = order_matters;
  SCHAAS_RETURN_IF_ERROR(take(*kernels, operands, count, given, runs, computation->given));
  auto bound_to = kernels->set.bind(computation->given.pointers, computation->given.options);
  // Entries in disorder were taken as they are, but this kernel needs them sorted.
  const bool is_disorder = !bound_to.ok() && bound_to.error().code == "tensor-structure";
  if (is_disorder && !computation->given.options.unordered.empty())
    return bound(kernels, operands, count, given, runs, true);
  if (!bound_to.ok()) return bound_to.error();
  computation->computation = std::move(bound_to).value();
  return computation;
}

/// A computation of an earlier call like this one, with the arrays of this one; null: there is none, or
/// something is wrong with the arrays.
std::unique_ptr<schaas_computation> kept(schaas_kernels& kernels, const std::string& key,
                                         const schaas_operand* operands, std::int32_t count,
                                         const schaas_options& options) {
  auto found = kernels.kept.take(key);
  if (!found) return nullptr;
  const auto is_apart =
      take_arrays(kernels, operands, count, options, found->computation->order_matters(), found->given);
  if (!is_apart.ok() || !*is_apart || !found->computation->rebind()) return nullptr;
  return found;
}

/// Moves a result out of its computation; null: the caller's tensor has it.
schaas_storage* result_of(schaas_computation& computation) {
  if (computation.given.result) return nullptr;
  auto storage = std::make_unique<schaas_storage>();
  storage->tensor = std::move(computation.computation->result());
  storage->view = storage->tensor.view();
  return storage.release();
}

// Computes by a computation that is kept. It is taken out of the store while it runs, and given back only
// after it succeeded.
support::Result<schaas_storage*> compute_kept(schaas_kernels& kernels, const std::string& key,
                                              const schaas_operand* operands, std::int32_t count,
                                              const schaas_options& options) {
  auto computation = kept(kernels, key, operands, count, options);
  if (!computation) {
    SCHAAS_ASSIGN_OR_RETURN(computation, bound(&kernels, operands, count, &options, Runs::kept));
  }
  SCHAAS_RETURN_IF_ERROR(computation->computation->run());
  schaas_storage* const result = result_of(*computation);
  if (computation->given.sorted.empty() && computation->computation->is_rebindable())
    kernels.kept.give(key, std::move(computation));
  return result;
}

}  // namespace
}  // namespace schaas::client

using namespace schaas::client;  // NOLINT: C names outside of any namespace
using schaas::support::Result;

extern "C" {

int32_t schaas_api_version(void) { return SCHAAS_API_VERSION; }
const char* schaas_version(void) { return SCHAAS_VERSION; }
int32_t schaas_never_wait(void* context, const schaas_progress* progress) {
  (void)context, (void)progress;
  return 1;
}

int32_t schaas_error_status(const schaas_error* error) {
  return error == nullptr ? SCHAAS_SUCCESS : schaas::support::exit_code(error->diagnostic.family);
}
const char* schaas_error_code(const schaas_error* error) {
  return error == nullptr ? "" : error->diagnostic.code.c_str();
}
const char* schaas_error_message(const schaas_error* error) {
  return error == nullptr ? "" : error->diagnostic.message.c_str();
}
const char* schaas_error_text(const schaas_error* error) {
  return error == nullptr ? "" : error->text.c_str();
}
void schaas_error_free(schaas_error* error) { delete error; }
void schaas_text_free(char* text) { std::free(text); }

int32_t schaas_session_open(const char* server, schaas_session** session, schaas_error** error) {
  schaas_connect_options options{};
  options.struct_bytes = sizeof options;
  options.server = server;
  return schaas_session_connect(&options, session, error);
}
int32_t schaas_session_connect(const schaas_connect_options* options, schaas_session** session,
                               schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (session == nullptr || options == nullptr)
      return null_argument(session == nullptr ? "session" : "options");
    SCHAAS_ASSIGN_OR_RETURN(ConnectOptions wanted, options_of(*options));
    ProgressCallback progress;
    if (SCHAAS_HAS(*options, progress_context))
      progress = callback_of(options->progress, options->progress_context);
    // Connecting runs on a thread of its own, so that a callback can end it.
    SCHAAS_ASSIGN_OR_RETURN(Session opened, while_telling(progress, "connecting", [&](std::stop_token stop) {
                              wanted.stop = stop;
                              return Session::open(wanted);
                            }));
    *session = new schaas_session{std::move(opened), {}};
    return {};
  });
}
int32_t schaas_bundle_open(const char* path, const char* server_key, schaas_session** session,
                           schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (path == nullptr || session == nullptr) return null_argument(path == nullptr ? "path" : "session");
    SCHAAS_ASSIGN_OR_RETURN(Bundle bundle, Bundle::open(path, text_or(server_key, "")));
    *session = new schaas_session{Session(bundle.source()), bundle};
    return {};
  });
}
void schaas_session_close(schaas_session* session) { delete session; }
const char* schaas_session_address(const schaas_session* session) {
  return session == nullptr ? "" : session->session.source().address().c_str();
}

int32_t schaas_kernels_open(schaas_session* session, const schaas_problem* problem, schaas_kernels** kernels,
                            schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (session == nullptr) return null_argument("session");
    if (problem == nullptr || kernels == nullptr)
      return null_argument(problem == nullptr ? "problem" : "kernels");
    SCHAAS_ASSIGN_OR_RETURN(ProblemText text, problem_text_of(*problem));
    ProgressCallback progress;
    if (SCHAAS_HAS(*problem, progress_context))
      progress = callback_of(problem->progress, problem->progress_context);
    KernelSetOptions options = options_of(*problem);
    SCHAAS_ASSIGN_OR_RETURN(KernelSet set, while_telling(progress, "connecting", [&](std::stop_token stop) {
                              options.stop = stop;
                              return KernelSet::open(session->session, std::move(text), options);
                            }));
    options.stop = {};
    *kernels = new schaas_kernels{std::move(set), session->session, std::move(options)};
    return {};
  });
}
void schaas_kernels_close(schaas_kernels* kernels) { delete kernels; }

int32_t schaas_bind(schaas_kernels* kernels, const schaas_operand* operands, int32_t count,
                    const schaas_options* options, schaas_computation** computation, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (computation == nullptr) return null_argument("computation");
    SCHAAS_ASSIGN_OR_RETURN(auto made, bound(kernels, operands, count, options, Runs::many));
    *computation = made.release();
    return {};
  });
}

int32_t schaas_run(schaas_computation* computation, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (computation == nullptr) return null_argument("computation");
    SCHAAS_RETURN_IF_ERROR(computation->computation->run());
    computation->view = computation->computation->result().view();
    return {};
  });
}
void schaas_computation_close(schaas_computation* computation) { delete computation; }
const schaas_tensor* schaas_result(const schaas_computation* computation) {
  return computation == nullptr ? nullptr : &computation->view;
}
double schaas_result_fill(const schaas_computation* computation) {
  return computation == nullptr ? 0 : computation->fill;
}

int32_t schaas_compute(schaas_kernels* kernels, const schaas_operand* operands, int32_t count,
                       const schaas_options* options, schaas_storage** result, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (result == nullptr && (options == nullptr || options->result == nullptr))
      return null_argument("result");
    if (kernels == nullptr) return null_argument("kernels");
    // An empty key: the call names something that a kept computation does not have.
    if (const std::string key = key_of_call(operands, count, options); !key.empty()) {
      SCHAAS_ASSIGN_OR_RETURN(schaas_storage* const made,
                              compute_kept(*kernels, key, operands, count, *options));
      if (result != nullptr) *result = made;
      return {};
    }
    SCHAAS_ASSIGN_OR_RETURN(auto made, bound(kernels, operands, count, options, Runs::once));
    SCHAAS_RETURN_IF_ERROR(made->computation->run());
    schaas_storage* const storage = result_of(*made);
    if (result != nullptr) *result = storage;
    return {};
  });
}

}  // extern "C"
