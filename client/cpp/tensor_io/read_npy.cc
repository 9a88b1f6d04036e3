#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor/tensor_checks.h"
#include "client/cpp/tensor/typed.h"
#include "client/cpp/tensor_io/file_readers.h"
#include "client/cpp/tensor_io/npy_header.h"
#include "compiler/support/limits.h"

// NumPy array format, versions 1.0 to 3.0 (NumPy Enhancement Proposal 1): magic, version, header length, a
// Python dictionary, the elements. Sizes are compared with what the file can hold before anything is
// allocated. Types become f64, or f32 where that holds them; integers of 64 bits are refused where f64 would
// change them. Where the caller wants an integer type, integers become i64.
namespace schaas::client {
namespace {

using support::Result;

constexpr std::size_t slice_elements = std::size_t{1} << 16;

/// b1: everything but 0 is true.
struct Truth {
  std::uint8_t byte;
  explicit operator double() const { return byte != 0 ? 1 : 0; }
  explicit operator std::int64_t() const { return byte != 0 ? 1 : 0; }
};

template <class Element>
constexpr bool holds_integers = std::is_integral_v<Element> || std::is_same_v<Element, Truth>;

class NpyReader {
 public:
  NpyReader(FileSource source, const ReadOptions& options) : source_(std::move(source)), options_(options) {}

  Result<TensorData> read() {
    SCHAAS_ASSIGN_OR_RETURN(const std::string text, header_text());
    SCHAAS_ASSIGN_OR_RETURN(const NpyHeader header, parse_npy_header(text, source_.path()));
    constexpr std::size_t most = support::Limits::order;
    if (header.shape.size() > most) {
      return support::unsupported("npy-header", source_.path() + " has " +
                                                    std::to_string(header.shape.size()) + " modes; at most " +
                                                    std::to_string(most) + " are supported");
    }
    SCHAAS_RETURN_IF_ERROR(check_extents(source_.path(), header.shape, options_.extents));
    return by_type(header);
  }

 private:
  // The kind and the width make one number for the switch; the header's parser knows no others.
  Result<TensorData> by_type(const NpyHeader& header) {
    switch (header.kind * 16 + header.element_bytes) {
      case 'b' * 16 + 1:
        return elements<Truth>(header);
      case 'i' * 16 + 1:
        return elements<std::int8_t>(header);
      case 'i' * 16 + 2:
        return elements<std::int16_t>(header);
      case 'i' * 16 + 4:
        return elements<std::int32_t>(header);
      case 'i' * 16 + 8:
        return elements<std::int64_t>(header);
      case 'u' * 16 + 1:
        return elements<std::uint8_t>(header);
      case 'u' * 16 + 2:
        return elements<std::uint16_t>(header);
      case 'u' * 16 + 4:
        return elements<std::uint32_t>(header);
      case 'u' * 16 + 8:
        return elements<std::uint64_t>(header);
      case 'f' * 16 + 2:
        return elements<Half>(header);
      case 'f' * 16 + 4:
        return elements<float>(header);
      case 'c' * 16 + 8:
        return elements<std::complex<float>>(header);
      case 'c' * 16 + 16:
        return elements<std::complex<double>>(header);
      default:
        return elements<double>(header);
    }
  }

  support::Diagnostic bad_header(const std::string& why) const {
    return support::invalid("npy-header", source_.path() + " is no NumPy file: " + why);
  }

  // Exactly `size` bytes, or fewer at the end of the file.
  Result<std::size_t> fill(char* to, std::size_t size) {
    std::size_t done = 0;
    while (done < size) {
      SCHAAS_ASSIGN_OR_RETURN(const std::size_t got, source_.read(to + done, size - done));
      if (got == 0) break;
      done += got;
      if (options_.progress) options_.progress(source_.consumed_bytes(), source_.file_bytes());
    }
    return done;
  }

  Result<std::string> header_text() {
    unsigned char start[12] = {};
    SCHAAS_ASSIGN_OR_RETURN(const std::size_t got, fill(reinterpret_cast<char*>(start), 8));
    if (got < 8 || std::memcmp(start, "\x93NUMPY", 6) != 0)
      return bad_header("it does not start with \\x93NUMPY");
    const int version = start[6];
    if (version < 1 || version > 3)
      return bad_header("format version " + std::to_string(version) + " is unknown");
    const std::size_t width = version == 1 ? 2 : 4;
    SCHAAS_ASSIGN_OR_RETURN(const std::size_t more, fill(reinterpret_cast<char*>(start) + 8, width));
    std::uint64_t length = 0;
    // Lengths are stored least significant byte first, in 2 or 4 bytes.
    for (std::size_t b = 0; b < width; ++b) length |= static_cast<std::uint64_t>(start[8 + b]) << (8 * b);
    if (more < width || length > source_.content_limit() || length > (std::uint64_t{1} << 20)) {
      return bad_header("its header would be " + std::to_string(length) + " bytes long");
    }
    std::string text(length, '\0');
    SCHAAS_ASSIGN_OR_RETURN(const std::size_t read, fill(text.data(), text.size()));
    if (read < length) return bad_header("its header ends early (truncated?)");
    return text;
  }

  support::Diagnostic wrong_size(const NpyHeader& header, const std::string& found) const {
    return support::invalid("npy-size", source_.path() + " has shape " + shape_text(header.shape) + " of " +
                                            std::to_string(header.element_bytes) + "-byte elements, but " +
                                            found);
  }

  // Reads in slices, so that other types and Fortran order need no second copy of the file.
  template <class Element>
  Result<TensorData> elements(const NpyHeader& header) {
    const auto size = checked_product(header.shape);
    std::int64_t bytes = 0;
    if (!size || __builtin_mul_overflow(*size, static_cast<std::int64_t>(sizeof(Element)), &bytes)) {
      return wrong_size(header, "that many do not fit in 63 bits");
    }
    // Cut off or compressed, no content is longer than this.
    if (static_cast<std::uint64_t>(bytes) > source_.content_limit()) {
      return wrong_size(header, "the file has only " + std::to_string(source_.file_bytes()) + " bytes");
    }
    // f2 and f4 are exact in f32.
    constexpr bool narrow = std::is_same_v<Element, float> || std::is_same_v<Element, Half>;
    const bool whole = holds_integers<Element> && is_integer(options_.value_type);
    const bool as_u64 = std::is_same_v<Element, std::uint64_t> && options_.value_type == ValueType::u64;
    const ValueType type = std::is_same_v<Element, std::complex<float>>    ? ValueType::c64
                           : std::is_same_v<Element, std::complex<double>> ? ValueType::c128
                           : as_u64                                        ? ValueType::u64
                           : whole                                         ? ValueType::i64
                           : narrow                                        ? ValueType::f32
                                                                           : ValueType::f64;
    SCHAAS_ASSIGN_OR_RETURN(DenseTensor dense, zeros(header.shape, type));
    const auto slice = std::make_unique<Element[]>(slice_elements);
    std::vector<std::int64_t> counter(header.shape.size(), 0);
    for (std::int64_t done = 0; done < *size;) {
      const std::size_t count = std::min<std::size_t>(slice_elements, static_cast<std::size_t>(*size - done));
      SCHAAS_ASSIGN_OR_RETURN(const std::size_t got,
                              fill(reinterpret_cast<char*>(slice.get()), count * sizeof(Element)));
      if (got < count * sizeof(Element)) {
        return wrong_size(header, "the data end after " +
                                      std::to_string(data_bytes(done, got, sizeof(Element))) + " bytes");
      }
      if (header.big_endian) reverse_bytes(slice.get(), count);
      SCHAAS_RETURN_IF_ERROR(store(slice.get(), count, done, header, counter, dense));
      done += static_cast<std::int64_t>(count);
    }
    char extra = 0;
    SCHAAS_ASSIGN_OR_RETURN(const std::size_t more, fill(&extra, 1));
    if (more > 0) return wrong_size(header, "there are bytes after the last one");
    return TensorData(std::move(dense));
  }

  static std::int64_t data_bytes(std::int64_t done, std::size_t got, std::size_t width) {
    return done * static_cast<std::int64_t>(width) + static_cast<std::int64_t>(got);
  }

  // Elements are reversed in the slice, in memory that belongs to the reader.
  template <class Element>
  static void reverse_bytes(Element* elements, std::size_t count) {
    auto* bytes = reinterpret_cast<char*>(elements);
    constexpr std::size_t parts = is_complex_number<Element> ? 2 : 1, width = sizeof(Element) / parts;
    for (std::size_t e = 0; e < parts * count; ++e, bytes += width) std::reverse(bytes, bytes + width);
  }

  // Converts elements `done` and following; in Fortran order `counter` holds the coordinates of the next one.
  template <class Element>
  Result<void> store(const Element* from, std::size_t count, std::int64_t done, const NpyHeader& header,
                     std::vector<std::int64_t>& counter, DenseTensor& to) const {
    for (std::size_t e = 0; e < count; ++e) {
      std::int64_t offset = done + static_cast<std::int64_t>(e);
      if (header.fortran_order) offset = next_fortran(header.shape, counter);
      if constexpr (std::is_same_v<Element, float>) {
        to.values.as<float>()[offset] = from[e];
      } else if constexpr (std::is_same_v<Element, Half>) {
        to.values.as<float>()[offset] = from[e];
      } else if constexpr (is_complex_number<Element>) {
        to.values.as<Element>()[offset] = from[e];
      } else if (is_integer(to.value_type)) {
        if constexpr (holds_integers<Element>) to.set_integer(offset, static_cast<std::int64_t>(from[e]));
        if constexpr (std::is_same_v<Element, std::uint64_t>) {
          if (to.value_type == ValueType::i64 && from[e] > std::uint64_t{INT64_MAX})
            return too_large(std::to_string(from[e]));
        }
      } else {
        to.values.as<double>()[offset] = static_cast<double>(from[e]);
        // Integers of up to 32 bits are exact in f64.
        if constexpr (std::is_integral_v<Element> && sizeof(Element) == 8) {
          if (!is_exact(from[e])) return inexact(std::to_string(from[e]));
        }
      }
    }
    return {};
  }

  support::Diagnostic too_large(const std::string& number) const {
    return support::invalid("file-number", source_.path() + " holds " + number + ", which i64 does not have");
  }

  support::Diagnostic inexact(const std::string& number) const {
    return support::invalid(
        "file-number", source_.path() + " holds " + number + ", an integer that f64 cannot hold exactly");
  }

  // The row-major offset of `counter`, which then advances with the first mode fastest.
  static std::int64_t next_fortran(const std::vector<std::int64_t>& shape,
                                   std::vector<std::int64_t>& counter) {
    std::int64_t offset = 0;
    for (std::size_t m = 0; m < shape.size(); ++m) offset = offset * shape[m] + counter[m];
    for (std::size_t m = 0; m < shape.size() && ++counter[m] == shape[m]; ++m) counter[m] = 0;
    return offset;
  }

  FileSource source_;
  const ReadOptions& options_;
};

}  // namespace

Result<TensorData> read_npy(FileSource source, const ReadOptions& options) {
  return NpyReader(std::move(source), options).read();
}

}  // namespace schaas::client
