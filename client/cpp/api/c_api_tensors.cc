#include "client/cpp/api/c_boundary.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "schaas/convert.h"
#include "schaas/tensor_files.h"

// schaas.h: tensors that the library owns. Each function without options calls the one with them. Data that
// are borrowed for a call are checked in full, since nothing is known of the caller's arrays.
namespace schaas::client {
namespace {

support::Result<schaas_storage_options> checked(const schaas_storage_options* given) {
  if (given == nullptr) return schaas_storage_options{};
  if (given->struct_bytes < sizeof(schaas_storage_options))
    return support::invalid("struct-size", "`struct_bytes` of the storage options is " +
                                               std::to_string(given->struct_bytes) +
                                               ", expected sizeof(schaas_storage_options)");
  return *given;
}

// Copies the lists that a caller of schaas_pack gives. Null lists are right where there is nothing to list.
support::Result<CooTensor> listed(const std::string& name, std::int32_t order, const std::int64_t* extents,
                                  const std::int64_t* const* coordinates, const void* values,
                                  std::int64_t entries, ValueType type) {
  if (order < 0 || order > max_order)
    return support::invalid("tensor-structure", "`" + name + "` has order " + std::to_string(order) +
                                                    "; expected 0 to " + std::to_string(max_order));
  if (entries < 0)
    return support::invalid("tensor-structure", "`" + name + "` has " + std::to_string(entries) + " entries");
  if (order > 0 && extents == nullptr) return null_argument("extents");
  if (entries > 0 && values == nullptr) return null_argument("values");
  CooTensor tensor;
  tensor.extents.assign(extents, extents + order);
  // With null extents the order is 0, and the assigned range is empty.
  for (std::int32_t mode = 0; mode < order; ++mode) {
    if (entries > 0 && (coordinates == nullptr || coordinates[mode] == nullptr))
      return null_argument("coordinates");
    tensor.coordinates.emplace_back();
    if (entries > 0) tensor.coordinates.back().assign(coordinates[mode], coordinates[mode] + entries);
  }
  tensor.value_type = type == ValueType::u64 ? type
                      : is_integer(type)     ? ValueType::i64
                      : is_complex(type)     ? ValueType::c128
                                             : ValueType::f64;
  if (is_integer(type)) {
    const auto* const numbers = static_cast<const std::int64_t*>(values);
    tensor.integers.assign(numbers, numbers + entries);
  } else if (is_complex(type)) {
    const auto* const parts = static_cast<const double*>(values);
    for (std::int64_t entry = 0; entry < entries; ++entry)
      tensor.add_value({parts[2 * entry], parts[2 * entry + 1]});
  } else {
    const auto* const numbers = static_cast<const double*>(values);
    tensor.values.assign(numbers, numbers + entries);
  }
  return tensor;
}

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

double schaas_storage_fill(const schaas_storage* storage) {
  return storage == nullptr ? 0 : storage->tensor.fill_value();
}

int32_t schaas_pack(const char* name, int32_t order, const int64_t* extents,
                    const int64_t* const* coordinates, const void* values, int64_t entries,
                    const char* format, int32_t value_type, int32_t position_bits, schaas_storage** storage,
                    schaas_error** error) {
  return schaas_pack_with(name, order, extents, coordinates, values, entries, format, value_type,
                          position_bits, nullptr, storage, error);
}

int32_t schaas_pack_with(const char* name, int32_t order, const int64_t* extents,
                         const int64_t* const* coordinates, const void* values, int64_t entries,
                         const char* format, int32_t value_type, int32_t position_bits,
                         const schaas_storage_options* options, schaas_storage** storage,
                         schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (name == nullptr || storage == nullptr) return null_argument(name == nullptr ? "name" : "storage");
    SCHAAS_ASSIGN_OR_RETURN(const auto given, checked(options));
    PackOptions how;
    how.name = name;
    how.fill_value = given.fill_value;
    SCHAAS_ASSIGN_OR_RETURN(how.value_type, value_type_of(value_type));
    SCHAAS_ASSIGN_OR_RETURN(how.position_bits, position_bits_of(position_bits));
    SCHAAS_ASSIGN_OR_RETURN(const CooTensor tensor,
                            listed(name, order, extents, coordinates, values, entries, how.value_type));
    SCHAAS_ASSIGN_OR_RETURN(const auto levels, format_for(format, order, name));
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed, pack(tensor, levels, how));
    *storage = stored(std::move(packed));
    return {};
  });
}

int32_t schaas_convert(const char* name, const schaas_tensor* tensor, const char* format,
                       schaas_storage** storage, schaas_error** error) {
  return schaas_convert_with(name, tensor, format, nullptr, storage, error);
}

int32_t schaas_convert_with(const char* name, const schaas_tensor* tensor, const char* format,
                            const schaas_storage_options* options, schaas_storage** storage,
                            schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (name == nullptr || tensor == nullptr || storage == nullptr)
      return null_argument(name == nullptr ? "name" : tensor == nullptr ? "tensor" : "storage");
    SCHAAS_ASSIGN_OR_RETURN(const auto given, checked(options));
    ConvertOptions how;
    how.name = name;
    if (given.position_bits != 0) {
      SCHAAS_ASSIGN_OR_RETURN(how.position_bits, position_bits_of(given.position_bits));
    }
    SCHAAS_ASSIGN_OR_RETURN(const PackedTensor from, borrow(*tensor, name, given.fill_value));
    SCHAAS_ASSIGN_OR_RETURN(const auto levels, format_for(format, tensor->order, name));
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor to, convert(from, levels, how));
    *storage = stored(std::move(to));
    return {};
  });
}

int32_t schaas_read(const char* path, schaas_storage** storage, schaas_error** error) {
  return schaas_read_with(path, nullptr, storage, error);
}

int32_t schaas_read_with(const char* path, const schaas_storage_options* options, schaas_storage** storage,
                         schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (path == nullptr || storage == nullptr) return null_argument(path == nullptr ? "path" : "storage");
    SCHAAS_ASSIGN_OR_RETURN(const auto given, checked(options));
    SCHAAS_ASSIGN_OR_RETURN(const TensorData data, read(path));
    PackOptions how;
    how.name = path;
    how.fill_value = given.fill_value;
    if (const auto* entries = std::get_if<CooTensor>(&data)) {
      how.value_type = entries->value_type;
      SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed, pack(*entries, list_format(entries->order()), how));
      *storage = stored(std::move(packed));
      return {};
    }
    const auto& values = std::get<DenseTensor>(data);
    how.value_type = values.value_type;
    SCHAAS_ASSIGN_OR_RETURN(PackedTensor packed, pack(values, schaas::format::dense(values.order()), how));
    *storage = stored(std::move(packed));
    return {};
  });
}

int32_t schaas_write(const char* path, const schaas_tensor* tensor, schaas_error** error) {
  return schaas_write_with(path, tensor, nullptr, error);
}

int32_t schaas_write_with(const char* path, const schaas_tensor* tensor,
                          const schaas_storage_options* options, schaas_error** error) {
  return at_boundary(error, [&]() -> Result<void> {
    if (path == nullptr || tensor == nullptr) return null_argument(path == nullptr ? "path" : "tensor");
    SCHAAS_ASSIGN_OR_RETURN(const auto given, checked(options));
    SCHAAS_ASSIGN_OR_RETURN(const PackedTensor from, borrow(*tensor, path, given.fill_value));
    return write(path, from);
  });
}

}  // extern "C"
