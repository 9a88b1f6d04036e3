#include "file_sink.h"
#include "npy_header.h"
#include "schaas/tensor_files.h"
#include "tensor_checks.h"

namespace schaas::client {
namespace {

using support::Result;

support::Diagnostic wrong_order(const std::string& path, int order) {
  return support::invalid("file-order", path + ": a Matrix Market file holds a matrix, this tensor has " +
                                            std::to_string(order) + " modes; .tns and .npy hold any");
}

// Vectors and scalars are matrices of one column.
std::vector<std::int64_t> matrix_shape(std::vector<std::int64_t> extents) {
  while (extents.size() < 2) extents.push_back(1);
  return extents;
}

void write_matrix_market(FileSink& sink, const DenseTensor& tensor) {
  const auto shape = matrix_shape(tensor.extents);
  sink.write("%%MatrixMarket matrix array real general\n");
  sink.write(shape[0]);
  sink.write(" ");
  sink.write(shape[1]);
  sink.write("\n");
  for (std::int64_t c = 0; c < shape[1]; ++c) {
    for (std::int64_t r = 0; r < shape[0]; ++r) {
      sink.write(tensor.at(r * shape[1] + c));
      sink.write("\n");
    }
  }
}

void write_entries(FileSink& sink, const CooTensor& tensor, bool second_mode) {
  for (std::size_t e = 0; e < tensor.entries(); ++e) {
    for (const auto& coordinates : tensor.coordinates) {
      sink.write(coordinates[e] + 1);
      sink.write(" ");
    }
    if (second_mode) sink.write("1 ");
    sink.write(tensor.values[e]);
    sink.write("\n");
  }
}

void write_matrix_market(FileSink& sink, const CooTensor& tensor) {
  const auto shape = matrix_shape(tensor.extents);
  sink.write("%%MatrixMarket matrix coordinate real general\n");
  sink.write(shape[0]);
  sink.write(" ");
  sink.write(shape[1]);
  sink.write(" ");
  sink.write(static_cast<std::int64_t>(tensor.entries()));
  sink.write("\n");
  write_entries(sink, tensor, tensor.order() == 1);
}

void write_npy(FileSink& sink, const DenseTensor& tensor) {
  const bool f32 = tensor.value_type == ValueType::f32;
  NpyHeader header{f32 ? NpyHeader::Type::f4 : NpyHeader::Type::f8, false, tensor.extents};
  sink.write(print_npy_preamble(header));
  const auto size = static_cast<std::size_t>(tensor.size()) * bytes_of(tensor.value_type);
  sink.write(std::string_view(tensor.values.as<char>(), size));
}

// FROSTT files know no extents and no scalars.
Result<void> check_frostt(const std::string& path, int order) {
  if (order > 0) return {};
  return support::invalid("file-order", path + ": a .tns file cannot hold a scalar; .mtx and .npy can");
}

void write_frostt(FileSink& sink, const CooTensor& tensor) {
  sink.write("# extents " + shape_text(tensor.extents) + "\n");
  write_entries(sink, tensor, false);
}

}  // namespace

Result<void> check_writable(const std::string& path) {
  SCHAAS_ASSIGN_OR_RETURN(const FileSink sink, FileSink::create(path));
  return {};
}

Result<void> write_text(const std::string& path, const std::string& text) {
  SCHAAS_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  sink.write(text);
  return sink.close();
}

Result<void> write(const std::string& path, const DenseTensor& tensor, double fill_value) {
  SCHAAS_ASSIGN_OR_RETURN(const FileKind kind, kind_of(path));
  if (kind == FileKind::matrix_market && tensor.order() > 2) return wrong_order(path, tensor.order());
  if (kind == FileKind::frostt) {
    SCHAAS_RETURN_IF_ERROR(check_frostt(path, tensor.order()));
  }
  SCHAAS_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  switch (kind) {
    case FileKind::matrix_market:
      write_matrix_market(sink, tensor);
      break;
    case FileKind::frostt:
      write_frostt(sink, to_coo(tensor, fill_value));
      break;
    case FileKind::npy:
      write_npy(sink, tensor);
      break;
  }
  return sink.close();
}

Result<void> write(const std::string& path, const CooTensor& tensor, double fill_value) {
  SCHAAS_ASSIGN_OR_RETURN(const FileKind kind, kind_of(path));
  SCHAAS_RETURN_IF_ERROR(check_entries(tensor, path));
  if (kind == FileKind::matrix_market && tensor.order() > 2) return wrong_order(path, tensor.order());
  if (kind == FileKind::npy || tensor.order() == 0) {
    SCHAAS_ASSIGN_OR_RETURN(const DenseTensor dense, to_dense(tensor, path, fill_value));
    return write(path, dense, fill_value);
  }
  SCHAAS_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  if (kind == FileKind::matrix_market) {
    write_matrix_market(sink, tensor);
  } else {
    write_frostt(sink, tensor);
  }
  return sink.close();
}

Result<void> write(const std::string& path, const PackedTensor& tensor) {
  if (!tensor.format().all_dense()) return write(path, unpack(tensor), tensor.fill_value());
  SCHAAS_ASSIGN_OR_RETURN(const DenseTensor dense, to_dense(tensor));
  return write(path, dense, tensor.fill_value());
}

}  // namespace schaas::client
