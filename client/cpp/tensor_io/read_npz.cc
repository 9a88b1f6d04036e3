#include <algorithm>
#include <cmath>

#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor_io/file_readers.h"
#include "client/cpp/tensor_io/zip_archive.h"
#include "compiler/support/limits.h"

// Archives of numpy arrays: what scipy.sparse.save_npz writes (csr, csc, coo, bsr, dia), or a single array.
// All become entries. Nothing in an archive is believed: lengths of members are compared with each other
// here. Coordinates are compared with the shape at the end, by check_entries().
namespace schaas::client {
namespace {

using support::Result;

class NpzReader {
 public:
  NpzReader(const ZipArchive& archive, const std::string& path, const ReadOptions& options)
      : archive_(archive), path_(path), options_(options) {}

  Result<TensorData> read() {
    if (!archive_.has("format.npy") || !archive_.has("shape.npy")) return single();
    SCHAAS_ASSIGN_OR_RETURN(const std::string format, text("format.npy"));
    SCHAAS_ASSIGN_OR_RETURN(tensor_.extents, integers("shape.npy"));
    if (tensor_.extents.size() > support::Limits::order ||
        std::any_of(tensor_.extents.begin(), tensor_.extents.end(), [](auto extent) { return extent < 0; }))
      return wrong("its shape is " + shape_text(tensor_.extents));
    SCHAAS_RETURN_IF_ERROR(check_extents(path_, tensor_.extents, options_.extents));
    SCHAAS_ASSIGN_OR_RETURN(const DenseTensor data, array("data.npy", options_.value_type));
    tensor_.value_type = data.value_type;
    if (format != "coo" && tensor_.order() != 2)
      return wrong("its format is " + format + ", its shape " + shape_text(tensor_.extents));
    if (format == "csr" || format == "csc" || format == "bsr") {
      SCHAAS_RETURN_IF_ERROR(compressed(data, format == "csc"));
    } else if (format == "coo") {
      SCHAAS_RETURN_IF_ERROR(coordinates(data));
    } else if (format == "dia") {
      SCHAAS_RETURN_IF_ERROR(diagonals(data));
    } else {
      return support::unsupported("npz-format", path_ + " holds a matrix in the format `" + format +
                                                    "`; csr, csc, coo, bsr and dia are read");
    }
    SCHAAS_RETURN_IF_ERROR(check_entries(tensor_, path_));
    return TensorData(std::move(tensor_));
  }

 private:
  support::Diagnostic wrong(const std::string& why) const {
    return support::invalid("npz-structure", path_ + " holds no sparse matrix of scipy: " + why);
  }

  Result<FileSource> member(const std::string& name) const {
    SCHAAS_ASSIGN_OR_RETURN(std::string content, archive_.content(name));
    return FileSource::of_bytes(path_ + ":" + name, std::move(content));
  }

  Result<DenseTensor> array(const std::string& name, ValueType type = ValueType::f64) const {
    if (!archive_.has(name)) return wrong("it has no member " + name);
    SCHAAS_ASSIGN_OR_RETURN(FileSource source, member(name));
    ReadOptions options;
    options.value_type = type;
    SCHAAS_ASSIGN_OR_RETURN(TensorData data, read_npy(std::move(source), options));
    return std::get<DenseTensor>(std::move(data));
  }

  // Returns elements as integers. Members hold indices of any type; read_npy() made doubles of them.
  static std::vector<std::int64_t> whole(const DenseTensor& values, std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> found;
    found.reserve(static_cast<std::size_t>(end - begin));
    for (std::int64_t n = begin; n < end; ++n) {
      const double value = values.at(n);
      const bool fits = value == std::floor(value) && std::fabs(value) <= 0x1p53;
      found.push_back(fits ? static_cast<std::int64_t>(value) : -1);  // refused as a coordinate
    }
    return found;
  }

  Result<std::vector<std::int64_t>> integers(const std::string& name) const {
    SCHAAS_ASSIGN_OR_RETURN(const DenseTensor values, array(name));
    if (values.order() != 1) return wrong("its member " + name + " has shape " + shape_text(values.extents));
    return whole(values, 0, values.size());
  }

  // A scalar array of bytes or of characters of 4 bytes.
  Result<std::string> text(const std::string& name) const {
    SCHAAS_ASSIGN_OR_RETURN(const std::string content, archive_.content(name));
    // The header ends with the first newline; the rest are the characters.
    const std::size_t end_of_header = content.find('\n');
    if (!content.starts_with("\x93NUMPY") || end_of_header == std::string::npos)
      return wrong("its member " + name + " is no array");
    std::string found = content.substr(end_of_header + 1);
    std::erase(found, '\0');
    return found;
  }

  // An archive of one array is that array.
  Result<TensorData> single() const {
    const auto names = archive_.names();
    if (names.size() == 1 && names.front().ends_with(".npy")) {
      SCHAAS_ASSIGN_OR_RETURN(FileSource source, member(names.front()));
      return read_npy(std::move(source), options_);
    }
    std::string all;
    for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
    return wrong("it has the members " + all +
                 "; expected those of scipy.sparse.save_npz, or a single array");
  }

  void add(std::int64_t row, std::int64_t column, const DenseTensor& data, std::int64_t at) {
    tensor_.coordinates[0].push_back(row);
    tensor_.coordinates[1].push_back(column);
    add_value(data, at);
  }

  void add_value(const DenseTensor& data, std::int64_t at) {
    if (is_integer(data.value_type)) {
      tensor_.integers.push_back(data.integer_at(at));
    } else {
      tensor_.add_value(data.complex_at(at));
    }
  }

  // Rows (columns of csc), each of whose entries is a number or a block.
  Result<void> compressed(const DenseTensor& data, bool by_columns) {
    SCHAAS_ASSIGN_OR_RETURN(const auto pointers, integers("indptr.npy"));
    SCHAAS_ASSIGN_OR_RETURN(const auto indices, integers("indices.npy"));
    const bool blocks = data.order() == 3;
    if ((!blocks && data.order() != 1) || data.extents[0] != static_cast<std::int64_t>(indices.size()))
      return wrong("its data have shape " + shape_text(data.extents) + ", and there are " +
                   std::to_string(indices.size()) + " indices");
    const std::int64_t height = blocks ? data.extents[1] : 1, width = blocks ? data.extents[2] : 1;
    const std::int64_t lines = tensor_.extents[by_columns ? 1 : 0];
    // Positions ascend from 0 to at most the number of entries, so every entry below is inside the data.
    if (height < 1 || width < 1 || lines % height != 0 ||
        static_cast<std::int64_t>(pointers.size()) != lines / height + 1 || pointers.front() != 0 ||
        pointers.back() > data.extents[0] || !std::is_sorted(pointers.begin(), pointers.end()))
      return wrong("its member indptr.npy does not fit its shape " + shape_text(tensor_.extents));
    tensor_.coordinates.resize(2);
    for (std::size_t line = 0; line + 1 < pointers.size(); ++line) {
      for (std::int64_t entry = pointers[line]; entry < pointers[line + 1]; ++entry) {
        const std::int64_t outer = static_cast<std::int64_t>(line) * height;
        std::int64_t inner = 0, last = 0;
        // An index of a block may be anything: a block that overflows lies outside every extent, all of it.
        if (__builtin_mul_overflow(indices[static_cast<std::size_t>(entry)], width, &inner) ||
            __builtin_add_overflow(inner, width - 1, &last))
          inner = -width;
        for (std::int64_t n = 0; n < height * width; ++n) {
          const std::int64_t row = outer + n / width, column = inner + n % width;
          add(by_columns ? column : row, by_columns ? row : column, data, entry * height * width + n);
        }
      }
    }
    return {};
  }

  Result<void> coordinates(const DenseTensor& data) {
    if (archive_.has("coords.npy")) {
      SCHAAS_ASSIGN_OR_RETURN(const DenseTensor all, array("coords.npy"));
      if (all.order() != 2 || all.extents[0] != tensor_.order())
        return wrong("its member coords.npy has shape " + shape_text(all.extents));
      for (std::int64_t mode = 0; mode < all.extents[0]; ++mode)
        tensor_.coordinates.push_back(whole(all, mode * all.extents[1], (mode + 1) * all.extents[1]));
    } else {
      for (const char* name : {"row.npy", "col.npy"}) {
        SCHAAS_ASSIGN_OR_RETURN(auto list, integers(name));
        tensor_.coordinates.push_back(std::move(list));
      }
    }
    // All modes have as many coordinates as there are values; without modes there is one value.
    if (tensor_.order() == 0 && data.size() != 1)
      return wrong("its data have shape " + shape_text(data.extents));
    for (const auto& list : tensor_.coordinates) {
      if (data.order() != 1 || static_cast<std::int64_t>(list.size()) != data.extents[0])
        return wrong("it has " + std::to_string(list.size()) + " coordinates, and data of shape " +
                     shape_text(data.extents));
    }
    if (tensor_.coordinates.size() != tensor_.extents.size())
      return wrong("it has coordinates of " + std::to_string(tensor_.coordinates.size()) + " modes");
    for (std::int64_t n = 0; n < data.size(); ++n) add_value(data, n);
    return {};
  }

  // data[d, c] is the element of column c on the diagonal d, which begins `offset` columns to the right.
  Result<void> diagonals(const DenseTensor& data) {
    SCHAAS_ASSIGN_OR_RETURN(const DenseTensor offsets, array("offsets.npy"));
    if (data.order() != 2 || offsets.order() != 1 || offsets.extents[0] != data.extents[0])
      return wrong("its diagonals have shape " + shape_text(data.extents));
    tensor_.coordinates.resize(2);
    for (std::int64_t d = 0; d < data.extents[0]; ++d) {
      const double offset = offsets.at(d);
      // Offsets of whole numbers up to 2^53: sums with extents cannot overflow.
      if (std::fabs(offset) > 0x1p53 || offset != std::floor(offset))
        return wrong("an offset is no whole number");
      const auto shift = static_cast<std::int64_t>(offset);
      // Columns of a diagonal that lie outside the matrix are stored but do not count.
      const std::int64_t end =
          std::min(std::min(data.extents[1], tensor_.extents[1]), tensor_.extents[0] + shift);
      for (std::int64_t c = std::max<std::int64_t>(shift, 0); c < end; ++c)
        add(c - shift, c, data, d * data.extents[1] + c);
    }
    return {};
  }

  const ZipArchive& archive_;
  const std::string& path_;
  const ReadOptions& options_;
  CooTensor tensor_;
};

}  // namespace

Result<TensorData> read_npz(FileSource source, const ReadOptions& options) {
  const std::string path = source.path();
  SCHAAS_ASSIGN_OR_RETURN(std::string bytes, source.rest());
  SCHAAS_ASSIGN_OR_RETURN(const ZipArchive archive, ZipArchive::of(std::move(bytes), path));
  return NpzReader(archive, path, options).read();
}

}  // namespace schaas::client
