#include "client/cpp/api/c_operands.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "client/cpp/api/c_boundary.h"
#include "client/cpp/tensor/overlap.h"
#include "client/cpp/tensor/packed_tensor_builder.h"
#include "client/cpp/tensor/sorted_copies.h"
#include "client/cpp/tensor/sorted_copy.h"
#include "schaas/host.h"

// Tensors of calls of the C interface, borrowed where they lie. How much is checked depends on what the
// caller guarantees: all, all but the order of entries, or the structs alone. Tensors on a device are
// described by the caller, since their contents cannot be read here; their addresses are checked with the
// driver.
// Entries in disorder are taken as they are where the statement only adds them up. Elsewhere a sorted copy is
// made, which serves later calls with the same contents as well.
namespace schaas::client {
namespace {

const schaas_gpu* gpu_of(const schaas_options* given) {
  return given == nullptr || !SCHAAS_HAS(*given, gpu) ? nullptr : given->gpu;
}

support::Result<std::optional<GpuUse>> gpu_use(const Session& session, const schaas_options* given) {
  const schaas_gpu* const gpu = gpu_of(given);
  if (gpu == nullptr) return std::optional<GpuUse>();
  if (gpu->struct_bytes < sizeof(schaas_gpu))
    return support::invalid("struct-size", "`struct_bytes` of the GPU is " +
                                               std::to_string(gpu->struct_bytes) +
                                               ", expected sizeof(schaas_gpu)");
  if (gpu->on_device == nullptr && gpu->on_device_count > 0) return null_argument("on_device");
  SCHAAS_ASSIGN_OR_RETURN(Gpu opened, session.gpu(gpu->device));
  return std::optional<GpuUse>(GpuUse{std::move(opened), gpu->alone != 0, gpu->stream});
}

support::Result<BindOptions> options_of(const Session& session, const schaas_options* given) {
  BindOptions options;
  if (given == nullptr) return options;
  if (!SCHAAS_HAS(*given, result))
    return support::invalid("struct-size", "`struct_bytes` of the options is " +
                                               std::to_string(given->struct_bytes) +
                                               ", expected sizeof(schaas_options)");
  SCHAAS_ASSIGN_OR_RETURN(options.gpu, gpu_use(session, given));
  options.threads = given->threads;
  options.deterministic = given->deterministic != 0;
  options.schedule = text_or(given->schedule, "auto");
  if (given->extent_count > 0 && (given->extent_names == nullptr || given->extents == nullptr))
    return null_argument(given->extent_names == nullptr ? "extent_names" : "extents");
  if (SCHAAS_HAS(*given, progress_context)) {
    options.wait.limit = limit_of(given->wait_seconds);
    options.wait.progress = callback_of(given->progress, given->progress_context);
  }
  for (std::int32_t e = 0; e < given->extent_count; ++e)
    options.extents[text_or(given->extent_names[e], "")] = given->extents[e];
  return options;
}

Trust trust_of(const schaas_options* given) {
  if (given == nullptr || given->trusted == SCHAAS_CHECK_ALL) return Trust::check;
  return given->trusted == SCHAAS_CHECK_AS_NEEDED ? Trust::bounds : Trust::trusted;
}

/// One tensor, on the device or here.
support::Result<PackedTensor> borrow_where_it_lies(const schaas_options* given, const BindOptions& options,
                                                   const schaas_tensor& view, const std::string& name,
                                                   double fill, Trust trust) {
  const schaas_gpu* const gpu = gpu_of(given);
  if (gpu == nullptr || !is_on_device(*gpu, name)) {
    const int threads = options.threads > 0 ? options.threads : host_threads();
    return borrow(view, name, fill, trust, threads);
  }
  SCHAAS_ASSIGN_OR_RETURN(PackedTensor tensor, borrow_on_device(view, name, fill));
  SCHAAS_RETURN_IF_ERROR(options.gpu->gpu.check_is_there(tensor, name));
  return tensor;
}

// Takes an operand whose entries may be in disorder: as it is where the program only adds them up, else
// sorted. A first check in full tells whether a copy is needed at all.
support::Result<PackedTensor> borrow_in_disorder(const schaas_kernels& kernels, const schaas_options* given,
                                                 const schaas_tensor& view, const std::string& name,
                                                 double fill, GivenTensors& to) {
  const bool is_summed = !to.order_matters && kernels.set.sums(name);
  if (is_summed) to.options.unordered.insert(name);
  auto tensor =
      borrow_where_it_lies(given, to.options, view, name, fill, is_summed ? Trust::bounds : Trust::check);
  const bool is_broken = !tensor.ok() && tensor.error().code == "tensor-structure";
  if (is_summed || !is_broken || !can_be_sorted(view)) return tensor;
  SCHAAS_ASSIGN_OR_RETURN(const PackedTensor unsorted,
                          borrow_where_it_lies(given, to.options, view, name, fill, Trust::bounds));
  SCHAAS_ASSIGN_OR_RETURN(auto sorted, sorted_copies().of(unsorted, name));
  const auto borrowed = [](const Buffer& array) { return Buffer::borrowed(array.data(), array.bytes()); };
  to.sorted.push_back(sorted);
  return with_arrays(*sorted, borrowed, borrowed);
}

}  // namespace

bool is_on_device(const schaas_gpu& gpu, const std::string& name) {
  for (std::int32_t n = 0; n < gpu.on_device_count; ++n)
    if (name == text_or(gpu.on_device[n], "")) return true;
  return false;
}

std::optional<std::chrono::milliseconds> limit_of(double seconds) {
  // More seconds than anybody waits; a larger number would overflow milliseconds.
  constexpr double max_seconds = 1e9;
  if (seconds == 0 || std::isnan(seconds)) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(seconds, 0.0, max_seconds) * 1e3));
}

support::Result<void> take(const schaas_kernels& kernels, const schaas_operand* operands, std::int32_t count,
                           const schaas_options* given, Runs runs, GivenTensors& to) {
  if (operands == nullptr && count > 0) return null_argument("operands");
  SCHAAS_ASSIGN_OR_RETURN(to.options, options_of(kernels.session, given));
  const double fill = kernels.set.program().semiring->zero;
  to.options.single_run = runs == Runs::once;
  to.options.operands_change = runs == Runs::many;  // kept computations hold no copies
  const Trust trust = trust_of(given);
  const bool may_be_in_disorder = trust == Trust::bounds && runs != Runs::many && !to.options.gpu;
  for (std::int32_t n = 0; n < count; ++n) {
    if (operands[n].name == nullptr || operands[n].tensor == nullptr) return null_argument("operands");
    const std::string name = operands[n].name;
    const schaas_tensor& view = *operands[n].tensor;
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor tensor,
                            may_be_in_disorder
                                ? borrow_in_disorder(kernels, given, view, name, fill, to)
                                : borrow_where_it_lies(given, to.options, view, name, fill,
                                                       trust == Trust::trusted ? trust : Trust::check));
    if (!to.operands.emplace(name, std::move(tensor)).second)
      return support::invalid("given-twice", "`" + name + "` is given twice");
  }
  for (auto& [name, tensor] : to.operands) to.pointers[name] = &tensor;
  if (given == nullptr || given->result == nullptr) return {};
  const std::string& name = kernels.set.program().result().tensor;
  // The result is checked in full: its positions decide where a kernel writes.
  SCHAAS_ASSIGN_OR_RETURN(to.result,
                          borrow_where_it_lies(given, to.options, *given->result, name, fill, Trust::check));
  if (!to.result->format().all_dense() && !to.result->on_device())
    return support::unsupported("result-format",
                                "`" + name + "` is stored as " + format::print(to.result->format()) +
                                    ": only a dense result can be written where the caller says");
  to.options.result = &*to.result;
  return {};
}

support::Result<bool> take_arrays(const schaas_kernels& kernels, const schaas_operand* operands,
                                  std::int32_t count, const schaas_options& given, bool order_matters,
                                  GivenTensors& to) {
  const int threads = given.threads > 0 ? given.threads : host_threads();
  const Trust trust = trust_of(&given);
  if (to.options.gpu) {
    const auto take_there = [&](PackedTensor& tensor, const schaas_tensor& view, const std::string& name) {
      auto there = borrow_where_it_lies(&given, to.options, view, name, tensor.fill_value(), trust);
      if (there.ok()) tensor = *std::move(there);
      return there.ok() ? support::Result<void>() : support::Result<void>(there.error());
    };
    for (std::int32_t n = 0; n < count; ++n)
      SCHAAS_RETURN_IF_ERROR(
          take_there(to.operands.at(operands[n].name), *operands[n].tensor, operands[n].name));
    SCHAAS_RETURN_IF_ERROR(take_there(*to.result, *given.result, kernels.set.program().result().tensor));
    return overlapping_operand(*to.result, to.pointers, nullptr) == nullptr;
  }
  // Operands that are only summed may be in disorder; others are checked as in the first call.
  const Trust needed = trust == Trust::bounds ? Trust::check : trust;
  for (std::int32_t n = 0; n < count; ++n) {
    const std::string name = operands[n].name;
    const bool is_unordered = trust == Trust::bounds && !order_matters && kernels.set.sums(name);
    SCHAAS_RETURN_IF_ERROR(borrow_again(to.operands.at(name), *operands[n].tensor, name,
                                        is_unordered ? Trust::bounds : needed, threads));
  }
  if (!to.result) return true;
  const std::string& name = kernels.set.program().result().tensor;
  SCHAAS_RETURN_IF_ERROR(borrow_again(*to.result, *given.result, name, Trust::check, threads));
  // A result in memory of an operand needs another computation than the one that is kept.
  return overlapping_operand(*to.result, to.pointers, nullptr) == nullptr;
}

}  // namespace schaas::client
