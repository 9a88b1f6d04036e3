#include "client/cpp/tensor_io/npy_header.h"

#include <algorithm>
#include <cctype>

#include "client/cpp/platform/number_text.h"

// The header of a .npy file is a Python dictionary literal with three keys (NumPy Enhancement Proposal 1).
// Keys may stand in any order; more than this grammar is not accepted, no expressions and no nested types.
// Messages point into the header's text.
namespace schaas::client {
namespace {

// A recursive descent parser over the text; `at_` is the next character.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  support::Result<NpyHeader> read() {
    if (!take('{')) return expected("`{`");
    while (!take('}')) {
      SCHAAS_ASSIGN_OR_RETURN(const std::string_view key, quoted_text());
      if (!take(':')) return expected("`:`");
      SCHAAS_RETURN_IF_ERROR(value_of(key));
      if (take(',')) continue;
      if (!take('}')) return expected("`,` or `}`");
      break;
    }
    // Each key was noted in brackets, so that no name is found within another one.
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (seen_.find(std::string("[") + key + "]") == std::string::npos) {
        return at(support::invalid("npy-header", std::string("the header has no '") + key + "'"), 0,
                  text_.size());
      }
    }
    return header_;
  }

 private:
  support::Diagnostic at(support::Diagnostic d, std::size_t begin, std::size_t end) const {
    return support::at(std::move(d), path_, std::string(text_),
                       {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)});
  }
  support::Diagnostic expected(const std::string& what) {
    skip_space();
    return at(support::invalid("npy-header", "the header is no NumPy dictionary: expected " + what), at_,
              at_ + 1);
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  support::Result<std::string_view> quoted_text() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : 0;
    if (quote != '\'' && quote != '"') return expected("a quoted name");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return expected("the end of a quoted name");
    const std::string_view inner = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inner;
  }

  support::Result<void> value_of(std::string_view key) {
    seen_ += '[';
    seen_ += key;
    seen_ += ']';
    if (key == "descr") return descr();
    if (key == "shape") return shape();
    if (key != "fortran_order") return expected("'descr', 'fortran_order' or 'shape'");
    if (take_word("True")) {
      header_.fortran_order = true;
    } else if (!take_word("False")) {
      return expected("True or False");
    }
    return {};
  }

  support::Result<void> descr() {
    skip_space();
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '[') return unsupported_type("record", begin);
    SCHAAS_ASSIGN_OR_RETURN(const std::string_view text, quoted_text());
    std::string_view type = text;
    const char order = type.empty() ? ' ' : type.front();
    // The prefix is the byte order: `|` has none, `=` is that of the machine.
    if (std::string_view("<>|=").find(order) != std::string_view::npos) type.remove_prefix(1);
    static constexpr std::string_view known[] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2",
                                                 "u4", "u8", "f2", "f4", "f8", "c8", "c16"};
    if (std::find(std::begin(known), std::end(known), type) == std::end(known))
      return unsupported_type(std::string(text), begin);
    header_.kind = type[0];
    header_.element_bytes = type == "c16" ? 16 : type[1] - '0';
    header_.big_endian = order == '>';
    return {};
  }

  support::Diagnostic unsupported_type(const std::string& found, std::size_t begin) const {
    return at(support::unsupported("npy-type", "elements of type `" + found +
                                                   "` are not supported; booleans, integers of 8 to 64 bits, "
                                                   "f2, f4, f8, c8 and c16 are"),
              begin, std::max(at_, begin + 1));
  }

  support::Result<void> shape() {
    if (!take('(')) return expected("`(`");
    while (!take(')')) {
      skip_space();
      const std::size_t begin = at_;
      while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      std::int64_t extent = 0;
      if (parse_integer(text_.substr(begin, at_ - begin), extent) != NumberError::none) {
        at_ = begin;
        return expected("an extent");
      }
      // A comma between extents, or none before the parenthesis; `(3,)` is a list of one.
      header_.shape.push_back(extent);
      if (!take(',') && (at_ >= text_.size() || text_[at_] != ')')) return expected("`,` or `)`");
    }
    return {};
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
  NpyHeader header_;
  std::string seen_;
};

}  // namespace

support::Result<NpyHeader> parse_npy_header(std::string_view text, const std::string& path) {
  return NpyHeaderReader(text, path).read();
}

std::string print_npy_preamble(const std::string& descr, const std::vector<std::int64_t>& shape) {
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (std::size_t m = 0; m < shape.size(); ++m) {
    text += std::to_string(shape[m]);
    if (m + 1 < shape.size()) text += ", ";
  }
  text += shape.size() == 1 ? ",), }" : "), }";
  // The magic, the version, and the length take 10 bytes; data begin at a multiple of 64, so that they can be
  // mapped.
  constexpr std::size_t before = 10, alignment = 64;
  while ((before + text.size() + 1) % alignment != 0) text += ' ';
  text += '\n';
  std::string preamble("\x93NUMPY\x01\x00", 8);
  // Version 1.0 counts the header in 16 bits, least significant first; the few extents of a tensor fit
  // easily.
  preamble += static_cast<char>(text.size() & 0xff);
  preamble += static_cast<char>(text.size() >> 8);
  return preamble + text;
}

}  // namespace schaas::client
