#include "tests/support/nested_statement.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/support/random_text.h"

// Nested statements as texts. A term is a product of factors over the left indices and up to two that are
// summed, implicitly or by an explicit reduction around it. A factor is an access, or an expression whose
// parts are factors and reductions over one more index. Six letters and at most eight reads keep the dense
// oracle fast. random_program.h draws from the whole grammar instead, mostly flat.
namespace schaas::test_support {
namespace {

constexpr int max_reads = 8;

class NestedGenerator : RandomText {
 public:
  explicit NestedGenerator(std::mt19937_64& random) : RandomText(random) {}

  problem::ProblemText run() {
    problem::ProblemText text;
    if (one_in(5)) {
      const Indices left = some_of(letters(), between(1, 2));
      text.expression = access("T", left) + " = " + term(left) + "; ";
      orders_["T"] = left.size();
      is_unread_ = true;
    }
    const Indices left = some_of(letters(), one_in(8) ? between(0, 3) : between(1, 2));
    std::string right = term(left);
    while (one_in(3) && reads_ < max_reads) right += (one_in(3) ? " - " : " + ") + term(left);
    if (is_unread_) right += " + " + access("T", some_of(letters(), static_cast<int>(orders_["T"])));
    const bool is_sparse = !left.empty() && one_in(2);
    text.expression += access("A", left) + (!is_sparse && one_in(8) ? " += " : " = ") + right;
    for (const auto& [name, order] : orders_)
      if (name != "T" && order > 0) text.formats[name] = format(order);
    if (!left.empty()) text.formats["A"] = is_sparse ? result_format(left.size()) : dense(left.size());
    text.value_type = value_type(text.expression);
    if (one_in(6)) text.constraints.push_back(constraint(text.formats, left));
    if (one_in(12)) text.space = pick(Indices{"copies", "all", "row-blocks"});
    text.position_bits = one_in(2) ? "32" : "64";
    return text;
  }

 private:
  /// Draws a type that has all numbers of the expression.
  std::string value_type(const std::string& expression) {
    const auto has = [&](const Indices& words) {
      return std::any_of(words.begin(), words.end(),
                         [&](const auto& word) { return expression.find(word) != std::string::npos; });
    };
    if (one_in(8) && !has({"/", ".", "exp", "tanh", "sigmoid", "sqrt", "pow"}))
      return pick(Indices{"i64", "i32", "i16"});
    if (one_in(12) && !has({"<", "> ", "exp", "relu", "tanh", "sigmoid", "sqrt", "max", "min", "pow"}))
      return pick(Indices{"c128", "c64"});
    return pick(Indices{"f64", "f64", "f64", "f32", "bf16"});
  }

  std::string constraint(const std::map<std::string, std::string>& formats, const Indices& left) {
    for (const auto& [name, format] : formats)
      if (name != "A" && format.find("dense") != 0 && one_in(2))
        return one_in(2) ? "density(" + name + ") <= 0.01" : "nnz(" + name + ") <= 100000";
    return left.empty() ? "1 <= 2" : left.front() + " <= " + pick(Indices{"1000", "64", "32"});
  }

  std::string dense(std::size_t order) { return order == 2 && one_in(4) ? "dense:1,0" : "dense"; }

  std::string format(std::size_t order) {
    if (one_in(3)) return dense(order);
    if (order == 1) return one_in(5) ? "bitmap" : "csf";
    if (order == 2)
      return pick(Indices{"csr", "csr", "csr", "csc", "csc", "dcsr", "dcsc", "coo", "coo:1,0", "bitmap"});
    const std::string modes = pick(Indices{"0,1,2", "0,2,1", "1,0,2", "1,2,0", "2,0,1", "2,1,0"});
    return pick(Indices{"csf", "csf", "coo", "dense,compressed,compressed", "dense,dense,compressed",
                        "compressed,dense,dense"}) +
           ":" + modes;
  }

  std::string result_format(std::size_t order) {
    if (order == 2) return pick(Indices{"csr", "csr", "csc", "dcsr", "dcsc", "coo", "coo:1,0"});
    return order == 1 ? "csf"
                      : pick(Indices{"csf", "csf:1,0,2", "csf:2,0,1", "coo", "dense,compressed,compressed"});
  }

  /// An access in the scope that reads `needed`, when it is not "".
  std::string read(const Indices& scope, const std::string& needed = "") {
    ++reads_;
    std::string name;
    Indices known;
    for (const auto& [each, order] : orders_)
      if ((order == 0) == scope.empty()) known.push_back(each);
    if (is_unread_ && !scope.empty() && one_in(2)) name = "T";
    if (name.empty() && !known.empty() && one_in(6)) name = pick(known);
    if (name.empty()) {
      name = std::string(1, static_cast<char>('B' + tensors_++));
      const int most = std::min(3, static_cast<int>(scope.size()));
      orders_[name] = static_cast<std::size_t>(most > 2 && !one_in(4) ? 2
                                               : one_in(5)            ? between(1, most)
                                                                      : most);
      if (scope.empty()) orders_[name] = 0;
    }
    if (name == "T") is_unread_ = false;
    Indices indices;
    if (!needed.empty()) indices.push_back(needed);
    for (const auto& index : some_of(scope, 8))
      if (indices.size() < orders_[name] && index != needed) indices.push_back(index);
    while (indices.size() < orders_[name]) indices.push_back(pick(scope));
    if (indices.size() > orders_[name]) indices.resize(orders_[name]);
    std::shuffle(indices.begin(), indices.end(), random_);
    if (!indices.empty() && name != "T" && one_in(25)) {
      std::string& index = indices[random_() % indices.size()];
      index = index == needed || one_in(2)
                  ? pick(Indices{index + "+1", index + "-1", "2*" + index, index + "+" + pick(scope)})
                  : pick(Indices{index + "(1:)", index + "(::2)", "0"});
    }
    return access(name, indices);
  }

  /// A product of two to four factors, each summed index in two of them where it goes.
  std::string term(const Indices& left) {
    Indices wide = left;
    const Indices summed = some_of(others(left), one_in(4) ? between(0, 2) : 1);
    wide.insert(wide.end(), summed.begin(), summed.end());
    const bool is_explicit = !summed.empty() && one_in(4);
    std::string text = one_in(8) ? pick(Indices{"s", "2", "0.5"}) + " * " : "";
    if (text == "s * ") orders_["s"] = 0;
    const int factors = between(2, 3);
    for (int n = 0; n < factors; ++n) {
      const std::string needed = n < 2 && !summed.empty() ? pick(summed) : "";
      text += (n == 0 ? "" : one_in(12) ? " / " : " * ") + factor(wide, needed, 2);
    }
    if (!is_explicit) return text;
    std::string indices;
    for (const auto& index : summed) indices += (indices.empty() ? "" : ",") + index;
    text = monoid() + "(" + indices + ")(" + text + ")";
    return one_in(2) ? factor(left, "", 1) + " * " + text : text;
  }

  std::string monoid() { return one_in(5) ? pick(Indices{"max", "min", "prod", "or", "and"}) : "sum"; }

  /// A reduction of a product over one more index.
  std::string reduction(const Indices& scope, const std::string& needed, int depth) {
    const Indices free = others(scope);
    if (free.empty()) return read(scope, needed);
    const std::string index = pick(free);
    Indices inside = scope;
    inside.push_back(index);
    std::string body =
        read(inside, index) + " * " + (depth > 0 ? factor(inside, index, depth - 1) : read(inside, index));
    if (!needed.empty()) body += " * " + read(inside, needed);
    if (one_in(6)) body += " - " + read(inside, index);
    return monoid() + "(" + index + ")(" + body + ")";
  }

  std::string inner(const Indices& scope, const std::string& needed, int depth) {
    return depth > 0 && reads_ < max_reads && one_in(2) ? reduction(scope, needed, depth - 1)
                                                        : read(scope, needed);
  }

  std::string factor(const Indices& scope, const std::string& needed, int depth) {
    if (depth <= 0 || reads_ >= max_reads || one_in(3)) return read(scope, needed);
    switch (between(0, 11)) {
      case 0:
      case 1:
        return reduction(scope, needed, depth - 1);
      case 2:
      case 3:
        return pick(Indices{"exp(", "relu(", "abs(", "tanh(", "sigmoid(", "-(", "not("}) +
               inner(scope, needed, depth) + ")";
      case 4:
      case 5:
        return "(" + read(scope, needed) + pick(Indices{" - ", " + "}) + inner(scope, needed, depth) + ")";
      case 6:
        return "(" + pick(Indices{"1 + ", "2 - "}) + inner(scope, needed, depth) + ")";
      case 7:
        return "where(" + read(scope, needed) + " > 0, " + inner(scope, "", depth) + ", " +
               (one_in(2) ? "0" : factor(scope, "", depth - 1)) + ")";
      case 8:
        return "(" + read(scope, needed) + pick(Indices{" != 0)", " > 0)"});
      case 9:
        if (scope.size() > 1) {
          const Indices two = some_of(scope, 2);
          return "(" + two[0] + pick(Indices{" <= ", " < ", " == ", " + 1 == "}) + two[1] + ")";
        }
        return read(scope, needed);
      case 10:
        return pick(Indices{"max(", "min(", "or("}) + read(scope, needed) + ", " + inner(scope, "", depth) +
               ")";
      default:
        return "(" + read(scope, needed) + " / " + inner(scope, "", depth) + ")";
    }
  }

  std::map<std::string, std::size_t> orders_;
  bool is_unread_ = false;  ///< T has no reader yet
  int tensors_ = 0;
  int reads_ = 0;
};

}  // namespace

problem::ProblemText nested_statement_text(std::mt19937_64& random) { return NestedGenerator(random).run(); }

}  // namespace schaas::test_support
