#include "c_boundary.h"
#include "schaas/convert.h"
#include "schaas/tensor_files.h"

/// schaas.h: tensors that the library owns.
namespace schaas::client {
namespace {

schaas_storage* stored(PackedTensor tensor) {
  auto storage = std::make_unique<schaas_storage>();
  storage->tensor = std::move(tensor);
  storage->view = storage->tensor.view();
  return storage.release();
}

support::Result<format::TensorFormat> format_for(const char* text, int order, const std::string& name) {
  if (order == 0) return format::dense(0);
  return format::parse(text == nullptr ? "dense" : text, order, name);
}

/// Entries as coo, which is a list of coordinates by mode; a vector's are compressed.
format::TensorFormat list_format(int order) {
  return format::parse(order == 0 ? "dense" : order == 1 ? "compressed" : "coo", order, "").value();
}

}  // namespace
}  // namespace schaas::client

using namespace schaas::client;  // NOLINT: C names outside of any namespace
using schaas::support::Result;

extern "C" {

void schaas_storage_free(schaas_storage* storage) { delete storage; }
const schaas_tensor* schaas_storage_view(const schaas_storage* storage) {
  return storage == nullptr ? nullptr : &storage->view;
}

int32_t schaas_pack(const char* name, int32_t order, const int64_t* extents,
                    const int64_t* const* coordinates, const double* values, int64_t entries,
                    const char* format, int32_t value_type, int32_t position_bits, schaas_storage** storage,
                    schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (name == nullptr || storage == nullptr) return null_argument(name == nullptr ? "name" : "storage");
    CooTensor tensor;
    tensor.extents.assign(extents, extents + order);
    for (int32_t mode = 0; mode < order; ++mode)
      tensor.coordinates.emplace_back(coordinates[mode], coordinates[mode] + entries);
    tensor.values.assign(values, values + entries);
    SCHAAS_ASSIGN_OR_RETURN(const auto levels, format_for(format, order, name));
    PackOptions options;
    options.name = name;
    options.value_type = value_type == SCHAAS_F32 ? ValueType::f32 : ValueType::f64;
    options.position_bits = position_bits == 32 ? 32 : 64;
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed, pack(tensor, levels, options));
    *storage = stored(std::move(packed));
    return {};
  });
}

int32_t schaas_convert(const char* name, const schaas_tensor* tensor, const char* format,
                       schaas_storage** storage, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (name == nullptr || tensor == nullptr || storage == nullptr) return null_argument("tensor");
    SCHAAS_ASSIGN_OR_RETURN(const PackedTensor from, borrow(*tensor, name, 0));
    SCHAAS_ASSIGN_OR_RETURN(const auto levels, format_for(format, tensor->order, name));
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor to, convert(from, levels, {name, 0}));
    *storage = stored(std::move(to));
    return {};
  });
}

int32_t schaas_read(const char* path, schaas_storage** storage, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (path == nullptr || storage == nullptr) return null_argument("path");
    SCHAAS_ASSIGN_OR_RETURN(const TensorData data, read(path));
    PackOptions options;
    options.name = path;
    if (const auto* entries = std::get_if<CooTensor>(&data)) {
      SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed, pack(*entries, list_format(entries->order()), options));
      *storage = stored(std::move(packed));
      return {};
    }
    const auto& values = std::get<DenseTensor>(data);
    options.value_type = values.value_type;
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed,
                            pack(values, schaas::format::dense(values.order()), options));
    *storage = stored(std::move(packed));
    return {};
  });
}

int32_t schaas_write(const char* path, const schaas_tensor* tensor, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (path == nullptr || tensor == nullptr) return null_argument("path");
    SCHAAS_ASSIGN_OR_RETURN(const PackedTensor from, borrow(*tensor, path, 0));
    return write(path, from);
  });
}

}  // extern "C"
