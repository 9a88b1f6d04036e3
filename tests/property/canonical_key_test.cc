// Random problems, written in many ways, have one key; problems that differ have different ones. The judge of
// "the same problem" is a brute-force search for a renaming that shares no code with the canonical form.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "compiler/index_notation/parser.h"
#include "compiler/index_notation/printer.h"
#include "compiler/problem/canonical.h"
#include "compiler/problem/constraint_set.h"

namespace schaas::problem {
namespace {

using index_notation::Access;
using Names = std::map<std::string, std::string>;

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint32_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t n = values.size(); n > 1; --n) {
      std::swap(values[n - 1], values[static_cast<std::size_t>(below(static_cast<int>(n)))]);
    }
  }

 private:
  std::mt19937 engine_;  // its numbers are the same everywhere; the standard distributions' are not
};

// One comparison in a form that can be written in several ways: sum of (coefficient, symbols) <= another sum
// + constant.
struct Comparison {
  struct Term {
    int coefficient;
    std::vector<std::string> extents;
    std::string nonzeros;  // a tensor, or ""
  };
  std::vector<Term> less, more;
  int constant = 0;
};

struct Draft {
  Access result;
  std::vector<Access> factors;
  std::map<std::string, std::string> formats;
  std::vector<Comparison> comparisons;
};

std::string random_format(Random& random, int order) {
  if (order == 0 || random.one_in(2)) return "dense";
  std::vector<int> modes(static_cast<std::size_t>(order));
  std::iota(modes.begin(), modes.end(), 0);
  if (random.one_in(3)) random.shuffle(modes);
  std::string out;
  for (int level = 0; level < order; ++level) {
    out += std::string(level == 0 ? "" : ",") + (random.one_in(2) ? "dense" : "compressed");
  }
  for (int level = 0; level < order; ++level) {
    out += (level == 0 ? ":" : ",") + std::to_string(modes[static_cast<std::size_t>(level)]);
  }
  return out;
}

// Products of 1 to `most` factors; tensors are used twice now and then, and formats are few, so that many
// problems have symmetries.
Draft random_draft(Random& random, int most) {
  Draft draft;
  std::vector<std::string> pool = {"i", "j", "k", "l", "m", "n"};
  pool.resize(static_cast<std::size_t>(1 + random.below(6)));
  const int factors = 1 + random.below(most);
  const bool plain = random.one_in(2);
  for (int n = 0; n < factors; ++n) {
    Access access;
    const bool again = n > 0 && random.one_in(4);
    std::size_t order = std::min<std::size_t>(pool.size(), static_cast<std::size_t>(random.below(4)));
    if (again) order = random.of(draft.factors).indices.size();
    access.tensor = "T" + std::to_string(n);
    for (const auto& factor : draft.factors) {
      if (again && factor.indices.size() == order) access.tensor = factor.tensor;
    }
    std::vector<std::string> indices = pool;
    random.shuffle(indices);
    access.indices.assign(indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(order));
    if (draft.formats.count(access.tensor) == 0) {
      draft.formats[access.tensor] = plain ? "dense" : random_format(random, static_cast<int>(order));
    }
    draft.factors.push_back(access);
  }
  std::set<std::string> used;
  for (const auto& factor : draft.factors) used.insert(factor.indices.begin(), factor.indices.end());
  std::vector<std::string> indices(used.begin(), used.end());
  random.shuffle(indices);
  indices.resize(
      static_cast<std::size_t>(random.below(static_cast<int>(std::min<std::size_t>(indices.size(), 3)) + 1)));
  draft.result = {"R", indices, {}, {}};
  draft.formats["R"] = plain ? "dense" : random_format(random, static_cast<int>(indices.size()));
  if (used.empty()) return draft;
  const std::vector<std::string> all(used.begin(), used.end());
  for (int n = random.below(5); n > 0; --n) {
    const Access& access = random.of(draft.factors);
    const std::string& index = random.of(all);
    switch (random.below(5)) {
      case 0:
        draft.comparisons.push_back({{{1, {index}, ""}}, {}, 100 + random.below(3)});
        break;
      case 1:
        draft.comparisons.push_back({{}, {{1, {index}, ""}}, -1 - random.below(3)});
        break;
      case 2:
        draft.comparisons.push_back(
            {{{1 + random.below(3), {index}, ""}}, {{1, {random.of(all)}, ""}}, random.below(3)});
        break;
      case 3:
        if (!access.indices.empty())
          draft.comparisons.push_back({{{1000, {}, access.tensor}}, {{1, access.indices, ""}}, 0});
        break;
      default:
        if (!access.indices.empty())
          draft.comparisons.push_back({{{1, {}, access.tensor}}, {{3, {index}, ""}}, 7 * random.below(2)});
    }
  }
  return draft;
}

ProblemText text_of(const Draft& draft, std::vector<std::string> constraints) {
  ProblemText text;
  text.expression = index_notation::print(
      index_notation::Assignment{draft.result, index_notation::product_of(draft.factors), {}});
  text.formats = draft.formats;
  text.constraints = std::move(constraints);
  return text;
}

std::string written(const Comparison::Term& term, int scale, bool bars) {
  std::string out = std::to_string(term.coefficient * scale);
  for (const auto& index : term.extents) out += bars ? "*|" + index + "|" : "*" + index;
  if (!term.nonzeros.empty()) out += "*nnz(" + term.nonzeros + ")";
  return out;
}
std::string written(const std::vector<Comparison::Term>& sum, int constant, int scale, bool bars) {
  std::string out = std::to_string(constant * scale);
  for (const auto& term : sum) out += " + " + written(term, scale, bars);
  return out;
}
std::string plainly(const Comparison& c) {
  return written(c.less, 0, 1, false) + " <= " + written(c.more, c.constant, 1, false);
}

// The same comparison in other words.
std::string rewritten(const Comparison& c, const Draft& draft, Random& random) {
  const int scale = 1 + random.below(4);
  const bool bars = random.one_in(2);
  auto less = c.less, more = c.more;
  random.shuffle(less);
  random.shuffle(more);
  const bool is_density = c.less.size() == 1 && c.less[0].coefficient == 1000;
  if (is_density && random.one_in(2)) {
    // 1000*nnz(B) <= extents of some use of B
    std::vector<Access> uses;
    for (const auto& factor : draft.factors) {
      if (factor.tensor == c.less[0].nonzeros) uses.push_back(factor);
    }
    const std::string tensor = random.of(uses).tensor;
    return random.one_in(2) ? "density(" + tensor + ") <= 1e-3" : "0.001 >= density(" + tensor + ")";
  }
  const std::string common = random.one_in(3)
                                 ? " + " + std::to_string(random.below(9)) + "*" +
                                       (draft.result.indices.empty() ? "2" : draft.result.indices[0])
                                 : "";
  const bool strict = random.one_in(3);
  const std::string left = written(less, 0, scale, bars) + common;
  const std::string right = written(more, c.constant, scale, bars) + common + (strict ? " + 1" : "");
  return random.one_in(2) ? left + (strict ? " < " : " <= ") + right
                          : right + (strict ? " > " : " >= ") + left;
}

Draft renamed(const Draft& draft, Random& random) {
  std::vector<std::string> tensor_pool = {"A", "Bee", "c", "D4", "x_y", "F", "zed", "H", "out", "J"};
  std::vector<std::string> index_pool = {"a", "i", "row", "col", "k", "z9", "q", "J_", "o"};
  random.shuffle(tensor_pool);
  random.shuffle(index_pool);
  Names tensors, indices;
  const auto fresh = [](Names& names, std::vector<std::string>& pool,
                        const std::string& name) -> std::string {
    if (names.count(name) == 0) {
      names[name] = pool.back();
      pool.pop_back();
    }
    return names[name];
  };
  const auto rename = [&](Access access) {
    access.tensor = fresh(tensors, tensor_pool, access.tensor);
    for (auto& index : access.indices) index = fresh(indices, index_pool, index);
    return access;
  };
  Draft out;
  out.result = rename(draft.result);
  for (const auto& factor : draft.factors) out.factors.push_back(rename(factor));
  random.shuffle(out.factors);
  for (const auto& [tensor, format] : draft.formats) out.formats[tensors.at(tensor)] = format;
  out.comparisons = draft.comparisons;
  for (auto& comparison : out.comparisons) {
    for (auto* side : {&comparison.less, &comparison.more}) {
      for (auto& term : *side) {
        for (auto& index : term.extents) index = indices.at(index);
        if (!term.nonzeros.empty()) term.nonzeros = tensors.at(term.nonzeros);
      }
    }
  }
  return out;
}

std::vector<std::string> plain_constraints(const Draft& draft) {
  std::vector<std::string> out;
  for (const auto& comparison : draft.comparisons) out.push_back(plainly(comparison));
  return out;
}

// Shuffled, some twice, some weakened copies, two bounds of one extent as a chain, and things that are always
// true.
std::vector<std::string> rewritten_constraints(const Draft& draft, Random& random) {
  std::vector<std::string> out;
  for (const auto& comparison : draft.comparisons) {
    out.push_back(rewritten(comparison, draft, random));
    if (random.one_in(4)) out.push_back(plainly(comparison));
    if (random.one_in(4)) {
      Comparison weaker = comparison;
      weaker.constant += 1 + random.below(50);
      out.push_back(rewritten(weaker, draft, random));
    }
  }
  random.shuffle(out);
  if (out.size() >= 2 && out[0].find("<=") != std::string::npos && random.one_in(2)) {
    // a <= b and a <= b' written as the chain a <= b, b >= a: same left side again
    out[0] += " >= " + out[0].substr(0, out[0].find(" <="));
  }
  if (!draft.factors[0].indices.empty() && random.one_in(2))
    out.push_back("0 <= " + draft.factors[0].indices[0]);
  return out;
}

// True when some order of p's factors and some renaming turn p into q. Tries every order.
bool same_problem(const Problem& p, const Problem& q) {
  const auto mine = p.operands(), others = q.operands();
  if (mine.size() != others.size() || p.value_type != q.value_type || p.position_bits != q.position_bits)
    return false;
  std::vector<std::size_t> order(mine.size());
  std::iota(order.begin(), order.end(), 0U);
  do {
    Names tensors, indices, tensors_back, indices_back;
    const auto bind = [](Names& there, Names& back, const std::string& a, const std::string& b) {
      return there.emplace(a, b).first->second == b && back.emplace(b, a).first->second == a;
    };
    const auto match = [&](const Access& a, const Access& b) {
      if (a.indices.size() != b.indices.size() || !bind(tensors, tensors_back, a.tensor, b.tensor))
        return false;
      for (std::size_t n = 0; n < a.indices.size(); ++n) {
        if (!bind(indices, indices_back, a.indices[n], b.indices[n])) return false;
      }
      return p.formats.at(a.tensor) == q.formats.at(b.tensor);
    };
    bool matched = match(p.statement.result, q.statement.result);
    for (std::size_t n = 0; n < mine.size() && matched; ++n) matched = match(mine[order[n]], others[n]);
    if (!matched) continue;
    std::vector<Constraint> all;
    for (const auto& constraint : p.constraints) {
      const auto renamed_constraint = rename(constraint, indices, tensors).value();
      all.insert(all.end(), renamed_constraint.begin(), renamed_constraint.end());
    }
    if (simplify(q.statements(), all).value() == q.constraints) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

std::string told(const ProblemText& text) {
  std::string out = text.expression;
  for (const auto& [tensor, format] : text.formats) out += "\n  " + tensor + ": " + format;
  for (const auto& constraint : text.constraints) out += "\n  " + constraint;
  return out;
}

TEST(CanonicalKey, IsTheSameHoweverAProblemIsWritten) {
  int checked = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const Draft draft = random_draft(random, seed % 10 == 0 ? 8 : 5);
    const ProblemText plain = text_of(draft, plain_constraints(draft));
    const auto problem = build(plain);
    if (!problem.ok()) {
      // Random constraints on one shared extent may exclude each other; then all ways of writing them do.
      EXPECT_TRUE(problem.error().code == "contradiction" || problem.error().code == "never-true")
          << support::render(problem.error());
      continue;
    }
    const Canonical canonical = canonicalize(*problem);
    for (int variant = 0; variant < 3; ++variant) {
      const Draft other = renamed(draft, random);
      const ProblemText text = text_of(other, rewritten_constraints(other, random));
      const auto rewritten_problem = build(text);
      ASSERT_TRUE(rewritten_problem.ok()) << "seed " << seed << '\n'
                                          << told(text) << '\n'
                                          << support::render(rewritten_problem.error());
      const Canonical same = canonicalize(*rewritten_problem);
      ASSERT_EQ(canonical.text, same.text) << "seed " << seed << '\n' << told(plain) << '\n' << told(text);
      ASSERT_EQ(canonical.key, same.key);
      ++checked;
    }
  }
  EXPECT_GE(checked, 8000);
}

TEST(CanonicalKey, TheCanonicalProblemIsTheProblem) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const Draft draft = random_draft(random, 5);
    const auto problem = build(text_of(draft, plain_constraints(draft)));
    if (!problem.ok()) continue;
    const Canonical canonical = canonicalize(*problem);
    ASSERT_TRUE(same_problem(*problem, canonical.problem)) << "seed " << seed << '\n' << canonical.text;
    // The maps back to the user's names are a renaming: factors, result and formats come out as written.
    std::multiset<std::string> expected, found;
    const auto back = [&canonical](Access access) {
      access.tensor = canonical.user_tensor.at(access.tensor);
      for (auto& index : access.indices) index = canonical.user_index.at(index);
      return index_notation::print(access);
    };
    for (const auto& factor : problem->operands()) expected.insert(index_notation::print(factor));
    for (const auto& factor : canonical.problem.operands()) found.insert(back(factor));
    EXPECT_EQ(expected, found) << "seed " << seed;
    EXPECT_EQ(back(canonical.problem.statement.result), index_notation::print(problem->statement.result));
    for (const auto& [name, format] : canonical.problem.formats) {
      EXPECT_EQ(format, problem->formats.at(canonical.user_tensor.at(name)));
    }
    EXPECT_EQ(canonicalize(canonical.problem).text, canonical.text) << "seed " << seed;
  }
}

// Small changes: sometimes they lead to the same problem under other names, mostly not. The canonical texts
// must know.
TEST(CanonicalKey, TellsApartExactlyWhatDiffers) {
  int same = 0, different = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Draft draft = random_draft(random, 4);
    const auto problem = build(text_of(draft, plain_constraints(draft)));
    Draft changed = renamed(draft, random);
    Access& victim =
        changed.factors[static_cast<std::size_t>(random.below(static_cast<int>(changed.factors.size())))];
    switch (random.below(5)) {
      case 0:
        random.shuffle(victim.indices);
        break;
      case 1:
        random.shuffle(changed.result.indices);
        break;
      case 2:
        changed.formats[victim.tensor] = random_format(random, static_cast<int>(victim.indices.size()));
        break;
      case 3:
        if (!changed.comparisons.empty()) changed.comparisons.front().constant += random.below(2);
        break;
      default:
        if (changed.comparisons.size() > 1)
          std::swap(changed.comparisons[0].constant, changed.comparisons[1].constant);
    }
    const auto other = build(text_of(changed, plain_constraints(changed)));
    if (!problem.ok() || !other.ok()) continue;
    const bool expected = same_problem(*problem, *other);
    ASSERT_EQ(canonicalize(*problem).text == canonicalize(*other).text, expected)
        << "seed " << seed << '\n'
        << canonicalize(*problem).text << canonicalize(*other).text;
    ++(expected ? same : different);
  }
  EXPECT_GE(same, 300);
  EXPECT_GE(different, 300);
}

// Eight factors with as many symmetries as can be: an unpruned search would visit 40320 orders each time.
TEST(CanonicalKey, SymmetricProductsOfEightFactors) {
  const std::vector<std::vector<std::string>> products = {
      {"B(a)", "C(b)", "D(c)", "E(d)", "F(e)", "G(f)", "H(g)", "I(h)"},
      {"B(a)", "C(a)", "D(a)", "E(a)", "F(a)", "G(a)", "H(a)", "I(a)"},
      {"B(a)", "B(b)", "B(c)", "B(d)", "B(e)", "B(f)", "B(g)", "B(h)"},
      {"B", "C", "D", "E", "F", "G", "H", "I"},
      {"B(a)", "B(a)", "B(a)", "B(a)", "B(a)", "B(a)", "B(a)", "B(a)"},
      {"B(a,b)", "C(b,c)", "D(c,d)", "E(d,e)", "F(e,f)", "G(f,g)", "H(g,h)", "I(h,a)"},
      {"B(a,b)", "C(b,a)", "D(c,d)", "E(d,c)", "F(e,f)", "G(f,e)", "H(g,h)", "I(h,g)"},
      {"B(a,b,c)", "C(a,b,d)", "D(a,c,d)", "E(b,c,d)", "F(e,f,g)", "G(e,f,h)", "H(e,g,h)", "I(f,g,h)"}};
  const std::vector<std::vector<std::string>> constraints = {
      {}, {"a <= b", "b <= c", "c <= d", "d <= a"}, {"a <= 5", "b <= 5"}, {"a*b <= c + d"}};
  for (auto product : products) {
    const std::string joined = [&] {
      std::string out;
      for (const auto& factor : product) out += factor;
      return out;
    }();
    for (const auto& given : constraints) {
      const bool has_them =
          given.empty() || (joined.find('c') != std::string::npos && joined.find('d') != std::string::npos);
      if (!has_them) continue;
      std::set<std::string> texts;
      Random random(7);
      for (int n = 0; n < 20; ++n) {
        random.shuffle(product);
        ProblemText text;
        text.expression = "R = ";
        for (const auto& factor : product)
          text.expression += (factor == product.front() && text.expression == "R = " ? "" : " * ") + factor;
        text.constraints = given;
        texts.insert(canonicalize(build(text).value()).text);
      }
      EXPECT_EQ(texts.size(), 1U) << joined << '\n' << *texts.begin() << *texts.rbegin();
    }
  }
}

TEST(RoundTrip, StatementsProblemsAndConstraints) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Draft draft = random_draft(random, 8);
    const auto problem = build(text_of(draft, plain_constraints(draft)));
    if (!problem.ok()) continue;
    EXPECT_EQ(index_notation::parse(index_notation::print(problem->program())).value(), problem->program());
    EXPECT_EQ(parse_problem(print(*problem)).value(), *problem) << "seed " << seed << '\n' << print(*problem);
    ConstraintScope scope{problem->indices(), {}};
    for (const auto& tensor : problem->tensors())
      scope.tensors.push_back({tensor, problem->indices_of(tensor)});
    for (const auto& constraint : problem->constraints) {
      EXPECT_EQ(parse_constraint(print(constraint), scope).value(), std::vector<Constraint>{constraint});
    }
  }
}

}  // namespace
}  // namespace schaas::problem
