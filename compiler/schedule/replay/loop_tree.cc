#include "compiler/schedule/replay/loop_tree.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "compiler/concrete_notation/printer.h"
#include "compiler/schedule/replay/apply.h"
#include "compiler/support/limits.h"
#include "compiler/support/nearest_name.h"

// Search for the traces of a short form, which names loops and branches, but no factors. Each permutation of
// the factors is dealt out to the parts of the tree. Consecutive factors go to a producer, the others and its
// temporary to the consumer (SparseAuto section 4.3). A part fits when its factors, with the loops outside,
// have exactly its indices. Sets of indices are bit masks, which Limits::indices keeps within 32 bits.
// Dealing ignores storage orders. Every trace found is replayed, and only those whose tree prints as the text
// are returned, so the dealing may find too many. At most Limits::factors factorial permutations are tried,
// with a check for cancellation before each.
namespace schaas::schedule {
namespace {

using support::Result;
using Indices = std::uint32_t;  // bit n: index_variables(statement)[n]

struct Tree {
  std::vector<int> loops;
  std::unique_ptr<Tree> producer, consumer;  // both or neither

  Indices own() const {
    Indices out = 0;
    for (const int loop : loops) out |= Indices{1} << loop;
    return out;
  }
  Indices all() const { return own() | (producer ? producer->all() | consumer->all() : 0); }
};

// Reads tree := loop* [ '<' tree ',' tree '>' ]; names longer than one letter are separated by spaces.
class Reader {
 public:
  Reader(std::string_view text, const std::vector<std::string>& indices) : text_(text), indices_(indices) {
    for (const auto& index : indices) long_names_ = long_names_ || index.size() > 1;
  }

  Result<Tree> read() {
    SCHAAS_ASSIGN_OR_RETURN(Tree tree, part(0));
    if (at_ < text_.size()) return wrong("expected the end of the tree");
    return tree;
  }

 private:
  support::Diagnostic wrong(const std::string& what) const {
    const auto begin = static_cast<std::uint32_t>(at_);
    return support::at(support::invalid("tree-syntax", what + ", as in `i<j<k,l>,lm>`"), "tree",
                       std::string(text_), {begin, begin + 1});
  }

  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool next_is(char c) {
    skip_spaces();
    return at_ < text_.size() && text_[at_] == c;
  }

  /// Reads the name of a loop: one letter, unless some index of the problem has a longer name.
  Result<int> loop() {
    const std::size_t begin = at_;
    const auto in_name = [&] {
      return at_ < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_');
    };
    if (!in_name()) return wrong("expected the name of a loop, `<`, `,` or `>`");
    do {
      ++at_;
    } while (long_names_ && in_name());
    const std::string name(text_.substr(begin, at_ - begin));
    const auto found = std::find(indices_.begin(), indices_.end(), name);
    if (found != indices_.end()) return static_cast<int>(found - indices_.begin());
    return support::at(support::invalid("unknown-index", "there is no index `" + name + "`" +
                                                             support::did_you_mean(name, indices_)),
                       "tree", std::string(text_),
                       {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)});
  }

  /// Each branch splits a product, so deeper trees than factors have no schedule; the bound ends the
  /// recursion.
  Result<Tree> part(std::size_t depth) {
    if (depth > support::Limits::factors) return wrong("expected no deeper branch");
    Tree tree;
    while (skip_spaces(), at_ < text_.size() && text_[at_] != '<' && text_[at_] != ',' && text_[at_] != '>') {
      SCHAAS_ASSIGN_OR_RETURN(const int index, loop());
      tree.loops.push_back(index);
    }
    if (!next_is('<')) return tree;
    ++at_;
    SCHAAS_ASSIGN_OR_RETURN(Tree producer, part(depth + 1));
    if (!next_is(',')) return wrong("expected `,` between producer and consumer");
    ++at_;
    SCHAAS_ASSIGN_OR_RETURN(Tree consumer, part(depth + 1));
    if (!next_is('>')) return wrong("expected `>` after the consumer");
    ++at_;
    tree.producer = std::make_unique<Tree>(std::move(producer));
    tree.consumer = std::make_unique<Tree>(std::move(consumer));
    return tree;
  }

  std::string_view text_;
  const std::vector<std::string>& indices_;
  bool long_names_ = false;
  std::size_t at_ = 0;
};

// Assigns the factors of one order to the parts of the tree. A part, with the loops outside, must have
// exactly the indices of its factors as loops.
class Dealer {
 public:
  /// `legal`: the indices in the order of the default nest.
  Dealer(const std::vector<std::string>& names, std::vector<int> legal)
      : names_(names), legal_(std::move(legal)) {}

  /// Returns directives for the section at `path` with these factors, which may include a temporary.
  /// `outside`: the loops around it; `target`: indices of its target.
  std::vector<std::vector<Directive>> deal(const Tree& tree, const Path& path,
                                           const std::vector<Indices>& factors, Indices outside,
                                           Indices target) const {
    std::vector<std::vector<Directive>> ways;
    // A loop that no factor needs, or an index without its loop, rules the split out; so does a target whose
    // indices are not all loops.
    const Indices loops = outside | tree.all();
    if ((united(factors) | outside) != loops || (loops & target) != target) return ways;
    const Directive order = reorder(tree, path);
    if (!tree.producer) return {{order}};
    const Indices around = outside | tree.own();
    for (int at = 1; at < static_cast<int>(factors.size()); ++at) {
      for (const bool left : {true, false})
        split(tree, path, factors, around, target, {order, at, left}, ways);
    }
    return ways;
  }

 private:
  struct Split {
    Directive order;
    int at;
    bool left;
  };

  /// Adds the ways that split the factors after the first `how.at`, for all ways of both sides.
  void split(const Tree& tree, const Path& path, const std::vector<Indices>& factors, Indices around,
             Indices target, const Split& how, std::vector<std::vector<Directive>>& ways) const {
    const auto middle = factors.begin() + how.at;
    const std::vector<Indices> first(factors.begin(), middle), second(middle, factors.end());
    const std::vector<Indices>& made = how.left ? first : second;
    // Indices of the temporary as `loopfuse` computes them: producer with (other factors or target).
    const Indices temporary = united(made) & (united(how.left ? second : first) | target);
    std::vector<Indices> used = how.left ? second : first;
    used.insert(how.left ? used.begin() : used.end(), temporary);
    Path producer = path, consumer = path;
    producer.push_back(0);
    consumer.push_back(1);
    const auto makers = deal(*tree.producer, producer, made, around, temporary);
    if (makers.empty()) return;
    const auto users = deal(*tree.consumer, consumer, used, around, target);
    // All own loops of this part, and no more, are fused above its branch.
    const LoopFuse fuse{path, how.at, how.left, static_cast<int>(tree.loops.size())};
    for (const auto& maker : makers) {
      for (const auto& user : users) {
        std::vector<Directive> way{how.order, fuse};
        way.insert(way.end(), maker.begin(), maker.end());
        way.insert(way.end(), user.begin(), user.end());
        ways.push_back(std::move(way));
      }
    }
  }

  static Indices united(const std::vector<Indices>& factors) {
    return std::accumulate(factors.begin(), factors.end(), Indices{0}, std::bit_or<>());
  }

  /// Orders the part's own loops outside; the others as in the default nest, which is legal.
  Reorder reorder(const Tree& tree, const Path& path) const {
    Reorder out{path, {}};
    for (const int loop : tree.loops) out.order.push_back(names_[static_cast<std::size_t>(loop)]);
    const Indices rest = tree.all() & ~tree.own();
    for (const int loop : legal_) {
      if ((rest >> loop & 1) != 0) out.order.push_back(names_[static_cast<std::size_t>(loop)]);
    }
    return out;
  }

  const std::vector<std::string>& names_;
  const std::vector<int> legal_;
};

}  // namespace

Result<std::vector<Trace>> traces_of_tree(std::string_view text, const problem::Problem& problem,
                                          std::size_t limit, const support::Cancellation& cancellation) {
  const auto names = index_notation::index_variables(problem.statement);
  const auto mask = [&](const index_notation::Access& access) {
    Indices out = 0;
    for (const auto& index : access.indices) {
      out |= Indices{1} << (std::find(names.begin(), names.end(), index) - names.begin());
    }
    return out;
  };
  SCHAAS_ASSIGN_OR_RETURN(const Tree tree, Reader(text, names).read());
  const auto operands = problem.operands();
  std::vector<int> order(operands.size());
  std::iota(order.begin(), order.end(), 0);
  // Loops below a branch are first put in the order of the default nest; a later `reorder` of the part
  // decides.
  std::vector<int> legal;
  for (auto nest = default_nest(problem);;) {
    const auto* loop = std::get_if<concrete_notation::Forall>(&nest->node);
    if (loop == nullptr) break;
    legal.push_back(static_cast<int>(std::find(names.begin(), names.end(), loop->index) - names.begin()));
    nest = loop->body;
  }
  const Dealer dealer(names, std::move(legal));
  std::vector<Trace> found;
  std::string spelling;
  // White space is no part of the form, in neither text.
  for (const char c : text) spelling += c == ' ' ? "" : std::string(1, c);
  do {
    SCHAAS_RETURN_IF_ERROR(cancellation.check("looking for a loop tree"));
    std::vector<Indices> factors;
    for (const int n : order) factors.push_back(mask(operands[static_cast<std::size_t>(n)]));
    for (auto& way : dealer.deal(tree, {}, factors, 0, mask(problem.statement.result))) {
      Trace trace{std::move(way)};
      // The identity needs no `permute`.
      if (!std::is_sorted(order.begin(), order.end()))
        trace.directives.insert(trace.directives.begin(), Permute{{}, order});
      const auto applied = apply(trace, problem);
      if (!applied.ok()) continue;
      std::string prints = concrete_notation::print_loop_tree(*applied);
      prints.erase(std::remove(prints.begin(), prints.end(), ' '), prints.end());
      if (prints != spelling) continue;
      found.push_back(std::move(trace));
      if (found.size() == limit) return found;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  if (found.empty()) {
    return support::invalid("no-such-tree",
                            "no schedule of this problem has the loop tree `" + std::string(text) +
                                "`; loops of sparse operands follow the order of their storage");
  }
  return found;
}

}  // namespace schaas::schedule
