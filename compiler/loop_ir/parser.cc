#include "compiler/loop_ir/parser.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "compiler/support/limits.h"

namespace schaas::loop_ir {
namespace {

/// Recursive descent. The first error is kept and moves the parser to the end of the text, where no rule
/// finds anything more, so every rule returns at once.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  Kernel kernel() {
    Kernel kernel;
    expect("kernel");
    kernel.value_type = choose({"f64", "f32"}) == 0 ? ValueType::f64 : ValueType::f32;
    expect("arguments");
    kernel.arguments = small_number();
    expect("{");
    while (word_ != "}" && !error_) {
      if (word_ == "extent") {
        kernel.extents.push_back(extent());
      } else if (word_ == "let") {
        kernel.lets.push_back(let());
      } else if (word_ == "array") {
        kernel.arrays.push_back(array());
      } else if (word_ == "phase") {
        kernel.phases.push_back(phase());
      } else {
        fail("`extent`, `let`, `array`, `phase` or `}`");
      }
    }
    expect("}");
    if (!word_.empty()) fail("the end of the text");
    return kernel;
  }
  const std::optional<support::Diagnostic>& error() const { return error_; }

 private:
  void fail(const std::string& expected) {
    const std::string found = word_.empty() ? "the end of the text" : "`" + std::string(word_) + "`";
    stop(support::invalid("loops-syntax", "expected " + expected + " but found " + found));
  }

  void stop(support::Diagnostic diagnostic) {
    if (error_) return;
    const auto begin = static_cast<std::uint32_t>(word_begin_);
    const auto end = static_cast<std::uint32_t>(word_begin_ + std::max<std::size_t>(word_.size(), 1));
    error_ = support::at(std::move(diagnostic), "loops", std::string(text_), {begin, end});
    word_begin_ = text_.size();
    word_ = {};
  }

  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  /// Words: names, numbers with an optional minus, `..`, `+=`, single characters.
  void advance() {
    std::size_t at = word_begin_ + word_.size();
    while (at < text_.size() && is_space(text_[at])) ++at;
    std::size_t end = at;
    if (at < text_.size()) {
      ++end;
      const auto two = text_.substr(at, 2);
      if (two == ".." || two == "+=") {
        ++end;
      } else if (is_letter(text_[at])) {
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
      } else if (is_digit(text_[at]) || text_[at] == '-') {
        while (end < text_.size() && is_digit(text_[end])) ++end;
      }
    }
    word_begin_ = at;
    word_ = text_.substr(at, end - at);
  }

  bool accept(std::string_view word) {
    if (word_ != word) return false;
    advance();
    return true;
  }
  void expect(std::string_view word) {
    if (!accept(word)) fail("`" + std::string(word) + "`");
  }
  int choose(const std::vector<std::string>& words) {
    std::string all;
    for (std::size_t n = 0; n < words.size(); ++n) {
      if (accept(words[n])) return static_cast<int>(n);
      all += (n == 0 ? "`" : n + 1 == words.size() ? " or `" : ", `") + words[n] + "`";
    }
    fail(all);
    return 0;
  }
  std::string identifier() {
    if (word_.empty() || !is_letter(word_.front())) fail("a name");  // leaves an empty word
    std::string text(word_);
    advance();
    return text;
  }
  std::int64_t number() {
    const bool negative = !word_.empty() && word_.front() == '-';
    const auto digits = word_.substr(negative ? 1 : 0);
    if (digits.empty() || !is_digit(digits.front())) {
      fail("a number");
      return 0;
    }
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    std::int64_t value = 0;
    for (const char c : digits) {
      const std::int64_t digit = c - '0';
      if (value > (most - digit) / 10) {
        fail("a number below 2^63");
        return 0;
      }
      value = value * 10 + digit;
    }
    advance();
    return negative ? -value : value;
  }
  int small_number() {
    const auto value = number();
    if (value >= 0 && value <= 1'000'000) return static_cast<int>(value);
    fail("a smaller number before this");
    return 0;
  }

  Extent extent() {
    Extent extent;
    expect("extent");
    extent.name = identifier();
    expect("=");
    expect("argument");
    extent.argument = small_number();
    expect("mode");
    extent.mode = small_number();
    if (accept("required")) extent.required = number();
    return extent;
  }

  Let let() {
    Let let;
    expect("let");
    let.name = identifier();
    expect(":");
    let.type = choose({"index", "value"}) == 0 ? Type::index : Type::value;
    expect("=");
    let.value = expression();
    return let;
  }

  Array array() {
    Array array;
    expect("array");
    array.name = identifier();
    expect(":");
    array.element = static_cast<Element>(choose({"value", "index32", "index64"}));
    expect("=");
    const int kind = choose({"values", "positions", "coordinates", "shared", "workspace"});
    const int first = kind == 4 ? 0 : small_number();
    if (kind == 0) array.origin = ArgumentValues{first};
    if (kind == 1 || kind == 2) {
      expect("level");
      const int level = small_number();
      if (kind == 1) array.origin = Positions{first, level};
      if (kind == 2) array.origin = Coordinates{first, level};
    }
    if (kind == 3 || kind == 4) {
      expect("count");
      const auto count = expression();
      if (kind == 3) array.origin = Shared{first, count};
      if (kind == 4) array.origin = Workspace{count};
    }
    array.written = accept("written");
    return array;
  }

  Phase phase() {
    Phase phase;
    expect("phase");
    expect("range");
    phase.range = expression();
    phase.parallel = accept("parallel");
    if (accept("balance")) {
      phase.balance_argument = small_number();
      expect("level");
      phase.balance_level = small_number();
    }
    phase.body = body();
    return phase;
  }

  /// Recursion is bounded: every nested statement passes here, every nested expression through `expression`.
  void enter() {
    if (++depth_ > 4 * support::Limits::nesting) {
      stop(support::invalid("nesting", "loops nested too deeply"));
    }
  }

  StatementPtr body() {
    enter();
    expect("{");
    std::vector<StatementPtr> statements;
    while (word_ != "}" && !error_) statements.push_back(statement());
    expect("}");
    --depth_;
    return block(std::move(statements));
  }

  StatementPtr statement() {
    if (word_ == "let") return make(let());
    if (accept("sum")) return make(Accumulator{identifier()});
    if (accept("for")) return loop();
    if (accept("merge")) return merge();
    if (accept("clear")) {
      const auto array = identifier();
      expect("count");
      return make(Clear{array, expression()});
    }
    const auto target = identifier();
    if (accept("[")) {
      const auto index = expression();
      expect("]");
      const Write mode = choose({"=", "+="}) == 0 ? Write::set : Write::add;
      return make(Store{target, index, mode, expression()});
    }
    expect("+=");
    return make(Accumulate{target, expression()});
  }

  /// `simd` and `lanes` are shapes unless they are the variable itself: `for simd in 0 .. n`.
  StatementPtr loop() {
    For loop;
    loop.variable = identifier();
    if (word_ != "in") {
      if (loop.variable != "simd" && loop.variable != "lanes") fail("`in`");
      loop.shape = loop.variable == "simd" ? Shape::simd : Shape::lanes;
      loop.variable = identifier();
    }
    expect("in");
    loop.begin = expression();
    expect("..");
    loop.end = expression();
    if (accept("by")) loop.step = number();
    loop.body = body();
    return make(std::move(loop));
  }

  StatementPtr merge() {
    Merge merge;
    merge.variable = identifier();
    expect("at");
    do {
      Cursor cursor;
      cursor.position = identifier();
      expect("over");
      cursor.coordinates = identifier();
      expect("in");
      cursor.begin = expression();
      expect("..");
      cursor.end = expression();
      merge.cursors.push_back(std::move(cursor));
    } while (accept(","));
    merge.body = body();
    return make(std::move(merge));
  }

  /// Nodes are built as written, not folded: the text says what the tree is.
  ExpressionPtr expression() {
    enter();
    auto result = unbounded_expression();
    --depth_;
    return result;
  }

  ExpressionPtr unbounded_expression() {
    if (accept("(")) {
      auto left = expression();
      const bool sum = choose({"+", "*"}) == 0;
      auto right = expression();
      expect(")");
      Expression result{Add{left, right}};
      if (!sum) result.node = Multiply{left, right};
      return std::make_shared<const Expression>(std::move(result));
    }
    if (!word_.empty() && (is_digit(word_.front()) || word_.front() == '-')) return integer(number());
    const auto text = identifier();
    if (text == "zero") return zero();
    if (text == "min" && accept("(")) {
      auto left = expression();
      expect(",");
      auto right = expression();
      expect(")");
      return minimum(std::move(left), std::move(right));
    }
    if (text == "search" && accept("(")) {
      const auto array = identifier();
      ExpressionPtr parts[3];
      for (auto& part : parts) {
        expect(",");
        part = expression();
      }
      expect(")");
      return search(array, parts[0], parts[1], parts[2]);
    }
    if (accept("[")) {
      auto index = expression();
      expect("]");
      return load(text, std::move(index));
    }
    return name(text);
  }

  std::string_view text_;
  std::string_view word_;
  std::size_t word_begin_ = 0;
  std::size_t depth_ = 0;
  std::optional<support::Diagnostic> error_;
};

}  // namespace

support::Result<Kernel> parse(std::string_view text) {
  Parser parser(text);
  Kernel kernel = parser.kernel();
  if (parser.error()) return *parser.error();
  return kernel;
}

}  // namespace schaas::loop_ir
