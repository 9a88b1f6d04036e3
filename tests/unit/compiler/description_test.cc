// Descriptions of kernels, compared with the text of their loops and with the descriptors of compiled
// kernels.
#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <set>
#include <sstream>

#include "compiler/cost/leaf_nests.h"
#include "compiler/pipeline/pipeline.h"
#include "compiler/pipeline/variants.h"
#include "compiler/schedule/replay/apply.h"
#include "tests/support/compiled_kernel.h"
#include "tests/support/paper_kernels.h"
#include "tests/support/random_problem.h"
#include "tests/support/random_program.h"

namespace schaas::pipeline {
namespace {

using concrete_notation::LeafCode;
using Codes = std::vector<LeafCode>;

std::string print(const Codes& codes) {
  std::string text;
  for (const LeafCode& code : codes) {
    text += "tile " + std::to_string(code.tile_loop) + ":" + std::to_string(code.tile) + " kept " +
            std::to_string(code.kept) + " lengths";
    for (const int length : code.lengths) text += " " + std::to_string(length);
    text += std::string(code.streams ? " streams" : "") + (code.numeric ? " numeric" : "") +
            (code.row_in_registers ? " short rows" : "") + "\n";
  }
  return text;
}

problem::ProblemText text_of(const std::string& expression, const std::map<std::string, std::string>& formats,
                             const std::vector<std::string>& constraints = {}) {
  problem::ProblemText text;
  text.expression = expression;
  text.formats = formats;
  text.constraints = constraints;
  return text;
}

problem::ProblemText spmm(const std::vector<std::string>& constraints = {}) {
  return text_of("A(i,k) = B(i,j) * C(j,k)", {{"B", "csr"}}, constraints);
}
problem::ProblemText spgemm() {
  return text_of("A(i,k) = B(i,j) * C(j,k)", {{"A", "csr"}, {"B", "csr"}, {"C", "csr"}});
}
problem::ProblemText sddmm() {
  return text_of("A(i,j) = B(i,j) * C(i,k) * D(j,k)", {{"A", "csr"}, {"B", "csr"}});
}

Codes described(const problem::ProblemText& text, const std::string& trace) {
  const auto codes = describe(problem::build(text).value(), schedule::parse(trace).value());
  EXPECT_TRUE(codes.ok()) << support::render(codes.error());
  return codes.ok() ? *codes : Codes{};
}

TEST(Description, NamesRegisterTilesAndKeptRows) {
  const auto product = described(text_of("A(i,l) = C(i,k) * D(k,l)", {}), "reorder(path={}, order={i,k,l})");
  EXPECT_EQ(print(product), "tile 0:6 kept 1 lengths 1 8 16 32 streams\n");
  EXPECT_EQ(print(described(spmm(), "reorder(path={}, order={i,j,k})")),
            "tile 0:0 kept 1 lengths 1 8 16 32 streams\n");
}

TEST(Description, NamesConstantLengths) {
  const auto of = [](const std::string& constraint) {
    return described(spmm({constraint}), "reorder(path={}, order={i,j,k})").front().lengths;
  };
  EXPECT_EQ(of("k = 24"), (std::vector<int>{24}));
  EXPECT_EQ(of("10 <= k <= 20"), (std::vector<int>{16}));
  EXPECT_EQ(of("k >= 100"), (std::vector<int>{}));
}

TEST(Description, NamesNumericPhases) {
  EXPECT_TRUE(described(sddmm(), "linear").front().numeric);
  EXPECT_FALSE(described(spmm(), "linear").front().numeric);
}

TEST(Description, WidenedRowsAreNotInRegisters) {
  auto text = text_of("A(i,l) = B(i,j) * C(i,k) * D(j,k) * E(j,l)", {{"B", "csr"}});
  const auto is_in_registers = [&] {
    const auto codes =
        described(text, "reorder(path={}, order={i,j,k,l}); loopfuse(path={}, loc=3, pol=left)");
    return std::any_of(codes.begin(), codes.end(),
                       [](const LeafCode& code) { return code.row_in_registers; });
  };
  EXPECT_TRUE(is_in_registers());
  text.value_type = "bf16";
  EXPECT_FALSE(is_in_registers());
}

TEST(Description, CountsTheLeavesOfAWorkspaceToo) {
  const auto problem = problem::build(spgemm()).value();
  const auto trace = schedule::default_trace(problem);
  const auto tree = schedule::apply(trace, problem).value();
  const auto nests = cost::leaf_nests(tree, problem);
  const auto codes = describe(problem, trace);
  ASSERT_TRUE(codes.ok());
  for (const auto& nest : nests) EXPECT_LT(nest.leaf, codes->size());
}

/// Facts of all leaves: jammed loops as `i by 6`, specialised lengths, innermost loops with kept rows.
struct Facts {
  std::set<std::string> tiles, kept;
  std::set<int> lengths;
  bool streams = false;
  bool operator==(const Facts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Facts& facts) {
  for (const auto& tile : facts.tiles) out << tile << "; ";
  for (const auto& row : facts.kept) out << "kept along " << row << "; ";
  for (const int length : facts.lengths) out << length << " ";
  return out << (facts.streams ? "streams" : "");
}

Facts of_description(const std::vector<cost::LeafNest>& nests, const Codes& codes) {
  Facts facts;
  for (const auto& nest : nests) {
    const LeafCode& code = codes.at(nest.leaf);
    if (code.tile > 0)
      facts.tiles.insert(nest.loops.at(static_cast<std::size_t>(code.tile_loop)).index + " by " +
                         std::to_string(code.tile));
    if (code.kept > 0) facts.kept.insert(nest.loops.back().index);
    facts.lengths.insert(code.lengths.begin(), code.lengths.end());
    facts.streams = facts.streams || code.streams;
  }
  return facts;
}

/// Returns the lines of a kernel without its partial results, fix-ups and numeric phases.
std::vector<std::string> lines_of_bodies(const std::string& loops) {
  std::vector<std::string> lines;
  std::istringstream all(loops);
  bool inside = false;
  for (std::string line; std::getline(all, line);) {
    const bool opens = line.size() > 3 && line[1] == ' ' && line[2] != ' ' && line.back() == '{';
    if (opens) inside = line.find("  phase range") == 0;
    if (inside) lines.push_back(line);
  }
  return lines;
}

/// Some line sets elements of A inside of a vector loop.
bool sets_in_vectors(const std::vector<std::string>& lines) {
  static const std::regex vector_loop(R"(^ *for (vector|simd) )"), store(R"(^ *A\[.*\] = )");
  std::size_t indent = 0;  // of the vector loop around
  for (const std::string& line : lines) {
    const std::size_t here = line.find_first_not_of(' ');
    if (here <= indent) indent = 0;
    if (indent == 0 && std::regex_search(line, vector_loop)) indent = here;
    if (indent > 0 && std::regex_search(line, store)) return true;
  }
  return false;
}

/// Reads the same facts off the text of the loops. A loop over entries has a `p` before its index, one over
/// referenced rows is named by the coordinate that it loads.
Facts of_text(const std::string& loops) {
  static const std::regex jammed(R"(for (\w+) in .* by (\d+) jammed)"), row(R"(for vector (\w+) in )"),
      coordinate(R"(let (\w+): index = \w+\[(q\w*)\])"), sizes(R"( specialised for .* at ([\d ]+))");
  const std::vector<std::string> lines = lines_of_bodies(loops);
  std::smatch found;
  std::map<std::string, std::string> listed;
  for (const std::string& line : lines)
    if (std::regex_search(line, found, coordinate)) listed.emplace(found[2], found[1]);
  const auto index = [&](std::string variable) {
    if (listed.count(variable) > 0) variable = listed.at(variable);
    return variable.substr(variable.size() > 1 && variable[0] == 'p' ? 1 : 0, 1);
  };
  Facts facts;
  for (const std::string& line : lines) {
    if (std::regex_search(line, found, jammed)) facts.tiles.insert(index(found[1]) + " by " + found[2].str());
    if (std::regex_search(line, found, row)) facts.kept.insert(index(found[1]));
    if (std::regex_search(line, found, sizes)) {
      std::istringstream list(found[1]);
      for (int size = 0; list >> size;) facts.lengths.insert(size);
    }
  }
  facts.streams = sets_in_vectors(lines);
  return facts;
}

TEST(Description, AgreesWithTheTextOfThePapersKernels) {
  int compared = 0, keeping = 0;
  for (const char* name : {"K1", "K3", "K4", "K6", "K7", "K8"}) {
    const auto problem = problem::build(test_support::paper_kernel(name).text).value();
    auto found = frontier::compute(problem, frontier::options_for(problem.profile), {}, {});
    ASSERT_TRUE(found.ok()) << support::render(found.error());
    add_variants(*found, problem);
    for (const auto& survivor : found->survivors) {
      ASSERT_FALSE(survivor.variants.empty());
      for (const auto& variant : survivor.variants) {
        const auto tree = schedule::apply(variant.trace, problem).value();
        const auto nests = cost::leaf_nests(tree, problem);
        const auto loops = emit(problem, variant.trace, Language::loops, "x86-64-v3").value();
        Facts text = of_text(loops);
        // Rows along a loop that is not innermost are kept, too, and costs know nothing of it or its lengths.
        std::erase_if(text.kept, [&](const std::string& index) {
          return std::none_of(nests.begin(), nests.end(),
                              [&](const auto& nest) { return nest.loops.back().index == index; });
        });
        const Facts facts = of_description(nests, variant.code);
        if (facts.lengths.empty() && facts.kept.empty()) text.lengths.clear();
        EXPECT_EQ(facts, text) << name << " " << schedule::print(variant.trace) << "\n" << loops;
        const bool keeps = std::any_of(variant.code.begin(), variant.code.end(),
                                       [](const LeafCode& code) { return code.row_in_registers; });
        const auto printed = emit(problem, variant.trace, Language::c, "x86-64-v3").value();
        EXPECT_EQ(keeps, printed.find("_kept = ") != std::string::npos) << name << "\n" << loops;
        keeping += keeps ? 1 : 0;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100);
  EXPECT_GT(keeping, 0);
}

TEST(Description, AgreesWithCompiledKernels) {
  for (const auto& text : {test_support::paper_kernel("K1").text, test_support::paper_kernel("K4").text,
                           sddmm(), text_of("s = B(i,j) * B(i,j)", {{"B", "csr"}})}) {
    const auto canonical = problem::canonicalize(problem::build(text).value());
    const auto kernel = test_support::compiled_kernel(text, "linear");
    bool streams = false, numeric = false, has_numeric = false;
    for (const LeafCode& code : describe(canonical.problem, schedule::parse("linear").value()).value()) {
      streams = streams || code.streams;
      numeric = numeric || code.numeric;
    }
    const auto& descriptor = kernel.descriptor();
    for (int phase = 0; phase < descriptor.phase_count; ++phase)
      has_numeric = has_numeric || descriptor.phases[phase].values != nullptr;
    EXPECT_EQ(descriptor.streams != 0, streams) << text.expression;
    EXPECT_EQ(has_numeric, numeric) << text.expression;
  }
}

TEST(Description, IsOfLoopsThatTheLeafHas) {
  std::mt19937_64 random(38);
  const auto check = [](const problem::Problem& problem, const schedule::Trace& trace) {
    const auto codes = describe(problem, trace);
    if (!codes.ok()) return;
    const auto tree = schedule::apply(trace, problem).value();
    for (const auto& nest : cost::leaf_nests(tree, schedule::problem_of(trace, problem).value())) {
      ASSERT_LT(nest.leaf, codes->size());
      const LeafCode& code = (*codes)[nest.leaf];
      EXPECT_LE(static_cast<std::size_t>(code.kept), std::max<std::size_t>(nest.loops.size(), 1) - 1);
      EXPECT_TRUE(code.tile == 0 || static_cast<std::size_t>(code.tile_loop) < nest.loops.size());
    }
  };
  for (int n = 0; n < 300; ++n) {
    const auto problem =
        test_support::random_problem({.sparse_result = true, .lists = true, .repeats = true}, random);
    check(problem, test_support::random_trace(problem, 6, random));
    const auto program = problem::build(test_support::random_program_text({}, random));
    if (program.ok()) check(*program, {});
  }
}

}  // namespace
}  // namespace schaas::pipeline
