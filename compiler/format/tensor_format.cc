#include "compiler/format/tensor_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>
#include <optional>

#include "compiler/support/nearest_name.h"

// Text form of formats:
//     format = ( name | level { "," level } ) [ ":" mode { "," mode } ] [ "@" type of values ]
// Names are short forms of levels and are expanded while they are read: print writes levels alone, so keys
// know no names. A format is checked as a chain. A level that repeats coordinates stands right above a
// singleton that tells them apart, and singletons stand nowhere else. No sparse level stands below an
// unordered one. So the last level is unique, and entries have distinct coordinates.
namespace schaas::format {
namespace {

using support::Diagnostic;
using support::Result;
using support::SourceRange;

constexpr std::size_t max_text = 1024;
constexpr const char* what_works =
    "formats: dense, csr, csc, coo, dcsr, dcsc, csf, bitmap, banded, hashed, or one of `dense`, "
    "`compressed`, "
    "`bitmap`, `banded`, `hashed` per mode, outermost first";

const std::vector<std::string>& known_words() {
  static const std::vector<std::string> words = {"dense",  "csr",    "csc",   "coo",        "dcsr",
                                                 "dcsc",   "csf",    "bcsr",  "compressed", "singleton",
                                                 "bitmap", "banded", "hashed"};
  return words;
}

// Names of the literature that we know and cannot store yet.
bool is_future_format(const std::string& word) {
  static constexpr std::array names = {"bsr", "ell", "dia", "jds", "hicoo", "csb", "hyb"};
  return std::find(names.begin(), names.end(), word) != names.end();
}
bool is_future_level(const std::string& word) {
  static constexpr std::array names = {"range", "offset"};
  return std::find(names.begin(), names.end(), word) != names.end();
}
// The levels of diagonals (Chou, Kjolstad, Amarasinghe, OOPSLA 2018), and the format they make.
std::string way_out(const std::string& word) {
  const bool diagonals = word == "range" || word == "offset" || word == "dia";
  return diagonals ? "; `banded` stores what lies near a diagonal" : "";
}

// One comma-separated piece of the text, white space around it removed, in lower case.
struct Word {
  std::string text;
  SourceRange range;
};

struct FixedName {
  const char* name;
  LevelFormat outer;
  std::array<int, 2> mode_order;
};
constexpr std::array<FixedName, 4> matrix_names = {{{"csr", LevelFormat::dense, {0, 1}},
                                                    {"csc", LevelFormat::dense, {1, 0}},
                                                    {"dcsr", LevelFormat::compressed, {0, 1}},
                                                    {"dcsc", LevelFormat::compressed, {1, 0}}}};

std::string counted(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : noun == "index" ? "es" : "s");
}
std::string modes_of(int order) {
  return order == 0   ? "is a scalar"
         : order == 1 ? "has 1 index"
                      : "has " + std::to_string(order) + " indices";
}

class Parser {
 public:
  Parser(std::string_view text, int order, const std::string& tensor)
      : text_(text), end_(std::min(text.find('@'), text.size())), order_(order), tensor_(tensor) {}

  // Reads levels, then the mode order; the names of matrices have one of their own.
  Result<TensorFormat> parse() const {
    if (text_.size() > max_text) {
      return support::invalid("format-syntax", "the format of `" + tensor_ + "` has " +
                                                   std::to_string(text_.size()) + " bytes; at most " +
                                                   std::to_string(max_text) + " are allowed");
    }
    const std::size_t colon = text_.find(':');
    const auto words = split(0, std::min(colon, end_));
    SCHAAS_ASSIGN_OR_RETURN(TensorFormat format, levels_of(words));
    if (end_ < text_.size()) {
      SCHAAS_ASSIGN_OR_RETURN(format.values, type_of_values());
    }
    if (colon == std::string_view::npos) return format;
    if (is_matrix_name(words.front().text)) {
      return fail(support::invalid("mode-order", "format `" + words.front().text +
                                                     "` has a mode order of its own; give the levels of `" +
                                                     tensor_ + "` instead, as in `dense,compressed:1,0`"),
                  whole_from(colon));
    }
    SCHAAS_ASSIGN_OR_RETURN(format.mode_order, modes(colon));
    return format;
  }

 private:
  Diagnostic fail(Diagnostic d, SourceRange range) const {
    return support::at(std::move(d), "format of " + tensor_, std::string(text_), range);
  }
  SourceRange whole_from(std::size_t begin) const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end_)};
  }
  static bool is_matrix_name(const std::string& word) {
    return std::any_of(matrix_names.begin(), matrix_names.end(),
                       [&](const FixedName& fixed) { return word == fixed.name; });
  }

  // Returns the comma-separated words of a range of the text, with their ranges for carets.
  std::vector<Word> split(std::size_t begin, std::size_t end) const {
    std::vector<Word> words;
    while (true) {
      const std::size_t comma = std::min(text_.find(',', begin), end);
      std::size_t from = begin, to = comma;
      const auto space = [&](std::size_t at) { return std::isspace(static_cast<unsigned char>(text_[at])); };
      while (from < to && space(from)) ++from;
      while (to > from && space(to - 1)) --to;
      Word word{std::string(text_.substr(from, to - from)),
                {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)}};
      std::transform(word.text.begin(), word.text.end(), word.text.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      words.push_back(std::move(word));
      if (comma == end) return words;
      begin = comma + 1;
    }
  }

  // Returns the levels that a name or a list of levels stands for, in natural mode order.
  Result<TensorFormat> levels_of(const std::vector<Word>& words) const {
    if (words.size() == 1) {
      const std::string& word = words.front().text;
      if (word == "dense") return dense(order_);
      const bool any_order = word == "csf" || word == "coo";
      if (any_order && order_ < 1) return rank_error(words.front(), "at least 1 level");
      if (any_order) return word == "csf" ? uniform(LevelFormat::compressed) : coordinates();
      for (const auto& level : all_levels()) {
        if (word != level.name || !is_located(level.format)) continue;
        if (order_ < 1) return rank_error(words.front(), "at least 1 level");
        return below_dense(level.format);
      }
      if (word == "bcsr") {
        if (order_ != 4)
          return rank_error(words.front(), "4 levels (block row, block column, row and column in the block)");
        using enum LevelFormat;
        return TensorFormat{{dense, compressed, dense, dense}, natural_order()};
      }
      for (const auto& fixed : matrix_names) {
        if (word != fixed.name) continue;
        if (order_ != 2) return rank_error(words.front(), "2 levels");
        return TensorFormat{{fixed.outer, LevelFormat::compressed},
                            {fixed.mode_order.begin(), fixed.mode_order.end()}};
      }
    }
    TensorFormat format;
    for (const auto& word : words) {
      SCHAAS_ASSIGN_OR_RETURN(const LevelFormat level, level_of(word, words.size() == 1));
      format.levels.push_back(level);
    }
    if (format.order() != order_) {
      const Word all{"", {words.front().range.begin, words.back().range.end}};
      return rank_error(all, counted(words.size(), "level"));
    }
    SCHAAS_RETURN_IF_ERROR(check_chains(format, words));
    format.mode_order = natural_order();
    return format;
  }

  // Levels with repeated coordinates are followed by singletons, and no other levels are.
  Result<void> check_chains(const TensorFormat& format, const std::vector<Word>& words) const {
    const auto wrong = [&](std::size_t level, const std::string& rule, const std::string& context) {
      return fail(support::invalid("level-chain", "level " + std::to_string(level + 1) + " of `" + tensor_ +
                                                      "` is `" + words[level].text + "`, " + rule +
                                                      "; found " + context),
                  words[level].range);
    };
    const auto found = [&](std::size_t level, const char* where) {
      return level < words.size() ? "`" + words[level].text + "` " + where : std::string("no level ") + where;
    };
    for (std::size_t l = 0; l < words.size(); ++l) {
      const bool told_apart = l + 1 < words.size() && is_singleton(format.levels[l + 1]);
      const bool repeated = l > 0 && !is_unique(format.levels[l - 1]);
      if (is_singleton(format.levels[l]) && !repeated)
        return wrong(l, "which holds one coordinate for each entry of a nonunique level above",
                     found(l - 1, "above"));
      if (!is_unique(format.levels[l]) && !told_apart)
        return wrong(l, "whose equal coordinates a singleton level below tells apart", found(l + 1, "below"));
      for (std::size_t below = l + 1; below < words.size() && !is_ordered(format.levels[l]); ++below) {
        if (is_sparse(format.levels[below]))
          return wrong(l, "below which no sparse level stands", found(below, "below"));
      }
    }
    return {};
  }

  // Returns the level of a word, or an error that tells names of whole formats, future names and typing
  // errors apart.
  Result<LevelFormat> level_of(const Word& word, bool alone) const {
    for (const auto& level : all_levels()) {
      if (word.text == level.name) return level.format;
    }
    if (word.text.empty()) {
      return fail(
          support::noting(support::invalid("format-syntax",
                                           alone ? "the format of `" + tensor_ + "` is empty"
                                                 : "a level of `" + tensor_ + "` is missing next to `,`"),
                          what_works),
          word.range);
    }
    if (is_future_level(word.text) || is_future_format(word.text)) {
      return fail(support::noting(support::unsupported("level-format", "`" + word.text + "` (of `" + tensor_ +
                                                                           "`) is not supported yet" +
                                                                           way_out(word.text)),
                                  what_works),
                  word.range);
    }
    // A name of a whole format inside a list of levels is a mistake of its own.
    const bool is_name =
        word.text == "csf" || word.text == "coo" || word.text == "bcsr" || is_matrix_name(word.text);
    std::string message =
        is_name ? "`" + word.text + "` names a whole format and cannot be one level of `" + tensor_ + "`"
                : "unknown format `" + word.text + "` of `" + tensor_ + "`" +
                      support::did_you_mean(word.text, known_words());
    if (word.text == "sparse") message += "; its name here is `compressed`";
    if (word.text == "hash") message += "; its name here is `hashed`";
    return fail(support::noting(support::invalid("unknown-format", std::move(message)), what_works),
                word.range);
  }

  // Returns the error of a format with another number of levels than the tensor has modes.
  Diagnostic rank_error(const Word& word, const std::string& has) const {
    return fail(
        support::invalid("format-rank",
                         "format `" +
                             std::string(text_.substr(word.range.begin, word.range.end - word.range.begin)) +
                             "` has " + has + " but `" + tensor_ + "` " + modes_of(order_)),
        word.range);
  }

  // Reads the mode order, a permutation of all modes.
  Result<std::vector<int>> modes(std::size_t colon) const {
    std::vector<int> order;
    const auto words = split(colon + 1, end_);
    const auto expected = [&] {
      return order_ == 0 ? "`" + tensor_ + "` is a scalar and has no mode order"
                         : "the mode order of `" + tensor_ + "` must name each of its modes 0.." +
                               std::to_string(order_ - 1) + " once, outermost level first";
    };
    for (const auto& word : words) {
      int mode = -1;
      const char* const end = word.text.data() + word.text.size();
      if (std::from_chars(word.text.data(), end, mode).ptr != end) mode = -1;
      if (mode < 0 || mode >= order_ || std::find(order.begin(), order.end(), mode) != order.end()) {
        return fail(
            support::invalid("mode-order", expected() + "; found " +
                                               (word.text.empty() ? "nothing" : "`" + word.text + "`")),
            word.range);
      }
      order.push_back(mode);
    }
    if (static_cast<int>(order.size()) != order_) {
      return fail(support::invalid("mode-order", expected() + "; found " + counted(order.size(), "mode")),
                  whole_from(colon));
    }
    return order;
  }

  Result<operators::ValueType> type_of_values() const {
    const Word word = split(end_ + 1, text_.size()).front();
    if (const auto type = operators::value_type_named(word.text)) return *type;
    return fail(
        support::invalid("value-type", "unknown value type `" + word.text + "` of `" + tensor_ +
                                           "`, expected " + operators::value_type_choices() +
                                           support::did_you_mean(word.text, operators::value_type_names())),
        word.range);
  }

  std::vector<int> natural_order() const {
    std::vector<int> order(static_cast<std::size_t>(order_));
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  TensorFormat uniform(LevelFormat level) const {
    return {std::vector<LevelFormat>(static_cast<std::size_t>(order_), level), natural_order()};
  }

  // Returns dense levels with one other as the last: a bitmap, a band or a hash table for each row.
  TensorFormat below_dense(LevelFormat level) const {
    TensorFormat format = uniform(LevelFormat::dense);
    format.levels.back() = level;
    return format;
  }

  // Returns `coo`: every level but the last repeats coordinates.
  TensorFormat coordinates() const {
    TensorFormat format = uniform(LevelFormat::singleton_nonunique);
    format.levels.back() = order_ == 1 ? LevelFormat::compressed : LevelFormat::singleton;
    if (order_ > 1) format.levels.front() = LevelFormat::compressed_nonunique;
    return format;
  }

  std::string_view text_;
  std::size_t end_;  ///< end of levels and mode order
  int order_;
  const std::string& tensor_;
};

}  // namespace

bool TensorFormat::all_dense() const {
  return std::all_of(levels.begin(), levels.end(),
                     [](LevelFormat level) { return level == LevelFormat::dense; });
}

TensorFormat dense(int order) {
  TensorFormat format;
  format.levels.assign(static_cast<std::size_t>(order), LevelFormat::dense);
  format.mode_order.resize(static_cast<std::size_t>(order));
  std::iota(format.mode_order.begin(), format.mode_order.end(), 0);
  return format;
}

Result<TensorFormat> parse(std::string_view text, int order, const std::string& tensor) {
  return Parser(text, order, tensor).parse();
}

// A scalar has no levels; `dense` reads back as one.
std::string print(const TensorFormat& format) {
  const std::string values = format.values ? std::string("@") + operators::name(*format.values) : "";
  if (format.levels.empty()) return "dense" + values;
  std::string out;
  for (const LevelFormat level : format.levels) {
    if (!out.empty()) out += ',';
    out += properties(level).name;
  }
  for (std::size_t level = 0; level < format.mode_order.size(); ++level) {
    out += (level == 0 ? ':' : ',') + std::to_string(format.mode_order[level]);
  }
  return out + values;
}

TensorFormat copy_format(const TensorFormat& original, std::vector<int> mode_order, bool locates) {
  TensorFormat copy = original;
  copy.mode_order = std::move(mode_order);
  if (!locates) return copy;
  bool singleton_follows = !is_unique(copy.levels.front());
  copy.levels.front() = LevelFormat::dense;
  for (std::size_t level = 1; singleton_follows && level < copy.levels.size(); ++level) {
    singleton_follows = !is_unique(copy.levels[level]);
    copy.levels[level] = LevelFormat::compressed;
  }
  return copy;
}

bool lists_first(const TensorFormat& format) {
  return !format.levels.empty() && (format.levels.front() == LevelFormat::compressed ||
                                    format.levels.front() == LevelFormat::compressed_nonunique);
}

std::vector<std::pair<int, int>> access_order(const TensorFormat& format) {
  std::vector<std::pair<int, int>> pairs;
  int position_known_below = 0;  // levels before this one lead to the position the next level starts from
  // A sparse level needs the position of its parent, so all levels above. Dense levels below it need its
  // position, but are free among each other, because their own positions are arithmetic.
  for (int later = 0; later < format.order(); ++later) {
    const bool sparse = is_sparse(format.levels[static_cast<std::size_t>(later)]);
    if (sparse) position_known_below = later;
    for (int earlier = 0; earlier < position_known_below; ++earlier) pairs.emplace_back(earlier, later);
    if (sparse) position_known_below = later + 1;
  }
  return pairs;
}

}  // namespace schaas::format
