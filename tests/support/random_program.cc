#include "tests/support/random_program.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/random_text.h"

// Random programs as texts, by recursive descent through the grammar of docs/language.md. One in four has a
// semiring drawn from all; a third has intermediates. Every intermediate is read later, and six letters,
// depth 3 and about six reads keep the dense oracle fast. The generator does not know which programs are
// legal. random_programs_test.cc counts those that are refused, by the code of the diagnostic.
namespace schaas::test_support {
namespace {

/// Draws one program; each method prints a part of it.
class Generator : RandomText {
 public:
  Generator(const RandomProgramOptions& options, std::mt19937_64& random)
      : RandomText(random), options_(options) {}

  problem::ProblemText run() {
    problem::ProblemText text;
    if (one_in(4)) {
      semiring_ = &pick(operators::semirings());
      if (semiring_ != &operators::plus_times()) text.expression = std::string(semiring_->name) + ": ";
    }
    const int statements = one_in(3) ? between(2, options_.most_statements) : 1;
    for (int n = 0; n + 1 < statements; ++n) {
      const std::string name = n == 0 ? "T" : "U";
      const Indices left = some_of(letters(), between(0, 2));
      text.expression += access(name, left) + " = " + right_side(left) + "; ";
      orders_[name] = static_cast<int>(left.size());
      must_read_.push_back(name);
    }
    const Indices left = some_of(letters(), between(0, std::min(3, options_.most_order)));
    text.expression += access("A", left) + update() + right_side(left);
    for (const auto& [name, order] : orders_) {
      if (name[0] != 'T' && name[0] != 'U' && order > 0)
        text.formats[name] = random_format(order, Levels::all);
    }
    const bool sparse = options_.sparse_results && one_in(3);
    if (!left.empty())
      text.formats["A"] =
          result_format(static_cast<int>(left.size()), sparse ? Levels::written : Levels::dense);
    text.value_type = one_in(4) ? "f32" : "f64";
    if (is_integral(text.expression) && one_in(2)) text.value_type = one_in(4) ? "i32" : "i64";
    if (text.value_type == "f32" && one_in(3)) text.value_type = one_in(2) ? "bf16" : "f16";
    if (text.value_type == "i32" && text.expression.find(" i") == std::string::npos && one_in(2))
      text.value_type = one_in(2) ? "i8" : "i16";
    text.position_bits = one_in(2) ? "32" : "64";
    return text;
  }

 private:
  /// Nothing in the program takes integers to other numbers.
  static bool is_integral(const std::string& expression) {
    for (const char* const word :
         {"/", ".", "inf", "pow", "exp", "log", "sqrt", "sin", "cos", "tan", "sigmoid"}) {
      if (expression.find(word) != std::string::npos) return false;
    }
    return true;
  }
  bool plain() const { return semiring_ == &operators::plus_times(); }

  enum class Levels { dense, written, all };

  std::string random_levels(int order, Levels kinds) {
    static const std::vector<std::string> written{"dense", "compressed"};
    static const std::vector<std::string> all{"dense", "compressed", "bitmap", "banded", "hashed"};
    std::string levels;
    for (int n = 0; n < order; ++n) {
      const auto& names = kinds == Levels::all && one_in(3) ? all : written;
      levels += (n ? "," : "") + (kinds == Levels::dense ? written.front() : pick(names));
    }
    return levels;
  }

  /// A list of coordinates, maybe below other levels.
  std::string list_levels(int order, Levels kinds) {
    const int above = between(0, order - 2);
    std::string levels = above == 0 ? "" : random_levels(above, kinds) + ",";
    levels += "compressed(nonunique)";
    for (int n = above + 1; n < order; ++n) levels += n + 1 == order ? ",singleton" : ",singleton(nonunique)";
    return levels;
  }

  std::string random_format(int order, Levels kinds) {
    const bool list = kinds != Levels::dense && order > 1 && one_in(5);
    return with_mode_order(list ? list_levels(order, kinds) : random_levels(order, kinds), order);
  }

  /// The last level without order, now and then.
  std::string result_format(int order, Levels kinds) {
    std::string format = random_format(order, kinds);
    const std::string last = "compressed:";
    const std::size_t at = format.find(last);
    if (at != std::string::npos && one_in(3)) format.insert(at + last.size() - 1, "(unordered)");
    return format;
  }

  std::string with_mode_order(std::string levels, int order) {
    std::vector<int> modes(static_cast<std::size_t>(order));
    std::iota(modes.begin(), modes.end(), 0);
    if (one_in(2)) std::shuffle(modes.begin(), modes.end(), random_);
    for (int n = 0; n < order; ++n) {
      levels += (n ? "," : ":") + std::to_string(modes[static_cast<std::size_t>(n)]);
    }
    return levels;
  }

  /// Draws the assignment sign: seldom an update.
  std::string update() {
    if (!one_in(6)) return " = ";
    if (!plain()) return " += ";
    return pick(std::vector<std::string>{" += ", " += ", " max= ", " min= ", " *= "});
  }

  /// An access that reads each of `needed`, all of its indices in `scope`.
  std::string read(const Indices& scope, const Indices& needed) {
    std::string name;
    if (needed.empty() && !must_read_.empty() && (!scope.empty() || orders_[must_read_.back()] == 0)) {
      name = must_read_.back();
      must_read_.pop_back();
    } else if (one_in(5)) {  // one that is known
      Indices known;
      for (const auto& [each, order] : orders_) {
        if (order >= static_cast<int>(needed.size()) && (order == 0 || !scope.empty())) known.push_back(each);
      }
      if (!known.empty()) name = pick(known);
    }
    Indices indices = needed;
    if (name.empty()) {
      name = std::string(1, static_cast<char>('B' + tensors_++));
      const int most = std::min(options_.most_order, static_cast<int>(scope.size()));
      const int order = std::max(between(one_in(4) ? 0 : 1, most), static_cast<int>(needed.size()));
      orders_[name] = scope.empty() ? 0 : order;
    }
    const auto order = static_cast<std::size_t>(orders_[name]);
    for (const auto& index : some_of(scope, 8)) {
      if (indices.size() < order && std::find(indices.begin(), indices.end(), index) == indices.end()) {
        indices.push_back(index);
      }
    }
    while (indices.size() < order) indices.push_back(pick(scope));  // a diagonal
    if (order > 1 && one_in(14)) indices.back() = indices.front();
    std::shuffle(indices.begin(), indices.end(), random_);
    ++reads_;
    return access(name, indices);
  }

  /// A product in which one or two indices beyond `scope` are summed, or none.
  std::string product(const Indices& scope) {
    Indices wide = scope;
    const Indices summed = some_of(others(scope), between(0, 2));
    wide.insert(wide.end(), summed.begin(), summed.end());
    std::string text;
    for (const auto& index : summed) text += read(wide, {index}) + " * ";
    for (int n = between(0, 1); n > 0; --n) text += read(wide, {}) + " * ";
    return text + read(scope, {});
  }

  /// Draws a sum of products and terms that reads all intermediates so far.
  std::string right_side(const Indices& left) {
    std::string text = one_in(3) ? product(left) : term(left);
    const bool more = one_in(2);
    while (reads_ < 6 && (more ? one_in(2) : !must_read_.empty())) {
      text += (plain() && one_in(3) ? " - " : " + ") + (one_in(2) ? product(left) : term(left));
    }
    for (; !must_read_.empty() && reads_ < 10;) {
      if (left.empty() && orders_[must_read_.back()] > 0) {
        const std::string name = must_read_.back();
        must_read_.pop_back();
        text += " + " + access(name, some_of(letters(), orders_[name]));
      } else {
        text += " + " + read(left, {});
      }
    }
    return text;
  }

  /// Draws a reduction or an expression without implied sums.
  std::string term(const Indices& scope) {
    return one_in(2) && reads_ < 6 ? reduction(scope, options_.depth) : expression(scope, options_.depth);
  }

  /// Draws a reduction over one index that is not in scope.
  std::string reduction(const Indices& scope, int depth) {
    const Indices free = others(scope);
    if (free.empty()) return read(scope, {});
    const std::string index = free[random_() % free.size()];
    Indices inside = scope;
    inside.push_back(index);
    const std::string monoid =
        plain() ? pick(std::vector<std::string>{"sum", "max", "min", "prod", "or", "and", "sum", "max"})
                : operators::name(semiring_->sum);
    std::string body = read(inside, {index});
    if (one_in(2)) body = call(body);
    if (one_in(2)) body += " * " + primary(inside, depth - 1);
    if (plain() && one_in(3)) body += " + " + primary(inside, depth - 1);
    return monoid + "(" + index + ")(" + body + ")";
  }

  /// Wraps an argument into a function or operator of one operand.
  std::string call(const std::string& argument) {
    if (!plain()) return argument;
    static const std::vector<std::pair<std::string, std::string>> around{
        {"relu(", ")"},   {"abs(", ")"},    {"-", ""},          {"sign(", ")"},         {"floor(", ")"},
        {"ceil(", ")"},   {"round(", ")"},  {"exp(", ")"},      {"sqrt(abs(", "))"},    {"sigmoid(", ")"},
        {"tanh(", ")"},   {"sin(", ")"},    {"cos(", ")"},      {"log(1 + abs(", "))"}, {"not(", ")"},
        {"pow(", ", 2)"}, {"max(", ", 0)"}, {"min(", ", 0.5)"}, {"or(", ", 0)"},        {"and(", ", 1)"},
        {"(", " > 0)"},   {"(", " != 0)"},  {"(1 + ", ")"},     {"(", " / 2)"}};
    const auto& [open, close] = pick(around);
    return open + argument + close;
  }

  /// Draws a number, an access, a reduction or an expression in parentheses.
  std::string primary(const Indices& scope, int depth) {
    if (depth <= 0 || reads_ >= 6 || one_in(3)) {
      if (plain() && one_in(6)) return pick(std::vector<std::string>{"2", "0.5", "1", "0", "3"});
      // The coordinate of an index; under or-and numbers are 0 and 1.
      const bool truth = semiring_->sum == operators::Monoid::logical_or;
      if (options_.coordinates && !truth && !scope.empty() && one_in(6)) return pick(scope);
      return read(scope, {});
    }
    if (one_in(5)) return reduction(scope, depth - 1);
    return "(" + expression(scope, depth - 1) + ")";
  }

  /// Draws an expression of at most this depth.
  std::string expression(const Indices& scope, int depth) {
    const std::string a = primary(scope, depth);
    if (!plain()) return one_in(2) ? a : a + (one_in(2) ? " * " : " + ") + primary(scope, depth);
    switch (between(0, 9)) {
      case 0:
        return a + " + " + primary(scope, depth);
      case 1:
        return a + " - " + primary(scope, depth);
      case 2:
      case 3:
        return a + " * " + primary(scope, depth);
      case 4:
        return a + " / " + primary(scope, depth);
      case 5:
        return "where(" + a + " > " + primary(scope, depth) + ", " + primary(scope, depth) + ", " +
               primary(scope, depth) + ")";
      case 6:
        return pick(std::vector<std::string>{"max(", "min(", "and(", "or("}) + a + ", " +
               primary(scope, depth) + ")";
      case 7:
        return "(" + a + pick(std::vector<std::string>{" < ", " <= ", " == ", " != "}) +
               primary(scope, depth) + ")";
      default:
        return call(a);
    }
  }

  const RandomProgramOptions& options_;
  const operators::Semiring* semiring_ = &operators::plus_times();
  std::map<std::string, int> orders_;
  Indices must_read_;  ///< intermediates that no statement has read yet
  int tensors_ = 0;
  int reads_ = 0;
};

}  // namespace

problem::ProblemText random_program_text(const RandomProgramOptions& options, std::mt19937_64& random) {
  return Generator(options, random).run();
}

}  // namespace schaas::test_support
