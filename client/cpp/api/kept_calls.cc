#include "client/cpp/api/kept_calls.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "client/cpp/api/c_boundary.h"
#include "client/cpp/api/c_operands.h"
#include "client/cpp/tensor/struct_check.h"
#include "client/cpp/tensor/tensor_checks.h"

// Memoisation of plain calls. A call names no computation, yet loops call with the same formats and sizes
// again and again. Binding anew would dominate small kernels. The key has everything that a decision depends
// on, so an equal key may reuse the bound computation with other arrays.
//
// Invariants: a computation belongs to one caller at a time, who takes it out and gives it back. No lock is
// held while it runs. Computations with large temporaries are not kept, and the least recently used of a few
// is evicted.
namespace schaas::client {
namespace {

constexpr std::size_t max_kept = 4;  // a loop may alternate between so many sizes
constexpr std::int64_t max_temporary_bytes = std::int64_t{1} << 20;  // limit of temporaries

// Numbers are appended as bytes: the key is compared, never read.
template <class Number>
void append(std::string& key, Number number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Only the struct is read here, before anything of the call was checked.
bool is_readable(const schaas_tensor* tensor) {
  if (tensor == nullptr || tensor->order < 0 || tensor->order > max_order) return false;
  return tensor->order == 0 ||
         (tensor->extents != nullptr && tensor->levels != nullptr && tensor->mode_order != nullptr);
}

void append(std::string& key, const schaas_tensor& tensor) {
  append(key, tensor.order);
  append(key, tensor.value_type);
  for (std::int32_t l = 0; l < tensor.order; ++l) {
    const schaas_level& level = tensor.levels[l];
    append(key, tensor.extents[l]);
    append(key, tensor.mode_order[l]);
    append(key, level.format);
    append(key, level.index_bits);
    append(key, level.entries);
  }
}

// Options that change the decision, or that a caller may change between calls, rule a call out.
bool is_plain_call(const schaas_options* options) {
  return options != nullptr && SCHAAS_HAS(*options, progress_context) && options->deterministic == 0 &&
         options->extent_count == 0 && options->schedule == nullptr && options->wait_seconds == 0;
}

// All tensors lie on the device, the result too: there is nothing to bring there or back.
bool lies_on_device(const schaas_gpu& gpu, const schaas_operand* operands, std::int32_t count) {
  return gpu.struct_bytes >= sizeof gpu && gpu.on_device != nullptr && gpu.on_device_count == count + 1 &&
         std::all_of(operands, operands + count, [&](const schaas_operand& one) {
           return one.name != nullptr && is_on_device(gpu, one.name);
         });
}

}  // namespace

struct KeptCalls::Kept {
  std::string key;
  std::unique_ptr<schaas_computation> computation;
};

KeptCalls::KeptCalls() = default;
KeptCalls::~KeptCalls() = default;

// The last one is the likeliest: a loop repeats its sizes.
std::unique_ptr<schaas_computation> KeptCalls::take(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(kept_.rbegin(), kept_.rend(), [&](const Kept& one) { return one.key == key; });
  if (found == kept_.rend()) return nullptr;
  auto computation = std::move(found->computation);
  kept_.erase(std::next(found).base());
  return computation;
}

void KeptCalls::give(const std::string& key, std::unique_ptr<schaas_computation> computation) {
  // Asked before the lock is taken: it walks over buffers.
  if (computation->computation->temporary_bytes() > max_temporary_bytes) return;
  Kept one{key, std::move(computation)};
  const std::lock_guard lock(mutex_);
  kept_.push_back(std::move(one));
  if (kept_.size() <= max_kept) return;
  std::swap(one, kept_.front());  // freed when the lock is released
  kept_.erase(kept_.begin());
}

std::string key_of_call(const schaas_operand* operands, std::int32_t count, const schaas_options* options) {
  if (!is_plain_call(options) || operands == nullptr) return "";
  const schaas_tensor* const result = options->result;
  if (result == nullptr ? options->gpu != nullptr : !is_readable(result)) return "";
  std::string key;
  append(key, options->threads);
  if (const schaas_gpu* gpu = options->gpu) {
    if (!lies_on_device(*gpu, operands, count)) return "";
    append(key, gpu->device);
    append(key, gpu->alone);
    append(key, gpu->stream);
  }
  append(key, result != nullptr);
  if (result != nullptr) append(key, *result);
  for (std::int32_t n = 0; n < count; ++n) {
    if (operands[n].name == nullptr || !is_readable(operands[n].tensor)) return "";
    key.append(operands[n].name).push_back('\0');
    append(key, *operands[n].tensor);
  }
  return key;
}

}  // namespace schaas::client
