#include <algorithm>
#include <limits>

#include "client/cpp/tensor_io/file_readers.h"
#include "compiler/support/limits.h"

// FROSTT text (S. Smith et al., FROSTT: the formidable repository of open sparse tensors and tools, 2017): no
// header; `#` comments; each line holds the 1-based coordinates, then the value. A comment `# schaas extents
// 3 4` before the first entry tells the extents. docs/file_formats.md.
// `tensor_.coordinates` is empty until the first entry tells the order; comments behind it are skipped
// unread.
namespace schaas::client {
namespace {

using support::Diagnostic;
using support::Result;

class FrosttReader {
 public:
  FrosttReader(FileSource source, const ReadOptions& options)
      : lines_(std::move(source), options.progress), options_(options), extents_(options.extents) {}

  // Extents are the largest coordinates where nobody knows better.
  Result<TensorData> read() {
    while (true) {
      SCHAAS_ASSIGN_OR_RETURN(const bool more, next_line());
      if (!more) break;
      if (tensor_.coordinates.empty()) SCHAAS_RETURN_IF_ERROR(begin());
      SCHAAS_RETURN_IF_ERROR(entry());
    }
    if (tensor_.coordinates.empty()) SCHAAS_RETURN_IF_ERROR(no_entries());
    tensor_.extents = largest_;
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      if (extents_[m] >= 0) tensor_.extents[m] = extents_[m];
    }
    return TensorData(std::move(tensor_));
  }

 private:
  Diagnostic here(Diagnostic d, std::string_view part) const { return lines_.at(std::move(d), line_, part); }

  Result<bool> next_line() {
    while (true) {
      SCHAAS_ASSIGN_OR_RETURN(const bool more, lines_.next(line_));
      if (!more) return false;
      const std::size_t first = line_.find_first_not_of(" \t");
      if (first == std::string_view::npos) continue;
      if (line_[first] != '#') return true;
      if (tensor_.coordinates.empty()) SCHAAS_RETURN_IF_ERROR(comment());
    }
  }

  // Takes the extents of a file that schaas wrote.
  Result<void> comment() {
    Words words(line_);
    if (words.next() != "#" || words.next() != "schaas" || words.next() != "extents") return {};
    std::vector<std::int64_t> found;
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
      std::int64_t extent = 0;
      const NumberError error = parse_integer(word, extent);
      if (error != NumberError::none || extent < 0)
        return here(bad_number(error, word, "extent " + std::to_string(found.size() + 1)), word);
      found.push_back(extent);
    }
    if (found.empty() || found.size() > support::Limits::order)
      return here(support::invalid("tns-line", "expected 1 to " + std::to_string(support::Limits::order) +
                                                   " extents, found " + std::to_string(found.size())),
                  line_);
    SCHAAS_RETURN_IF_ERROR(check_extents(lines_.source().path(), found, options_.extents));
    extents_ = std::move(found);
    return {};
  }

  // The first entry tells the order.
  Result<void> begin() {
    std::size_t words = 0;
    Words counted(line_);
    while (!counted.next().empty()) ++words;
    constexpr std::size_t most = support::Limits::order;
    if (words < 2) {
      return here(support::invalid("tns-line", "expected coordinates and a value, found a single word"),
                  line_);
    }
    if (words - 1 > most) {
      return here(
          support::unsupported("tns-line", "this tensor has " + std::to_string(words - 1) +
                                               " modes; at most " + std::to_string(most) + " are supported"),
          line_);
    }
    if (!extents_.empty() && extents_.size() != words - 1) {
      return here(support::invalid("extent-mismatch", "this tensor has " + std::to_string(words - 1) +
                                                          " modes, but " + std::to_string(extents_.size()) +
                                                          " are expected"),
                  line_);
    }
    open(words - 1);
    return {};
  }

  // Coordinates are compared with known extents as they are read, so that the message points at the line.
  void open(std::size_t order) {
    tensor_.coordinates.resize(order);
    if (is_integer(options_.value_type))
      tensor_.value_type = options_.value_type == ValueType::u64 ? ValueType::u64 : ValueType::i64;
    largest_.assign(order, 0);
    limit_.assign(order, std::numeric_limits<std::int64_t>::max());
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      if (extents_[m] >= 0) limit_[m] = extents_[m];
    }
  }

  Result<void> no_entries() {
    const bool known = !extents_.empty() && std::count(extents_.begin(), extents_.end(), -1) == 0;
    if (!known) {
      return support::noting(
          support::invalid("file-empty",
                           lines_.source().path() + " has no entries, so its order and extents are unknown"),
          "give its extents to read it as a tensor of zeros");
    }
    open(extents_.size());
    return {};
  }

  Result<void> value(std::string_view word) {
    const bool whole = is_integer(tensor_.value_type);
    double real = 0;
    std::int64_t integer = 0;
    std::uint64_t natural = 0;
    const bool as_u64 = tensor_.value_type == ValueType::u64;
    const NumberError error = as_u64  ? parse_whole(word, natural)
                              : whole ? parse_whole(word, integer)
                                      : parse_real(word, real);
    if (error != NumberError::none)
      return here(bad_number(error, word, whole ? "an integer" : "a value"), word);
    if (whole) {
      tensor_.integers.push_back(as_u64 ? static_cast<std::int64_t>(natural) : integer);
    } else {
      tensor_.values.push_back(real);
    }
    return {};
  }

  // Coordinates count from 1 in the file, from 0 in memory.
  Result<void> entry() {
    Words words(line_);
    for (std::size_t m = 0; m < tensor_.coordinates.size(); ++m) {
      const std::string_view word = words.next();
      std::int64_t coordinate = 0;
      const NumberError error = parse_integer(word, coordinate);
      if (error != NumberError::none) {
        return here(bad_number(error, word, "coordinate " + std::to_string(m + 1)), word);
      }
      if (coordinate < 1 || coordinate > limit_[m]) return out_of_range(m, coordinate, word);
      largest_[m] = std::max(largest_[m], coordinate);
      tensor_.coordinates[m].push_back(coordinate - 1);
    }
    const std::string_view word = words.next();
    SCHAAS_RETURN_IF_ERROR(value(word));
    if (const std::string_view extra = words.next(); !extra.empty()) {
      return here(
          support::invalid("file-entry",
                           "expected " + std::to_string(tensor_.coordinates.size()) +
                               " coordinates and a value as in the first entry, found one more word " +
                               quoted(extra)),
          extra);
    }
    return {};
  }

  Diagnostic out_of_range(std::size_t m, std::int64_t coordinate, std::string_view word) const {
    const std::string start =
        "coordinate " + std::to_string(coordinate) + " of mode " + std::to_string(m + 1);
    const std::string why = coordinate < 1 ? " is below 1: coordinates start at 1"
                                           : " is beyond the extent " + std::to_string(limit_[m]);
    return here(support::invalid("coordinate-range", start + why), word);
  }

  LineReader lines_;
  const ReadOptions& options_;
  std::string_view line_;
  CooTensor tensor_;
  std::vector<std::int64_t> extents_;  ///< -1: not known
  std::vector<std::int64_t> largest_, limit_;
};

}  // namespace

Result<TensorData> read_frostt(FileSource source, const ReadOptions& options) {
  return FrosttReader(std::move(source), options).read();
}

}  // namespace schaas::client
