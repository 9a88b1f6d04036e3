// The answer to a renamed problem is the renamed answer, whole text. Each program is asked about once under
// marker names that occur in no text, and again under random names, among them words of the sentences that
// answers consist of; replacing the markers in the first answer must give the second.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <regex>

#include "proto/answer_fields.h"
#include "proto/json_fields.h"
#include "server/answers/explanation.h"
#include "server/answers/scheduling.h"
#include "server/providers/compiling_provider.h"

namespace schaas::server {
namespace {

const support::Cancellation never;

using Names = std::map<std::string, std::string>;

struct Program {
  std::string expression;
  std::map<std::string, std::string> formats;
  std::vector<std::string> constraints;
  std::string profile = "default";
  std::string space = "none";
};

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"A(i,j) = B(i,j) + C(i,j) + D(i,k)*E(k,j)", {{"B", "csr"}, {"C", "csr"}, {"D", "csr"}}, {}},
      {"A(i,m) = B(i,j,k) * C(j,l) * D(k,l) * E(l,m)",
       {{"B", "dense,compressed,compressed"}},
       {"8 <= l <= 256", "8 <= m <= 256", "1000*nnz(B) < i*j*k"}},
      {"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)",
       {{"B", "csr"}},
       {"8 <= k <= 256", "8 <= l <= 256", "11000 <= i <= 1000000"}},
      {"A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)",
       {{"B", "csr"}},
       {"8 <= k <= 256", "l <= k"},
       "sparseauto"},
      {"A(i,k) = B(i,j) * C(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}}, {}},
      {"A(i,j) = B(i,k) * C(k,l) * D(l,m) * E(m,j)", {}, {"i <= k", "2*j <= m"}},
      {"A(i) = B(i,j) * C(j) + D(i,j) * E(j)", {{"B", "csr"}, {"D", "csr"}}, {}},
      {"F(i,j) = B(i,j) * sum(k)(C(i,k) * D(j,k)); A(i,l) = F(i,j) * E(j,l)",
       {{"B", "csr"}},
       {"8 <= k <= 256", "8 <= l <= 256"}},
      {"min-plus: A(i) = B(i,j) * C(j) + D(i)", {{"B", "csr"}}, {}},
      {"A(j,k) = B(i,j) * C(i,k)", {{"B", "csr"}}, {"8 <= k <= 64"}, "default", "copies"},
  };
  return all;
}

std::string with_names(const std::string& text, const Names& names) {
  static const std::regex identifier("[A-Za-z_][A-Za-z_0-9]*");
  std::string out;
  auto last = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), identifier), end; at != end; ++at) {
    out.append(last, text.begin() + at->position());
    const auto found = names.find(at->str());
    out += found == names.end() ? at->str() : found->second;
    last = text.begin() + at->position() + at->length();
  }
  return out.append(last, text.end());
}

problem::ProblemText text_of(const Program& program, const Names& names) {
  problem::ProblemText text;
  text.expression = with_names(program.expression, names);
  for (const auto& [tensor, format] : program.formats) text.formats[names.at(tensor)] = format;
  for (const auto& constraint : program.constraints)
    text.constraints.push_back(with_names(constraint, names));
  text.profile = program.profile;
  text.space = program.space;
  return text;
}

/// The tensors (upper case) and indices (one lower-case letter) of a program.
std::vector<std::string> identifiers_of(const Program& program) {
  static const std::regex identifier("[A-Za-z_][A-Za-z_0-9-]*");
  std::vector<std::string> out;
  for (std::sregex_iterator at(program.expression.begin(), program.expression.end(), identifier), end;
       at != end; ++at) {
    if (at->length() == 1 && std::find(out.begin(), out.end(), at->str()) == out.end())
      out.push_back(at->str());
  }
  return out;
}

/// Names that occur in no text, so that they can be replaced as text, also inside the names of copies.
Names marker_names(const Program& program) {
  Names names;
  for (const auto& name : identifiers_of(program)) names[name] = "q" + name + "zq";
  return names;
}

/// Random different names: letters, and words of the sentences. Indices have two letters at least, as the
/// markers do: the short form of a loop tree joins those of one letter.
Names random_names(const Program& program, std::mt19937& engine) {
  std::vector<std::string> pool = {"T",     "M",     "X",      "i",       "s",       "at",     "every",
                                   "size",  "terms", "winner", "this",    "class",   "i1",     "s1",
                                   "r2",    "row",   "col",    "xx",      "bb",      "aa",     "the",
                                   "other", "as",    "when",   "allowed", "against", "fastest"};
  for (std::size_t n = pool.size(); n > 1; --n) std::swap(pool[n - 1], pool[engine() % n]);
  Names names;
  for (const auto& name : identifiers_of(program)) {
    const bool is_index = name[0] >= 'a';
    const auto fits = [&](const std::string& one) { return !is_index || one.size() > 1; };
    const auto drawn = std::find_if(pool.begin(), pool.end(), fits);
    names[name] = *drawn;
    pool.erase(drawn);
  }
  return names;
}

/// Searches each canonical problem once.
class MemoisedSearch final : public KernelProvider {
 public:
  support::Result<FrontierAnswer> frontier(const FrontierQuery& query, const frontier::Progress& progress,
                                           const support::Cancellation& cancellation) override {
    const auto found = answers_.find(query.canonical.key);
    if (found != answers_.end()) return found->second;
    auto answer = search_->frontier(query, progress, cancellation);
    if (answer.ok()) answers_[query.canonical.key] = *answer;
    return answer;
  }
  support::Result<KernelAnswer> kernel(const KernelQuery&, const support::Cancellation&) override {
    return support::internal("unexpected", "no kernel is compiled here");
  }

 private:
  std::unique_ptr<KernelProvider> search_ =
      make_compiling_provider(toolchain::make_c_toolchain(toolchain::CToolchainOptions()));
  std::map<std::string, FrontierAnswer> answers_;
};

std::string with_markers_replaced(std::string text, const Names& replacement) {
  for (const auto& [marker, name] : replacement) {
    for (std::size_t at = 0; (at = text.find(marker, at)) != std::string::npos; at += name.size())
      text.replace(at, marker.size(), name);
  }
  return text;
}

/// Prints every field, so that a new one is compared, too.
template <class T>
std::string text_of(const T& answer) {
  return answers::json_of<answers::CompleteJson>(answer).dump(1) + "\n";
}

class RenamedAnswers : public testing::TestWithParam<std::size_t> {
 protected:
  /// Everything that is told about the program under these names, as one text.
  std::string answer(const Names& names) {
    const Program& program = programs()[GetParam()];
    SchedulingOptions options;
    options.win_budget = std::chrono::hours(1);  // no clock decides what is told
    Scheduling scheduling(search_, toolchain::make_c_toolchain(toolchain::CToolchainOptions()), options);
    ScheduleQuery query;
    query.problem = text_of(program, names);
    query.search_only = query.wins = query.gpu = true;
    std::string out;
    std::size_t entries = 0, removals = 0;
    const auto hear = [&](const Event& event) {
      if (const auto* frontier = std::get_if<answers::Frontier>(&event)) {
        out += text_of(*frontier);
        entries = frontier->entries.size(), removals = frontier->removals.size();
      }
      return true;
    };
    support::Cancellation cancellation;
    const auto done = scheduling.schedule(query, hear, cancellation);
    if (!done.ok()) return support::render(done.error());
    std::vector<std::string> ids = {"linear"};
    for (std::size_t n = 1; n <= std::min<std::size_t>(entries, 4); ++n)
      ids.push_back("s" + std::to_string(n));
    for (std::size_t n = 1; n <= std::min<std::size_t>(removals, 4); ++n)
      ids.push_back("r" + std::to_string(n));
    for (const auto& id : ids) {
      const auto why = scheduling.explain({query.problem, {}, id}, never);
      out += why.ok() ? text_of(*why) : why.error().message + "\n";
    }
    return out;
  }

  std::shared_ptr<KernelProvider> search_ = std::make_shared<MemoisedSearch>();
};

TEST_P(RenamedAnswers, AreTheAnswersRenamed) {
  const Program& program = programs()[GetParam()];
  SCOPED_TRACE(program.expression);
  const Names markers = marker_names(program);
  const std::string marked = answer(markers);
  EXPECT_NE(marked.find("zq"), std::string::npos);
  std::mt19937 engine(36 + static_cast<unsigned>(GetParam()));
  for (int draw = 0; draw < 4; ++draw) {
    const Names names = random_names(program, engine);
    Names replacement;
    for (const auto& [name, marker] : markers) replacement[marker] = names.at(name);
    EXPECT_EQ(with_markers_replaced(marked, replacement), answer(names))
        << with_names(program.expression, names);
    if (HasFailure()) return;
  }
}

/// Returns all ways to exchange the names of the tensors and those of the indices.
std::vector<Names> permuted_names(const Program& program) {
  std::vector<std::string> tensors, indices;
  for (const auto& name : identifiers_of(program)) (name[0] < 'a' ? tensors : indices).push_back(name);
  std::sort(tensors.begin(), tensors.end());
  std::sort(indices.begin(), indices.end());
  const auto add = [](const std::vector<std::string>& own, const std::vector<std::string>& others,
                      Names& names) {
    for (std::size_t n = 0; n < own.size(); ++n) names[own[n]] = "p" + others[n] + "yp";
  };
  std::vector<Names> all;
  for (auto other_tensors = tensors;;) {
    for (auto other_indices = indices;;) {
      add(tensors, other_tensors, all.emplace_back());
      add(indices, other_indices, all.back());
      if (!std::next_permutation(other_indices.begin(), other_indices.end())) break;
    }
    if (!std::next_permutation(other_tensors.begin(), other_tensors.end())) break;
  }
  return all;
}

/// Every order in which the names of small programs may sort.
TEST_P(RenamedAnswers, AreTheAnswersRenamedInEveryOrderOfNames) {
  const Program& program = programs()[GetParam()];
  if (identifiers_of(program).size() > 6) GTEST_SKIP() << "a program of more than six names";
  const Names markers = marker_names(program);
  const std::string marked = answer(markers);
  const auto all = permuted_names(program);
  EXPECT_GE(all.size(), 36U);
  for (const Names& names : all) {
    Names replacement;
    for (const auto& [name, marker] : markers) replacement[marker] = names.at(name);
    ASSERT_EQ(with_markers_replaced(marked, replacement), answer(names))
        << with_names(program.expression, names);
  }
}

TEST_P(RenamedAnswers, NameWinnersById) {
  const Program& program = programs()[GetParam()];
  const Names names = marker_names(program);
  Scheduling scheduling(search_, toolchain::make_c_toolchain(toolchain::CToolchainOptions()));
  ScheduleQuery query;
  query.problem = text_of(program, names);
  query.search_only = true;
  const auto hear = [&](const Event& event) {
    const auto* frontier = std::get_if<answers::Frontier>(&event);
    if (frontier == nullptr) return true;
    for (const auto& removal : frontier->removals) {
      EXPECT_EQ(removal.winner.empty(), !removal.by.starts_with("T = "))
          << removal.id << " by " << removal.by;
      for (const auto& entry : frontier->entries) {
        if (removal.winner == entry.id) {
          EXPECT_EQ(removal.by, "T = " + entry.time + ", M = " + entry.memory);
        }
      }
    }
    return true;
  };
  support::Cancellation cancellation;
  const auto done = scheduling.schedule(query, hear, cancellation);
  ASSERT_TRUE(done.ok()) << support::render(done.error());
}

INSTANTIATE_TEST_SUITE_P(Programs, RenamedAnswers, testing::Range<std::size_t>(0, 10));

}  // namespace
}  // namespace schaas::server
