#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor_io/compression.h"
#include "client/cpp/tensor_io/file_sink.h"
#include "client/cpp/tensor_io/npy_header.h"
#include "client/cpp/tensor_io/zip_archive.h"
#include "schaas/tensor_files.h"

// Writers of all kinds. Each writes through a sink, whose file appears when all of it was written. Entries
// are written in their order, and stored zeros as entries. Numbers are the shortest text that reads back as
// the same double.
namespace schaas::client {
namespace {

using support::Result;

support::Diagnostic wrong_order(const std::string& path, int order) {
  const std::string kind = without_compression(path).ends_with(".npz") ? ".npz" : "Matrix Market";
  return support::invalid("file-order", path + ": a " + kind + " file holds a matrix, this tensor has " +
                                            std::to_string(order) + " modes; .tns and .npy hold any");
}

// Vectors and scalars are matrices of one column.
std::vector<std::int64_t> matrix_shape(std::vector<std::int64_t> extents) {
  while (extents.size() < 2) extents.push_back(1);
  return extents;
}

const char* field(ValueType type) {
  return is_integer(type) ? "integer" : is_complex(type) ? "complex" : "real";
}

void write_complex(FileSink& sink, std::complex<double> value) {
  sink.write(value.real());
  sink.write(" ");
  sink.write(value.imag());
}

void write_integer(FileSink& sink, std::int64_t value, ValueType type) {
  if (type == ValueType::u64) {
    sink.write(std::to_string(static_cast<std::uint64_t>(value)));
  } else {
    sink.write(value);
  }
}

// Values stand in column order, as the array format wants them.
void write_matrix_market(FileSink& sink, const DenseTensor& tensor) {
  const auto shape = matrix_shape(tensor.extents);
  sink.write(std::string("%%MatrixMarket matrix array ") + field(tensor.value_type) + " general\n");
  sink.write(shape[0]);
  sink.write(" ");
  sink.write(shape[1]);
  sink.write("\n");
  for (std::int64_t c = 0; c < shape[1]; ++c) {
    for (std::int64_t r = 0; r < shape[0]; ++r) {
      if (is_integer(tensor.value_type)) {
        write_integer(sink, tensor.integer_at(r * shape[1] + c), tensor.value_type);
      } else if (is_complex(tensor.value_type)) {
        write_complex(sink, tensor.complex_at(r * shape[1] + c));
      } else {
        sink.write(tensor.at(r * shape[1] + c));
      }
      sink.write("\n");
    }
  }
}

// Coordinates count from 1. `second_mode`: the column 1 of a vector that is written as a matrix.
void write_entries(FileSink& sink, const CooTensor& tensor, bool second_mode) {
  for (std::size_t e = 0; e < tensor.entries(); ++e) {
    for (const auto& coordinates : tensor.coordinates) {
      sink.write(coordinates[e] + 1);
      sink.write(" ");
    }
    if (second_mode) sink.write("1 ");
    if (is_integer(tensor.value_type)) {
      write_integer(sink, tensor.integers[e], tensor.value_type);
    } else if (is_complex(tensor.value_type)) {
      write_complex(sink, tensor.complex_at(e));
    } else {
      sink.write(tensor.values[e]);
    }
    sink.write("\n");
  }
}

void write_matrix_market(FileSink& sink, const CooTensor& tensor) {
  const auto shape = matrix_shape(tensor.extents);
  sink.write(std::string("%%MatrixMarket matrix coordinate ") + field(tensor.value_type) + " general\n");
  sink.write(shape[0]);
  sink.write(" ");
  sink.write(shape[1]);
  sink.write(" ");
  sink.write(static_cast<std::int64_t>(tensor.entries()));
  sink.write("\n");
  write_entries(sink, tensor, tensor.order() == 1);
}

const char* descr(ValueType type) { return operators::facts(type).numpy; }

void write_npy(FileSink& sink, const DenseTensor& tensor) {
  sink.write(print_npy_preamble(descr(tensor.value_type), tensor.extents));
  const auto size = static_cast<std::size_t>(tensor.size()) * bytes_of(tensor.value_type);
  sink.write(std::string_view(tensor.values.as<char>(), size));
}

/// A list of numbers as a .npy file.
std::string npy_of(const Buffer& numbers, const char* type, std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(std::atoi(type + 2));
  return print_npy_preamble(type, {count}) + std::string(numbers.as<char>(), bytes);
}

/// As scipy.sparse.save_npz writes a csr matrix.
Result<void> write_npz(FileSink& sink, const CooTensor& tensor, const std::string& path) {
  SCHAAS_ASSIGN_OR_RETURN(const auto csr, format::parse("csr", 2, path));
  PackOptions options;
  options.name = path;
  options.value_type = tensor.value_type;
  options.position_bits = position_bits_for(tensor, csr);
  SCHAAS_ASSIGN_OR_RETURN(const PackedTensor packed, pack(tensor, csr, options));
  // The shape's two numbers as the machine holds them, which are little-endian as the header says.
  const PackedTensor::Level& columns = packed.levels()[1];
  const char* const index = packed.position_bits() == 32 ? "<i4" : "<i8";
  const std::string shape(reinterpret_cast<const char*>(tensor.extents.data()), 2 * sizeof(std::int64_t));
  SCHAAS_ASSIGN_OR_RETURN(
      const std::string archive,
      zip({{"indices.npy", npy_of(columns.crd, index, columns.entries)},
           {"indptr.npy", npy_of(columns.pos, index, tensor.extents[0] + 1)},
           {"format.npy", print_npy_preamble("|S3", {}) + "csr"},
           {"shape.npy", print_npy_preamble("<i8", {2}) + shape},
           {"data.npy", npy_of(packed.values(), descr(tensor.value_type), columns.entries)}},
          path));
  sink.write(archive);
  return {};
}

/// The values in a type of half the bits, whose numbers they are.
Result<DenseTensor> narrowed(const DenseTensor& wide, ValueType type) {
  SCHAAS_ASSIGN_OR_RETURN(DenseTensor narrow, zeros(wide.extents, type));
  for (std::int64_t n = 0; n < wide.size(); ++n) narrow.set(n, wide.complex_at(n));
  return narrow;
}

// FROSTT files know no scalars.
Result<void> check_frostt(const std::string& path, int order, ValueType type) {
  if (is_complex(type))
    return support::invalid("file-type",
                            path + ": a .tns file cannot hold complex numbers; .mtx and .npy can");
  if (order > 0) return {};
  return support::invalid("file-order", path + ": a .tns file cannot hold a scalar; .mtx and .npy can");
}

// The extents go into a comment: other readers skip it, and empty last slices come back.
void write_frostt(FileSink& sink, const CooTensor& tensor) {
  sink.write("# schaas extents");
  for (const std::int64_t extent : tensor.extents) {
    sink.write(" ");
    sink.write(extent);
  }
  sink.write("\n");
  write_entries(sink, tensor, false);
}

}  // namespace

Result<void> check_writable(const std::string& path) { return FileSink::check(path); }

Result<void> write_text(const std::string& path, const std::string& text) {
  SCHAAS_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  sink.write(text);
  return sink.close();
}

// Checks before anything is written that a file of this kind holds tensors of this order.
Result<FileKind> kind_to_write(const std::string& path, int order, ValueType type) {
  SCHAAS_ASSIGN_OR_RETURN(FileKind kind, kind_of(path));
  if (kind == FileKind::by_content) kind = order <= 2 ? FileKind::matrix_market : FileKind::frostt;
  const bool fits = kind == FileKind::matrix_market ? order <= 2 : kind == FileKind::npz ? order == 2 : true;
  if (!fits) return wrong_order(path, order);
  if (kind == FileKind::frostt) {
    SCHAAS_RETURN_IF_ERROR(check_frostt(path, order, type));
  }
  return kind;
}

Result<void> write(const std::string& path, const DenseTensor& tensor, double fill_value) {
  SCHAAS_ASSIGN_OR_RETURN(const FileKind kind, kind_to_write(path, tensor.order(), tensor.value_type));
  SCHAAS_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  switch (kind) {
    case FileKind::by_content:
    case FileKind::matrix_market:
      write_matrix_market(sink, tensor);
      break;
    case FileKind::frostt:
      write_frostt(sink, to_coo(tensor, fill_value));
      break;
    case FileKind::npy:
      write_npy(sink, tensor);
      break;
    case FileKind::npz:
      SCHAAS_RETURN_IF_ERROR(write_npz(sink, to_coo(tensor, fill_value), path));
      break;
  }
  return sink.close();
}

Result<void> write(const std::string& path, const CooTensor& tensor, double fill_value) {
  SCHAAS_ASSIGN_OR_RETURN(const FileKind kind, kind_to_write(path, tensor.order(), tensor.value_type));
  SCHAAS_RETURN_IF_ERROR(check_entries(tensor, path));
  // A scalar has no coordinates, and npy no entries: both are written dense.
  if (kind == FileKind::npy || tensor.order() == 0) {
    SCHAAS_ASSIGN_OR_RETURN(DenseTensor dense, to_dense(tensor, path, fill_value));
    if (tensor.value_type == ValueType::f32 || tensor.value_type == ValueType::c64) {
      SCHAAS_ASSIGN_OR_RETURN(dense, narrowed(dense, tensor.value_type));
    }
    return write(path, dense, fill_value);
  }
  SCHAAS_ASSIGN_OR_RETURN(FileSink sink, FileSink::create(path));
  if (kind == FileKind::npz) {
    SCHAAS_RETURN_IF_ERROR(write_npz(sink, tensor, path));
  } else if (kind == FileKind::frostt) {
    write_frostt(sink, tensor);
  } else {
    write_matrix_market(sink, tensor);
  }
  return sink.close();
}

Result<void> write(const std::string& path, const PackedTensor& tensor) {
  // Dense tensors keep their values as they are; all others are written as entries.
  if (!tensor.format().all_dense()) return write(path, unpack(tensor), tensor.fill_value());
  SCHAAS_ASSIGN_OR_RETURN(const DenseTensor dense, to_dense(tensor));
  return write(path, dense, tensor.fill_value());
}

}  // namespace schaas::client
