#include <algorithm>
#include <cctype>

#include "client/cpp/platform/allocate.h"
#include "client/cpp/tensor_io/file_readers.h"
#include "compiler/support/nearest_name.h"

// Reads Matrix Market (Boisvert, Pozo, Remington 1996): a header line, % comments, and a size line. Then
// comes one entry per line (coordinate) or one value per line in column order (array). docs/file_formats.md.
namespace schaas::client {
namespace {

using support::Diagnostic;
using support::Result;

using Complex = std::complex<double>;

enum class Field { real, complex, integer, pattern };
enum class Symmetry { general, symmetric, skew, hermitian };

struct Header {
  bool coordinate = true;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
};

// The size line, kept for messages that come later.
struct SizeLine {
  std::string text;
  std::uint64_t number = 0;
  std::int64_t rows = 0, columns = 0, entries = 0;
  std::string_view last_word() const {
    const std::size_t end = text.find_last_not_of(" \t");
    const std::size_t begin = text.find_last_of(" \t", end);
    return std::string_view(text).substr(begin + 1, end - begin);
  }
};

std::string lower(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

class MatrixMarketReader {
 public:
  MatrixMarketReader(FileSource source, const ReadOptions& options)
      : lines_(std::move(source), options.progress), options_(options) {}

  Result<TensorData> read() {
    SCHAAS_RETURN_IF_ERROR(read_header());
    SCHAAS_RETURN_IF_ERROR(read_size());
    if (header_.coordinate) return read_coordinates();
    return read_array();
  }

 private:
  Diagnostic here(Diagnostic d, std::string_view part) const { return lines_.at(std::move(d), line_, part); }

  // ---- header and size

  Diagnostic unknown_word(const std::string& what, std::string_view word,
                          const std::vector<std::string>& known) const {
    std::string list;
    for (const auto& k : known) list += (list.empty() ? "" : k == known.back() ? " or " : ", ") + k;
    return here(support::invalid("mtx-header", "expected " + what + " (" + list + "), found " +
                                                   (word.empty() ? "the end of the line" : quoted(word)) +
                                                   support::did_you_mean(lower(word), known)),
                word);
  }

  Result<void> read_header() {
    SCHAAS_ASSIGN_OR_RETURN(const bool any, lines_.next(line_));
    Words words(any ? line_ : std::string_view());
    const std::string_view banner = words.next();
    if (lower(banner) != "%%matrixmarket") {
      const std::string found =
          line_.find('\0') != std::string_view::npos ? "binary data" : "another first line";
      return here(support::invalid(
                      "mtx-header",
                      "expected `%%MatrixMarket matrix coordinate real general` or the like, found " + found),
                  line_.substr(0, 1));
    }
    const std::string_view object = words.next(), format = words.next(), field = words.next(),
                           symmetry = words.next();
    if (lower(object) != "matrix") return unknown_word("an object", object, {"matrix"});
    if (lower(format) != "coordinate" && lower(format) != "array") {
      return unknown_word("a format", format, {"coordinate", "array"});
    }
    header_.coordinate = lower(format) == "coordinate";
    SCHAAS_RETURN_IF_ERROR(set_field(field));
    return set_symmetry(symmetry);
  }

  Result<void> set_field(std::string_view word) {
    const std::string field = lower(word);
    if (field == "complex") {
      header_.field = Field::complex;
    } else if (field == "real" || field == "double") {
      header_.field = Field::real;
    } else if (field == "integer" || field == "unsigned-integer") {
      header_.field = Field::integer;
    } else if (field == "pattern") {
      header_.field = Field::pattern;
      if (!header_.coordinate) {
        return here(support::invalid("mtx-header", "an array cannot be a pattern: it has nothing but values"),
                    word);
      }
    } else {
      return unknown_word("a field", word,
                          {"real", "double", "complex", "integer", "unsigned-integer", "pattern"});
    }
    return {};
  }

  Result<void> set_symmetry(std::string_view word) {
    const std::string symmetry = lower(word);
    if (symmetry == "hermitian") {
      if (header_.field != Field::complex)
        return here(
            support::invalid("mtx-symmetry", "hermitian matrices are complex; real ones are symmetric"),
            word);
      header_.symmetry = Symmetry::hermitian;
    } else if (symmetry == "general") {
      header_.symmetry = Symmetry::general;
    } else if (symmetry == "symmetric") {
      header_.symmetry = Symmetry::symmetric;
    } else if (symmetry == "skew-symmetric") {
      header_.symmetry = Symmetry::skew;
    } else {
      return unknown_word("a symmetry", word, {"general", "symmetric", "skew-symmetric"});
    }
    return {};
  }

  // The next line that is neither blank nor a comment.
  Result<bool> next_line() {
    while (true) {
      SCHAAS_ASSIGN_OR_RETURN(const bool more, lines_.next(line_));
      if (!more) return false;
      const std::size_t first = line_.find_first_not_of(" \t");
      if (first != std::string_view::npos && line_[first] != '%') return true;
    }
  }

  Result<void> read_size() {
    SCHAAS_ASSIGN_OR_RETURN(const bool more, next_line());
    const std::string form = header_.coordinate ? "`rows columns entries`" : "`rows columns`";
    if (!more) return support::invalid("mtx-size", path() + " ends before its size line " + form);
    size_.text = std::string(line_);
    size_.number = lines_.number();
    Words words(line_);
    SCHAAS_ASSIGN_OR_RETURN(size_.rows, size_word(words.next(), "the number of rows"));
    SCHAAS_ASSIGN_OR_RETURN(size_.columns, size_word(words.next(), "the number of columns"));
    if (header_.coordinate) {
      SCHAAS_ASSIGN_OR_RETURN(size_.entries, size_word(words.next(), "the number of entries"));
    }
    if (const std::string_view extra = words.next(); !extra.empty()) {
      return here(support::invalid("mtx-size", "expected " + form + ", found one more word " + quoted(extra)),
                  extra);
    }
    if (header_.symmetry != Symmetry::general && size_.rows != size_.columns) {
      return here(support::invalid("mtx-size", "a symmetric matrix must be square, found " +
                                                   std::to_string(size_.rows) + " rows and " +
                                                   std::to_string(size_.columns) + " columns"),
                  line_);
    }
    return check_array_size();
  }

  Result<std::int64_t> size_word(std::string_view word, const std::string& what) const {
    std::int64_t value = 0;
    const NumberError error = parse_integer(word, value);
    if (error != NumberError::none) {
      Diagnostic d = bad_number(error, word, what);
      d.code = "mtx-size";
      return here(std::move(d), word);
    }
    if (value < 0) return here(support::invalid("mtx-size", what + " is negative"), word);
    return value;
  }

  // Sets the number of values of an array: all, those of a triangle with the diagonal, or without it.
  Result<void> check_array_size() {
    if (header_.coordinate) return {};
    std::int64_t values = 0;
    if (__builtin_mul_overflow(size_.rows, size_.columns, &values)) {
      return here(
          support::invalid("mtx-size", std::to_string(size_.rows) + " x " + std::to_string(size_.columns) +
                                           " values do not fit in 63 bits"),
          line_);
    }
    // n (n + 1) / 2 without the sum n * n + n, which may overflow.
    if (header_.symmetry == Symmetry::symmetric)
      values = values / 2 + size_.rows / 2 + (size_.rows % 2 != 0 ? 1 : 0);
    if (header_.symmetry == Symmetry::skew) values = (values - size_.rows) / 2;
    size_.entries = values;
    return {};
  }

  const std::string& path() const { return lines_.source().path(); }

  // ---- entries

  Diagnostic wrong_count(const char* code, const std::string& found) const {
    return at_line(support::invalid(code, "the header promises " + std::to_string(size_.entries) +
                                              (header_.coordinate ? " entries, " : " values, ") + found),
                   path(), size_.number, size_.text,
                   header_.coordinate ? size_.last_word() : std::string_view(size_.text));
  }

  // Returns a plausible number of entries to reserve: an entry takes at least `shortest` bytes of content.
  // The header may promise anything; text seldom shrinks below a quarter when it is compressed.
  std::size_t believable(std::uint64_t shortest) const {
    const auto claimed = static_cast<std::uint64_t>(size_.entries);
    const std::uint64_t possible =
        lines_.source().file_bytes() * (lines_.source().compressed() ? 4 : 1) / shortest + 1;
    return std::min(claimed, possible);
  }

  // The promised number is compared at both ends: one entry more stops at its line, too few are found at the
  // end.
  Result<TensorData> read_coordinates() {
    coo_.extents = {size_.rows, size_.columns};
    coo_.coordinates.resize(2);
    const bool mirrored = header_.symmetry != Symmetry::general;
    // `1 1` and an end of the line take 4 bytes, with a value 6. Mirrored entries are stored twice.
    const std::size_t room = believable(header_.field == Field::pattern ? 4 : 6) * (mirrored ? 2 : 1);
    coo_.coordinates[0].reserve(room);
    coo_.coordinates[1].reserve(room);
    if (header_.field == Field::complex) {
      coo_.value_type = ValueType::c128;
      coo_.values.reserve(room);
      coo_.imaginary.reserve(room);
    } else if (is_integer(options_.value_type)) {
      coo_.value_type = options_.value_type == ValueType::u64 ? ValueType::u64 : ValueType::i64;
      coo_.integers.reserve(room);
    } else {
      coo_.values.reserve(room);
    }
    std::int64_t read = 0;
    while (true) {
      SCHAAS_ASSIGN_OR_RETURN(const bool more, next_line());
      if (!more) break;
      if (read == size_.entries) {
        return here(
            support::invalid("too-many-entries", "the header promises " + std::to_string(size_.entries) +
                                                     " entries, this is one more"),
            line_);
      }
      SCHAAS_RETURN_IF_ERROR(read_entry());
      ++read;
    }
    if (read < size_.entries) {
      return wrong_count("too-few-entries", "the file has " + std::to_string(read) + " (truncated?)");
    }
    return finish_coordinates();
  }

  Result<std::int64_t> index_word(std::string_view word, const char* what, std::int64_t extent) const {
    std::int64_t value = 0;
    const NumberError error = parse_integer(word, value);
    if (error != NumberError::none)
      return here(bad_number(error, word, std::string("a ") + what + " index"), word);
    if (value >= 1 && value <= extent) return value - 1;
    const std::string start = std::string(what) + " index " + std::to_string(value);
    if (value < 1) {
      return here(support::invalid("coordinate-range", start + " is below 1: indices start at 1"), word);
    }
    return here(support::invalid("coordinate-range",
                                 start + " is beyond the " + std::to_string(extent) + " " + what + "s"),
                word);
  }

  // Integers beyond 2^53 are refused: f64 would change them.
  NumberError parse_value(std::string_view word, double& value) const {
    return header_.field == Field::integer ? parse_integral(word, value) : parse_real(word, value);
  }
  static NumberError parse_value(std::string_view word, std::int64_t& value) {
    return parse_whole(word, value);
  }
  static NumberError parse_value(std::string_view word, std::uint64_t& value) {
    return parse_whole(word, value);
  }

  Diagnostic bad_value(NumberError error, std::string_view word) const {
    return here(bad_number(error, word, is_integer(options_.value_type) ? "an integer" : "a value"), word);
  }

  Result<void> read_entry() {
    if (header_.field == Field::complex) return read_entry<Complex>();
    if (coo_.value_type == ValueType::u64) return read_entry<std::uint64_t>();
    return is_integer(coo_.value_type) ? read_entry<std::int64_t>() : read_entry<double>();
  }

  template <class Value>
  Result<void> read_entry() {
    Words words(line_);
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t row, index_word(words.next(), "row", size_.rows));
    const std::string_view column_word = words.next();
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t column, index_word(column_word, "column", size_.columns));
    Value value = 1;
    if (header_.field != Field::pattern) SCHAAS_RETURN_IF_ERROR(read_value(words.next(), words, value));
    if (const std::string_view extra = words.next(); !extra.empty()) {
      const char* form = header_.field == Field::pattern   ? "`row column`"
                         : header_.field == Field::complex ? "`row column real imaginary`"
                                                           : "`row column value`";
      return here(support::invalid("file-entry", std::string("expected ") + form + ", found one more word " +
                                                     quoted(extra)),
                  extra);
    }
    if (header_.symmetry != Symmetry::general) {
      SCHAAS_RETURN_IF_ERROR(check_triangle(row, column, value != Value{}));
    }
    // Entries of the diagonal have no mirror image.
    add(row, column, value);
    if (row != column) {
      if (header_.symmetry == Symmetry::symmetric) add(column, row, value);
      if (header_.symmetry == Symmetry::skew) add(column, row, negative(value));
      if (header_.symmetry == Symmetry::hermitian) add(column, row, conjugate(value));
    }
    return {};
  }

  /// Reads a value that begins with the word; a complex one has two.
  template <class Value>
  Result<void> read_value(std::string_view word, Words& words, Value& value) const {
    if constexpr (std::is_same_v<Value, Complex>) {
      double parts[2] = {0, 0};
      for (double& part : parts) {
        const NumberError error = parse_real(word, part);
        if (error != NumberError::none) return bad_value(error, word);
        if (&part == parts) word = words.next();
      }
      value = {parts[0], parts[1]};
    } else {
      const NumberError error = parse_value(word, value);
      if (error != NumberError::none) return bad_value(error, word);
    }
    return {};
  }

  // One triangle is stored; both would count every entry twice.
  Result<void> check_triangle(std::int64_t row, std::int64_t column, bool nonzero) {
    below_ = below_ || row > column;
    above_ = above_ || row < column;
    if (below_ && above_) {
      return here(support::invalid("mtx-triangle",
                                   "a symmetric file stores one triangle, but this entry is on the other "
                                   "side of the diagonal than earlier ones"),
                  line_);
    }
    if (header_.symmetry == Symmetry::skew && row == column && nonzero) {
      return here(support::invalid("mtx-triangle", "the diagonal of a skew-symmetric matrix is 0"), line_);
    }
    return {};
  }

  static double negative(double value) { return -value; }
  static Complex negative(Complex value) { return -value; }
  template <class Value>
  static Value conjugate(Value value) {
    if constexpr (std::is_same_v<Value, Complex>) return std::conj(value);
    return value;
  }
  static std::int64_t negative(std::int64_t value) {  // the smallest integer is its own
    return static_cast<std::int64_t>(-static_cast<std::uint64_t>(value));
  }
  static std::uint64_t negative(std::uint64_t value) { return -value; }

  template <class Value>
  void add(std::int64_t row, std::int64_t column, Value value) {
    coo_.coordinates[0].push_back(row);
    coo_.coordinates[1].push_back(column);
    if constexpr (std::is_integral_v<Value>) {
      coo_.integers.push_back(static_cast<std::int64_t>(value));
    } else {
      coo_.add_value(value);
    }
  }

  // A caller that wants a vector gets one from a matrix of one column or one row.
  Result<TensorData> finish_coordinates() {
    if (const int drop = mode_to_drop(); drop >= 0) {
      coo_.extents.erase(coo_.extents.begin() + drop);
      coo_.coordinates.erase(coo_.coordinates.begin() + drop);
    }
    SCHAAS_RETURN_IF_ERROR(check_extents(path(), coo_.extents, options_.extents));
    return TensorData(std::move(coo_));
  }

  int mode_to_drop() const {
    if (options_.extents.size() != 1) return -1;
    return size_.columns == 1 ? 1 : size_.rows == 1 ? 0 : -1;
  }

  // ---- array

  // The values are collected before the matrix is allocated: a header cannot ask for more than the file
  // holds.
  Result<TensorData> read_array() {
    if (header_.field == Field::complex) return read_array<Complex>();
    if (options_.value_type == ValueType::u64) return read_array<std::uint64_t>();
    return is_integer(options_.value_type) ? read_array<std::int64_t>() : read_array<double>();
  }

  template <class Value>
  Result<TensorData> read_array() {
    std::vector<Value> values;
    values.reserve(believable(2));
    while (true) {
      SCHAAS_ASSIGN_OR_RETURN(const bool more, next_line());
      if (!more) break;
      Words words(line_);
      for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
        Value value = 0;
        SCHAAS_RETURN_IF_ERROR(read_value(word, words, value));
        if (static_cast<std::int64_t>(values.size()) == size_.entries) {
          return here(
              support::invalid("too-many-entries", "the header promises " + std::to_string(size_.entries) +
                                                       " values, this is one more"),
              word);
        }
        values.push_back(value);
      }
    }
    if (static_cast<std::int64_t>(values.size()) < size_.entries) {
      return wrong_count("too-few-entries",
                         "the file has " + std::to_string(values.size()) + " (truncated?)");
    }
    return arrange(values);
  }

  // Brings column order to row order; symmetric files hold the lower triangle of each column.
  template <class Value>
  Result<TensorData> arrange(const std::vector<Value>& values) {
    constexpr ValueType type = std::is_same_v<Value, std::uint64_t> ? ValueType::u64
                               : std::is_integral_v<Value>          ? ValueType::i64
                               : std::is_same_v<Value, Complex>     ? ValueType::c128
                                                                    : ValueType::f64;
    SCHAAS_ASSIGN_OR_RETURN(DenseTensor dense, zeros({size_.rows, size_.columns}, type));
    Value* to = dense.values.as<Value>();
    std::size_t next = 0;
    for (std::int64_t c = 0; c < size_.columns; ++c) {
      const std::int64_t first = header_.symmetry == Symmetry::general ? 0
                                 : header_.symmetry == Symmetry::skew  ? c + 1
                                                                       : c;
      for (std::int64_t r = first; r < size_.rows; ++r) {
        const Value value = values[next++];
        to[r * size_.columns + c] = value;
        if (header_.symmetry == Symmetry::symmetric) to[c * size_.columns + r] = value;
        if (header_.symmetry == Symmetry::skew) to[c * size_.columns + r] = negative(value);
        if (header_.symmetry == Symmetry::hermitian && r != c) to[c * size_.columns + r] = conjugate(value);
      }
    }
    if (const int drop = mode_to_drop(); drop >= 0) dense.extents.erase(dense.extents.begin() + drop);
    SCHAAS_RETURN_IF_ERROR(check_extents(path(), dense.extents, options_.extents));
    return TensorData(std::move(dense));
  }

  LineReader lines_;
  const ReadOptions& options_;
  std::string_view line_;
  Header header_;
  SizeLine size_;
  CooTensor coo_;
  bool below_ = false, above_ = false;
};

}  // namespace

Result<TensorData> read_matrix_market(FileSource source, const ReadOptions& options) {
  return MatrixMarketReader(std::move(source), options).read();
}

}  // namespace schaas::client
