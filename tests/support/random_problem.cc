#include "tests/support/random_problem.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/concrete_notation/match.h"
#include "compiler/schedule/replay/apply.h"

// Random products and random traces. Operands draw their indices, levels and mode orders; most levels are
// dense or compressed. A trace is legal because every directive is drawn blindly and kept only if
// schedule::apply accepts it. The schedules are therefore those that replay allows, many more than the search
// lists. Masks use a generator of their own, so they do not shift the other draws of a seed.
namespace schaas::test_support {
namespace {

int between(int low, int high, std::mt19937_64& random) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// `count` different names, in random order.
std::vector<std::string> some_of(std::vector<std::string> names, int count, std::mt19937_64& random) {
  std::shuffle(names.begin(), names.end(), random);
  names.resize(std::min(names.size(), static_cast<std::size_t>(count)));
  return names;
}

/// Prints "B(i,j)", or "b" without indices.
std::string access(const std::string& tensor, const std::vector<std::string>& indices) {
  std::string out = tensor;
  for (std::size_t n = 0; n < indices.size(); ++n) out += (n ? "," : "(") + indices[n];
  return indices.empty() ? out : out + ")";
}

enum class Levels { dense, written, all };

/// Draws the level formats of a tensor, separated by commas.
std::string random_levels(std::size_t order, Levels kinds, std::mt19937_64& random) {
  static const std::vector<std::string> names{"dense", "compressed", "bitmap", "banded", "hashed"};
  std::string levels;
  for (std::size_t n = 0; n < order; ++n) {
    std::size_t drawn = kinds == Levels::dense ? 0 : random() % 2;
    if (kinds == Levels::all && random() % 3 == 0) drawn = random() % names.size();
    levels += (n ? "," : "") + names[drawn];
  }
  return levels;
}

/// A list of coordinates, maybe below other levels: "dense,compressed(nonunique),singleton".
std::string list_levels(std::size_t order, Levels above_it, std::mt19937_64& random) {
  const std::size_t above = random() % (order - 1);
  std::string levels = above == 0 ? "" : random_levels(above, above_it, random) + ",";
  levels += "compressed(nonunique)";
  for (std::size_t n = above + 1; n < order; ++n)
    levels += n + 1 == order ? ",singleton" : ",singleton(nonunique)";
  return levels;
}

/// Appends a random mode order.
std::string with_mode_order(std::string levels, std::size_t order, std::mt19937_64& random) {
  std::vector<int> modes(order);
  std::iota(modes.begin(), modes.end(), 0);
  std::shuffle(modes.begin(), modes.end(), random);
  for (std::size_t n = 0; n < order; ++n) levels += (n ? "," : ":") + std::to_string(modes[n]);
  return levels;
}

std::string random_format(std::size_t order, Levels kinds, std::mt19937_64& random) {
  std::string levels = random_levels(order, kinds, random);
  return with_mode_order(std::move(levels), order, random);
}

/// A linear section of a tree: its path, loops and number of factors.
struct Section {
  schedule::Path path;
  std::vector<std::string> loops;
  int factors;
};

/// Collects the sections of a tree from its root to each leaf.
void linear_sections(const concrete_notation::StatementPtr& tree, Section section,
                     std::vector<Section>& out) {
  concrete_notation::match(
      tree->node,
      [&](const concrete_notation::Forall& loop) {
        section.loops.push_back(loop.index);
        linear_sections(loop.body, section, out);
      },
      [&](const concrete_notation::Blocks& blocks) { linear_sections(blocks.body, section, out); },
      [&](const concrete_notation::Where& branch) {
        section.loops.clear();
        section.path.push_back(0);
        linear_sections(branch.producer, section, out);
        section.path.back() = 1;
        linear_sections(branch.consumer, section, out);
      },
      [&](const concrete_notation::Terms& sum) {
        section.loops.clear();
        section.path.push_back(0);
        for (const auto& term : sum.terms) {
          linear_sections(term, section, out);
          ++section.path.back();
        }
      },
      [&](const concrete_notation::Assign& leaf) {
        section.factors = static_cast<int>(index_notation::operands(leaf.value).size());
        out.push_back(section);
      });
}

/// A copy of an operand for one of its accesses, or for all of them; it may be stored like that already.
std::optional<schedule::Store> random_store(const problem::Problem& problem, std::mt19937_64& random) {
  std::vector<index_notation::Access> reads = problem.reads();
  std::erase_if(reads, [](const index_notation::Access& read) { return read.indices.size() < 2; });
  if (reads.empty()) return std::nullopt;
  const auto& read = reads[random() % reads.size()];
  schedule::Store store{read.tensor, std::nullopt, problem.formats.at(read.tensor).mode_order};
  std::shuffle(store.order.begin(), store.order.end(), random);
  if (random() % 2 == 0) store.at = read.indices;
  return store;
}

/// An intermediate computed at the entries of one operand, or of two; it may be read elsewhere.
std::optional<schedule::Mask> random_mask(const problem::Problem& problem, std::mt19937_64& random) {
  std::vector<std::string> sparse;
  for (const auto& [tensor, format] : problem.formats) {
    if (!format.all_dense() && tensor != problem.statement.result.tensor) sparse.push_back(tensor);
  }
  if (problem.intermediates.empty() || sparse.empty()) return std::nullopt;
  const auto& definition = problem.intermediates[random() % problem.intermediates.size()];
  return schedule::Mask{definition.result.tensor, some_of(sparse, random() % 4 == 0 ? 2 : 1, random)};
}

}  // namespace

problem::Problem random_problem(const RandomProblemOptions& options, std::mt19937_64& random) {
  return problem::build(random_problem_text(options, random)).value();
}

namespace {

/// Draws the type of the values and, of the operand `narrow` where it has a name, at times a narrower one.
void draw_types(problem::ProblemText& text, const std::string& narrow, std::mt19937_64& random) {
  static const std::vector<std::string> integers{"i64", "i32", "i16", "i8",  "u64",
                                                 "u32", "u16", "u8",  "bool"};
  static const std::vector<std::vector<std::string>> pairs{
      {"f64", "f32"},  {"f64", "i32"},  {"f32", "bf16"}, {"f32", "i8"},  {"f32", "u16"},
      {"i64", "u8"},   {"i32", "i8"},   {"u32", "u16"},  {"f64", "f16"}, {"f32", "bool"},
      {"c128", "f64"}, {"c128", "c64"}, {"c64", "i16"},  {"c64", "f32"}, {"c128", "f16"}};
  const auto type = random() % 12;
  text.value_type = type % 3 == 0 ? "f32" : type == 4 ? "bf16" : type == 8 ? "f16" : "f64";
  if (type == 7) text.value_type = random() % 2 == 0 ? "c64" : "c128";
  if (type == 1 || type == 2 || type == 5) text.value_type = integers[random() % integers.size()];
  if (text.value_type == "bool") text.expression = "or-and: " + text.expression;
  if (type != 10 || narrow.empty()) return;
  const auto& pair = pairs[random() % pairs.size()];
  text.value_type = pair[0];
  const auto format = text.formats.find(narrow);
  text.formats[narrow] = (format == text.formats.end() ? "dense" : format->second) + "@" + pair[1];
}

}  // namespace

problem::ProblemText random_problem_text(const RandomProblemOptions& options, std::mt19937_64& random) {
  static const std::vector<std::string> alphabet{"i", "j", "k", "l", "m", "n", "o", "p"};
  const std::vector<std::string> indices(alphabet.begin(),
                                         alphabet.begin() + between(1, options.max_indices, random));
  const int factors = between(1, options.most_factors, random);
  problem::ProblemText text;
  std::vector<std::string> used;
  std::string product;
  std::map<std::string, int> orders;
  for (int n = 0; n < factors; ++n) {
    std::string tensor(1, static_cast<char>('B' + n));
    int order = between(0, options.most_order, random);
    if (options.repeats && n > 0 && random() % 4 == 0) {
      tensor = std::string(1, static_cast<char>('B' + between(0, n - 1, random)));
      tensor = orders.count(tensor) ? tensor : "B";
      order = orders.at(tensor);
    }
    const auto own = some_of(indices, order, random);
    orders[tensor] = static_cast<int>(own.size());
    used.insert(used.end(), own.begin(), own.end());
    product += (n ? " * " : "") + access(tensor, own);
    if (!own.empty() && text.formats.count(tensor) == 0)
      text.formats[tensor] =
          options.lists && own.size() > 1 && random() % 4 == 0
              ? with_mode_order(list_levels(own.size(), Levels::all, random), own.size(), random)
              : random_format(own.size(), options.dense_operands ? Levels::dense : Levels::all, random);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const auto result = some_of(used, between(0, 3, random), random);
  const bool sparse_result = options.sparse_result && random() % 3 == 0;
  const auto kinds = sparse_result ? Levels::written : Levels::dense;
  if (!result.empty()) text.formats["A"] = random_format(result.size(), kinds, random);
  if (sparse_result && options.lists && result.size() > 1 && random() % 2 == 0)
    text.formats["A"] = with_mode_order(list_levels(result.size(), kinds, random), result.size(), random);
  text.expression = access("A", result) + " = " + product;
  draw_types(text, used.empty() || orders.at("B") == 0 ? "" : "B", random);
  text.position_bits = random() % 2 == 0 ? "32" : "64";
  return text;
}

schedule::Directive random_directive(const std::vector<std::string>& loops, int factors,
                                     const schedule::Path& path, std::mt19937_64& random) {
  const auto kind = random() % 6;
  if (kind == 0) {
    schedule::Permute permute{path, std::vector<int>(static_cast<std::size_t>(factors))};
    std::iota(permute.factors.begin(), permute.factors.end(), 0);
    std::shuffle(permute.factors.begin(), permute.factors.end(), random);
    return permute;
  }
  if (kind == 1) {
    schedule::Reorder reorder{path, loops};
    std::shuffle(reorder.order.begin(), reorder.order.end(), random);
    return reorder;
  }
  if (kind == 2 && !path.empty()) {  // the branch above
    return schedule::Block{schedule::Path(path.begin(), path.end() - 1), between(1, 4, random)};
  }
  if (kind == 3) return schedule::Distribute{path, between(0, static_cast<int>(loops.size()), random)};
  schedule::LoopFuse fuse{path, between(1, std::max(1, factors - 1), random), random() % 2 == 0, {}};
  if (random() % 2 == 0) fuse.fuse = between(0, 3, random);
  return fuse;
}

/// One that only programs or tiles need.
schedule::Directive random_rarer_directive(const std::vector<std::string>& loops, const schedule::Path& path,
                                           std::mt19937_64& random) {
  if (random() % 2 == 0 && !loops.empty()) {
    const auto at = random() % loops.size();
    const std::string outer = random() % 2 == 0 ? loops[random() % (at + 1)] : "";
    if (random() % 2 == 0) return schedule::Split{path, loops[at], between(2, 9, random), outer};
    return schedule::Divide{path, loops[at], between(2, 5, random), outer};
  }
  if (random() % 2 == 0)
    return schedule::Share{between(0, 2, random), some_of(loops, between(0, 2, random), random)};
  schedule::Sequence sequence{std::vector<int>(static_cast<std::size_t>(between(2, 4, random)))};
  std::iota(sequence.order.begin(), sequence.order.end(), 0);
  std::shuffle(sequence.order.begin(), sequence.order.end() - 1, random);  // the result's nest stays last
  return sequence;
}

/// Draws an annotation of a loop at or above the path.
schedule::Directive random_annotation(const problem::Problem& problem, schedule::Path path,
                                      std::mt19937_64& random) {
  using concrete_notation::Races;
  path.resize(path.empty() ? 0 : random() % (path.size() + 1));
  const auto indices = problem.indices();
  const auto loop = indices.empty() ? "i" : indices[random() % indices.size()];
  const auto draw = random();
  if (draw % 5 == 0) return schedule::Unroll{path, loop, between(2, 9, random)};
  if (draw % 5 == 1) return schedule::Collapse{path, loop};
  const auto races = std::vector<Races>{Races::none, Races::atomics, Races::privates}[random() % 3];
  if (draw / 5 % 3 == 0) return schedule::Pos{path, loop, ""};
  return schedule::Parallelize{path, loop, races};
}

schedule::Trace random_trace(const problem::Problem& problem, int most, std::mt19937_64& random) {
  schedule::Trace trace = schedule::default_trace(problem);
  if (auto store = random_store(problem, random); store && random() % 4 == 0) {
    schedule::Trace longer = trace;
    longer.directives.emplace_back(std::move(*store));
    if (schedule::apply(longer, problem).ok()) trace = std::move(longer);
  }
  // Few readings are masked, so every operand is tried.
  std::mt19937_64 masks(problem.intermediates.size() + problem.reads().size());
  for (int n = 0; n < 6; ++n) {
    if (auto mask = random_mask(problem, masks)) {
      schedule::Trace longer = trace;
      longer.directives.emplace_back(std::move(*mask));
      if (schedule::apply(longer, problem).ok()) trace = std::move(longer);
    }
  }
  auto tree = schedule::apply(trace, problem);
  if (!tree.ok()) return trace;
  const int manners = between(0, 3, random);
  for (int n = 0; n < most + 3 * manners; ++n) {
    std::vector<Section> sections;
    linear_sections(*tree, {}, sections);
    const Section& section = sections[random() % sections.size()];
    schedule::Trace longer = trace;
    if (n >= most) {
      longer.directives.push_back(random_annotation(problem, section.path, random));
    } else if (random() % 5 == 0) {
      longer.directives.push_back(random_rarer_directive(section.loops, section.path, random));
    } else {
      longer.directives.push_back(random_directive(section.loops, section.factors, section.path, random));
    }
    auto next = schedule::apply(longer, problem);
    if (!next.ok()) continue;
    trace = std::move(longer);
    tree = std::move(next);
  }
  const auto& result = problem.formats.at(problem.statement.result.tensor);
  if (result.all_dense() || random() % 2 == 0) return trace;
  schedule::Trace hashed = trace;
  hashed.directives.emplace_back(schedule::WorkspaceStorage{concrete_notation::Storage::hash});
  return schedule::apply(hashed, problem).ok() ? hashed : trace;
}

}  // namespace schaas::test_support
