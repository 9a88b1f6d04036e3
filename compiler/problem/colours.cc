#include "compiler/problem/colours.h"

#include <algorithm>

// Colour refinement (one-dimensional Weisfeiler-Leman, as in McKay's Practical graph isomorphism, 1981) on
// the structure of a problem. In a round each part has a signature: its old colour, and a list of how its
// neighbours look, sorted where their order means nothing. New colours are the ranks of signatures. Ranks
// depend on signatures alone and not on the order of parts, so isomorphic structures get equal numbers.
// Factors are coloured first; the other parts see their new colours in the same round.
namespace schaas::problem {
namespace {

using Signature = std::vector<std::int64_t>;

// Rank of each signature among the distinct ones.
std::vector<int> ranks(const std::vector<Signature>& signatures) {
  std::vector<Signature> distinct = signatures;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<int> out;
  for (const auto& signature : signatures) {
    const auto found = std::lower_bound(distinct.begin(), distinct.end(), signature);
    out.push_back(static_cast<int>(found - distinct.begin()));
  }
  return out;
}

// Appends the signatures, sorted, with their lengths: equal results mean equal multisets.
void append_sorted(Signature& out, std::vector<Signature> parts) {
  std::sort(parts.begin(), parts.end());
  out.push_back(static_cast<std::int64_t>(parts.size()));
  for (const auto& part : parts) {
    out.push_back(static_cast<std::int64_t>(part.size()));
    out.insert(out.end(), part.begin(), part.end());
  }
}

// Uses of each part, one list per part: filled while walking accesses and constraints.
using UseLists = std::vector<std::vector<Signature>>;

// Returns new colours from old ones and the uses collected in a round.
std::vector<int> recolour(const std::vector<int>& old, UseLists& uses) {
  std::vector<Signature> signatures;
  for (std::size_t n = 0; n < old.size(); ++n) {
    Signature signature = {old[n]};
    append_sorted(signature, std::move(uses[n]));
    signatures.push_back(std::move(signature));
  }
  return ranks(signatures);
}

// One refinement step: every part's new colour is its old one and the old ones of its neighbours.
class Round {
 public:
  Round(const Structure& structure, const Colours& colours)
      : structure_(structure),
        old_(colours),
        tensors_(colours.tensors.size()),
        indices_(colours.indices.size()),
        classes_(colours.classes.size()) {}

  Colours run() {
    Colours out;
    out.factors = factor_colours();
    for (std::size_t n = 0; n < structure_.factors.size(); ++n) visit(structure_.factors[n], out.factors[n]);
    visit(structure_.result, -1);
    visit_indices();
    visit_relations();
    out.indices = recolour(old_.indices, indices_);
    out.tensors = recolour(old_.tensors, tensors_);
    out.classes = recolour(old_.classes, classes_);
    return out;
  }

 private:
  static std::size_t at(int n) { return static_cast<std::size_t>(n); }

  // A factor sees its tensor and, in order of its modes, its indices.
  std::vector<int> factor_colours() const {
    std::vector<Signature> signatures;
    for (std::size_t n = 0; n < structure_.factors.size(); ++n) {
      const auto& factor = structure_.factors[n];
      Signature signature = {old_.factors[n], old_.tensors[at(factor.tensor)]};
      for (const int index : factor.indices) signature.push_back(old_.indices[at(index)]);
      signatures.push_back(std::move(signature));
    }
    return ranks(signatures);
  }

  // Tells a factor's colour to its tensor and, with the mode, to its indices; -1 stands for the result.
  void visit(const Structure::Access& access, int colour) {
    tensors_[at(access.tensor)].push_back({colour});
    for (std::size_t mode = 0; mode < access.indices.size(); ++mode) {
      indices_[at(access.indices[mode])].push_back({colour, static_cast<std::int64_t>(mode)});
    }
  }

  // An index sees its class, a class its members.
  void visit_indices() {
    for (std::size_t n = 0; n < indices_.size(); ++n) {
      const std::size_t extent_class = at(structure_.extent_class[n]);
      indices_[n].push_back({old_.classes[extent_class]});
      classes_[extent_class].push_back({old_.indices[n]});
    }
  }

  // Returns the signature of a term: its coefficient and the multiset of its symbols.
  Signature signature_of(const Structure::Term& term) const {
    std::vector<Signature> uses;
    for (const auto& use : term.uses) {
      const int colour = (use.extent ? old_.classes : old_.tensors)[at(use.id)];
      uses.push_back({use.extent, colour, use.levels, use.exponent});
    }
    Signature out = {term.coefficient};
    append_sorted(out, std::move(uses));
    return out;
  }

  // A constraint's colour is that of its terms by side; its symbols see it from their position in it.
  void visit_relations() {
    std::vector<Signature> terms, relations;
    for (const auto& relation : structure_.relations) {
      for (const auto& term : relation.terms) terms.push_back(signature_of(term));
    }
    const std::vector<int> term_ranks = ranks(terms);
    std::size_t next = 0;
    for (const auto& relation : structure_.relations) {
      std::vector<Signature> seen;
      for (const auto& term : relation.terms) seen.push_back({term.right, term_ranks[next++]});
      append_sorted(relations.emplace_back(), std::move(seen));
    }
    const std::vector<int> relation_ranks = ranks(relations);
    next = 0;
    for (std::size_t n = 0; n < relation_ranks.size(); ++n) {
      for (const auto& term : structure_.relations[n].terms) {
        const int term_rank = term_ranks[next++];
        for (const auto& use : term.uses) {
          (use.extent ? classes_ : tensors_)[at(use.id)].push_back(
              {relation_ranks[n], term.right, term_rank, use.levels, use.exponent});
        }
      }
    }
  }

  const Structure& structure_;
  const Colours& old_;
  UseLists tensors_, indices_, classes_;
};

}  // namespace

Colours initial_colours(const Structure& structure) {
  std::vector<std::string> formats = structure.formats;
  std::sort(formats.begin(), formats.end());
  Colours colours;
  for (const auto& format : structure.formats) {
    const auto found = std::lower_bound(formats.begin(), formats.end(), format);
    colours.tensors.push_back(static_cast<int>(found - formats.begin()));
  }
  colours.factors.assign(structure.factors.size(), 0);
  const auto& result = structure.result.indices;
  for (int index = 0; index < static_cast<int>(structure.extent_class.size()); ++index) {
    colours.indices.push_back(
        static_cast<int>(std::find(result.begin(), result.end(), index) - result.begin()));
  }
  colours.classes.assign(static_cast<std::size_t>(structure.classes), 0);
  return colours;
}

Colours individualize(Colours colours, int factor) {
  for (int& colour : colours.factors) ++colour;
  colours.factors[static_cast<std::size_t>(factor)] = 0;
  return colours;
}

Colours refine(const Structure& structure, Colours colours) {
  // Signatures begin with the old colour, so colours only ever split: at most one round per part.
  while (true) {
    Colours next = Round(structure, colours).run();
    if (next == colours) return next;
    colours = std::move(next);
  }
}

}  // namespace schaas::problem
