#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schaas/kernel_set.h"
#include "schaas/schaas.h"

namespace schaas::client {

/// Tensors of a call of the C interface, in the caller's memory. Not movable: pointers into it remain.
struct GivenTensors {
  GivenTensors() = default;
  GivenTensors(const GivenTensors&) = delete;
  GivenTensors& operator=(const GivenTensors&) = delete;
  std::map<std::string, PackedTensor> operands;
  std::optional<PackedTensor> result;  ///< the caller's, when it gave one
  std::map<std::string, PackedTensor*> pointers;
  BindOptions options;
  bool order_matters = false;  ///< to the kernel that will be bound; false: that is not known
  /// Operands that were in disorder read these arrays.
  std::vector<std::shared_ptr<const PackedTensor>> sorted{};
};

/// Returns the text of the C interface, or `otherwise` for NULL.
inline std::string text_or(const char* text, const char* otherwise) {
  return text == nullptr ? otherwise : text;
}

/// The caller says that the tensor lies on the device.
bool is_on_device(const schaas_gpu& gpu, const std::string& name);

/// The wait limit that a number of seconds of the C interface stands for.
std::optional<std::chrono::milliseconds> limit_of(double seconds);

/// Uses of a computation: one call, one call and later ones with other arrays (kept_calls.h), or as many as
/// the caller likes.
enum class Runs { once, kept, many };

/// Errors: invalid [null-argument], [struct-size], [given-twice]; unsupported [result-format]; those of
/// borrow, borrow_on_device, Gpu::check_is_there and Session::gpu.
support::Result<void> take(const schaas_kernels& kernels, const schaas_operand* operands, std::int32_t count,
                           const schaas_options* given, Runs runs, GivenTensors& to);

/// Gives the tensors of an earlier call of the same key_of_call the arrays of this one. False: the result
/// lies in memory of an operand. `order_matters`: to the kernel. Errors: those of borrow.
support::Result<bool> take_arrays(const schaas_kernels& kernels, const schaas_operand* operands,
                                  std::int32_t count, const schaas_options& given, bool order_matters,
                                  GivenTensors& to);

}  // namespace schaas::client
