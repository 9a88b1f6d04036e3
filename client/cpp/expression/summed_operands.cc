// An operand is summed when the term around it is linear in it, and a sum over one of its indices stands
// around that term. No other sparse level may have its innermost index: a loop over it would go through
// several operands side by side, which takes sorted ones.
#include "client/cpp/expression/summed_operands.h"

#include <algorithm>
#include <cctype>
#include <variant>
#include <vector>

#include "compiler/format/tensor_format.h"
#include "compiler/support/contains.h"

namespace schaas::client {
namespace {

using format::LevelFormat;

std::int64_t readings(const Expression& expression, const std::string& index) {
  const auto found = index_notation::operands(expression);
  return std::count_if(found.begin(), found.end(),
                       [&](const Access& access) { return support::contains(access.indices, index); });
}

bool reads(const Expression& expression, const std::string& tensor) {
  const auto found = index_notation::operands(expression);
  return std::any_of(found.begin(), found.end(),
                     [&](const Access& access) { return access.tensor == tensor; });
}

class Search {
 public:
  Search(const Program& program, const Access& operand, const std::string& innermost)
      : statement_(program.statements.back()), operand_(operand), innermost_(innermost) {}

  /// Goes down from a side of the statement, through terms of its sum.
  bool in_terms(const Expression& expression) const {
    if (const auto* call = std::get_if<Call>(&expression.node)) {
      const bool sums = call->function == Function::add || call->function == Function::subtract;
      for (const Expression& argument : call->arguments)
        if (sums && reads(argument, operand_.tensor)) return in_terms(argument);
    }
    // The implied sum stands around the term.
    const bool is_summed = std::any_of(
        operand_.indices.begin(), operand_.indices.end(),
        [&](const std::string& index) { return !support::contains(statement_.result.indices, index); });
    return (is_summed && is_linear(expression) && is_alone(expression)) || in_reduction(expression);
  }

 private:
  /// Some explicit sum over an index of the operand is linear in it.
  bool in_reduction(const Expression& expression) const {
    const auto* reduction = std::get_if<Reduction>(&expression.node);
    if (reduction == nullptr) {
      return std::any_of(parts(expression).begin(), parts(expression).end(),
                         [&](const Expression& part) { return in_reduction(part); });
    }
    const Expression& body = reduction->body.front();
    const bool sums =
        std::any_of(reduction->indices.begin(), reduction->indices.end(),
                    [&](const std::string& index) { return support::contains(operand_.indices, index); });
    if (sums && reduction->monoid == Monoid::sum && is_linear(body) && is_alone(body)) return true;
    return in_reduction(body);
  }

  /// A product with the operand, or a sum of such a product.
  bool is_linear(const Expression& expression) const {
    if (const auto* access = std::get_if<Access>(&expression.node)) return access->tensor == operand_.tensor;
    if (const auto* reduction = std::get_if<Reduction>(&expression.node))
      return reduction->monoid == Monoid::sum && is_linear(reduction->body.front());
    if (const auto* product = std::get_if<Product>(&expression.node))
      return std::any_of(product->factors.begin(), product->factors.end(),
                         [&](const Expression& factor) { return is_linear(factor); });
    const auto* call = std::get_if<Call>(&expression.node);
    if (call == nullptr) return false;
    const bool goes_on = call->function == Function::negate || call->function == Function::divide;
    return goes_on && is_linear(call->arguments.front());
  }

  /// The innermost index is read nowhere but in this part of the statement.
  bool is_alone(const Expression& part) const {
    if (&part == &statement_.value) return true;
    return !support::contains(statement_.result.indices, innermost_) &&
           readings(part, innermost_) == readings(statement_.value, innermost_);
  }

  const Statement& statement_;
  const Access& operand_;
  const std::string& innermost_;
};

/// Dense levels and then a compressed one.
bool is_compressed_last(const format::TensorFormat& format) {
  return format.order() > 1 && format.levels.back() == LevelFormat::compressed &&
         std::all_of(format.levels.begin(), format.levels.end() - 1,
                     [](LevelFormat level) { return level == LevelFormat::dense; });
}

/// An access with the format of its tensor.
struct Stored {
  const Access* access;
  format::TensorFormat format;
};

/// A level that is not dense has the index: a loop over it goes through that level's entries.
bool binds_sparsely(const Stored& stored, const std::string& index) {
  for (std::size_t l = 0; l < stored.format.levels.size(); ++l) {
    const auto mode = static_cast<std::size_t>(stored.format.mode_order[l]);
    if (stored.format.levels[l] != LevelFormat::dense && stored.access->indices[mode] == index) return true;
  }
  return false;
}

bool are_distinct(std::vector<std::string> indices) {
  std::sort(indices.begin(), indices.end());
  return std::adjacent_find(indices.begin(), indices.end()) == indices.end();
}

/// Returns the index that begins at `at` in a loop tree, a part of the text; empty: none does. Names are
/// single letters, but in trees with spaces.
std::string_view index_at(std::string_view tree, std::size_t at, bool long_names) {
  std::size_t end = at;
  const auto continues = [&](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '\'';
  };
  while (end < tree.size() && continues(tree[end]) && (long_names || end == at)) ++end;
  return tree.substr(at, end - at);
}

bool has_long_names(std::string_view tree) { return tree.find(' ') != std::string_view::npos; }

}  // namespace

SummedOperands summed_operands(const Program& program, const std::map<std::string, std::string>& formats) {
  if (program.semiring != &operators::plus_times() || program.statements.size() > 1) return {};
  const Statement& statement = program.statements.front();
  if (statement.update && *statement.update != Monoid::sum) return {};
  std::vector<Stored> sparse;
  std::vector<Access> all = operands(program);
  all.push_back(statement.result);
  for (const Access& access : all) {
    const auto text = formats.find(access.tensor);
    if (text == formats.end()) continue;
    const auto format = format::parse(text->second, static_cast<int>(access.indices.size()), access.tensor);
    if (!format.ok()) return {};
    if (format->all_dense()) continue;
    if (&access == &all.back()) return {};
    sparse.push_back({&access, *format});
  }
  SummedOperands summed;
  for (const Stored& one : sparse) {
    const std::vector<std::string>& indices = one.access->indices;
    if (!is_compressed_last(one.format) || !are_distinct(indices)) continue;
    const std::string& innermost = indices[static_cast<std::size_t>(one.format.mode_order.back())];
    const bool is_met = std::any_of(sparse.begin(), sparse.end(), [&](const Stored& other) {
      return &other != &one &&
             (other.access->tensor == one.access->tensor || binds_sparsely(other, innermost));
    });
    if (!is_met && Search(program, *one.access, innermost).in_terms(statement.value))
      summed[one.access->tensor] = indices;
  }
  return summed;
}

bool loops_once(std::string_view tree) {
  const bool long_names = has_long_names(tree);
  std::vector<std::string_view> seen;
  for (std::size_t at = 0; at < tree.size();) {
    const std::string_view name = index_at(tree, at, long_names);
    if (!name.empty() && support::contains(seen, name)) return false;
    if (!name.empty()) seen.push_back(name);
    at += std::max<std::size_t>(name.size(), 1);
  }
  return true;
}

namespace {

/// Calls `visit` with the loops around each leaf of a tree. False: the tree has more than nests.
template <class Visit>
bool for_each_leaf(std::string_view tree, const Visit& visit) {
  const bool long_names = has_long_names(tree);
  std::vector<std::string_view> around;
  std::vector<std::size_t> shared;  // loops around each open nest
  char before = '<';
  for (std::size_t at = 0; at < tree.size(); before = tree[at - 1]) {
    if (const std::string_view name = index_at(tree, at, long_names); !name.empty()) {
      around.push_back(name);
      at += name.size();
      continue;
    }
    const char mark = tree[at++];
    if (mark == ' ') continue;
    if (mark == '<') {
      shared.push_back(around.size());
      continue;
    }
    if ((mark != ',' && mark != '>') || shared.empty()) return false;
    if (before != '>') visit(around);
    around.resize(shared.back());
    if (mark == '>') shared.pop_back();
  }
  if (before != '>') visit(around);
  return shared.empty();
}

}  // namespace

bool takes_any_order(std::string_view tree, const SummedOperands& summed) {
  if (loops_once(tree)) return true;
  return std::all_of(summed.begin(), summed.end(), [&](const auto& operand) {
    int leaves = 0;
    const auto count = [&](const std::vector<std::string_view>& around) {
      const auto& indices = operand.second;
      leaves += std::all_of(indices.begin(), indices.end(), [&](const std::string& index) {
        return support::contains(around, std::string_view(index));
      });
    };
    return for_each_leaf(tree, count) && leaves == 1;
  });
}

}  // namespace schaas::client
