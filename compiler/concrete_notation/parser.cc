#include "compiler/concrete_notation/parser.h"

#include <cctype>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "compiler/index_notation/parser.h"
#include "compiler/support/limits.h"

// Recursive descent over
//     statement = "forall" "(" name annotation "," statement ")"
//               | "blocks" "(" name "," [ "in" ] number "," statement ")"
//               | "where" "(" statement "," statement [ "," "hash" ] ")"
//               | "terms" "(" statement { "," statement } ")"
//               | access sign expression
//     annotation = [ "of" number ] [ "parallel" races ] [ "collapsed" ] [ "positions" number ] [ mapping ]
//                 [ "unroll" number ]
//     mapping   = "threads" ( number | "1" "/" number ) [ "group" number strategy ] [ "block" number ]
//                 [ "warp" number ] [ "stage" number ] [ "merge_path" ]
//     strategy  = "atomic" | "parallel" | "segment"
//     races     = "none" | "atomics" | "private"
//     sign      = "+=" | "*=" | "max=" | "min=" | "or=" | "and="
//     access    = name [ "(" name { "," name } ")" ]
//
// where an expression of index notation goes to the next comma or closing parenthesis that is not its own. A
// scalar in it that has the name of a loop around is the loop's coordinate.
// Depth is bounded by Limits::nesting, so recursion is safe on any text.
namespace schaas::concrete_notation {
namespace {

using support::Diagnostic;
using support::Limits;
using support::Result;
using support::SourceRange;

constexpr auto max_extent = std::numeric_limits<std::int64_t>::max();

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string quoted_character(char c) { return {'`', c, '`'}; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<StatementPtr> whole() {
    SCHAAS_ASSIGN_OR_RETURN(auto statement, parse_statement(0));
    skip_space();
    if (at_ != text_.size()) return expected("the end of the tree");
    return statement;
  }

 private:
  Result<StatementPtr> parse_statement(std::size_t depth) {
    SCHAAS_ASSIGN_OR_RETURN(const SourceRange first,
                            name("`forall`, `blocks`, `where`, `terms` or an assignment"));
    const std::string_view word = text_.substr(first.begin, first.end - first.begin);
    const bool nested =
        next_is('(') && (word == "forall" || word == "blocks" || word == "where" || word == "terms");
    if (!nested) return parse_assign(first);
    if (depth == Limits::nesting) {
      return support::at(support::invalid("nesting", "the tree is nested deeper than " +
                                                         std::to_string(Limits::nesting) + " levels"),
                         "tree", std::string(text_), first);
    }
    return word == "forall"   ? parse_forall(depth)
           : word == "blocks" ? parse_blocks(depth)
           : word == "terms"  ? parse_terms(depth)
                              : parse_where(depth);
  }

  Result<StatementPtr> parse_forall(std::size_t depth) {
    SCHAAS_RETURN_IF_ERROR(take('('));
    SCHAAS_ASSIGN_OR_RETURN(const SourceRange index, name("an index variable"));
    SCHAAS_ASSIGN_OR_RETURN(const LoopAnnotation annotation, parse_annotation());
    SCHAAS_RETURN_IF_ERROR(take(','));
    loops_.push_back(text_at(index));
    SCHAAS_ASSIGN_OR_RETURN(auto body, parse_statement(depth + 1));
    loops_.pop_back();
    SCHAAS_RETURN_IF_ERROR(take(')'));
    return forall(text_at(index), std::move(body), annotation);
  }

  // Reads annotations, each optional, in the order in which they are printed.
  Result<LoopAnnotation> parse_annotation() {
    LoopAnnotation annotation;
    if (accept_word("of")) {
      SCHAAS_ASSIGN_OR_RETURN(annotation.extent, number_up_to(max_extent, "an extent, 1 or more,"));
    }
    if (accept_word("parallel")) {
      for (const auto races : {Races::none, Races::atomics, Races::privates}) {
        if (!annotation.parallel && accept_word(concrete_notation::name(races))) annotation.parallel = races;
      }
      if (!annotation.parallel) return expected("`none`, `atomics` or `private`");
    }
    annotation.collapsed = accept_word("collapsed");
    if (accept_word("positions")) {
      SCHAAS_ASSIGN_OR_RETURN(annotation.positions, number("the number of loops, 1 to 9999,"));
    }
    if (accept_word("threads")) {
      SCHAAS_ASSIGN_OR_RETURN(annotation.mapping, parse_mapping());
    }
    if (accept_word("unroll")) {
      SCHAAS_ASSIGN_OR_RETURN(annotation.unroll, number("the number of iterations, 1 to 9999,"));
    }
    return annotation;
  }

  // Reads iterations, and after a slash the threads that share them; then the other annotations, each
  // optional.
  Result<ThreadMapping> parse_mapping() {
    ThreadMapping mapping;
    SCHAAS_ASSIGN_OR_RETURN(mapping.grain, number("the number of iterations, 1 to 9999,"));
    if (accept('/')) {
      SCHAAS_ASSIGN_OR_RETURN(mapping.threads_per_item, number("the number of threads, 1 to 9999,"));
    }
    if (accept_word("group")) {
      SCHAAS_ASSIGN_OR_RETURN(mapping.group_size, number("the number of threads, 1 to 9999,"));
      bool known = false;
      for (const auto strategy :
           {GroupReduction::atomic, GroupReduction::parallel, GroupReduction::segment}) {
        if (known || !accept_word(concrete_notation::name(strategy))) continue;
        mapping.reduce = strategy;
        known = true;
      }
      if (!known) return expected("`atomic`, `parallel` or `segment`");
    }
    if (accept_word("block")) {
      SCHAAS_ASSIGN_OR_RETURN(mapping.block, number("the number of threads, 1 to 9999,"));
    }
    if (accept_word("warp")) {
      SCHAAS_ASSIGN_OR_RETURN(mapping.tile, number("the number of iterations, 1 to 9999,"));
    }
    if (accept_word("stage")) {
      SCHAAS_ASSIGN_OR_RETURN(mapping.stage, number("the number of threads, 1 to 9999,"));
    }
    mapping.merge_path = accept_word("merge_path");
    return mapping;
  }

  // Takes the word, unless a longer name begins with it.
  bool accept_word(std::string_view word) {
    skip_space();
    const std::size_t end = at_ + word.size();
    if (text_.substr(at_, word.size()) != word || (end < text_.size() && continues_name(text_[end])))
      return false;
    at_ = end;
    return true;
  }

  Result<StatementPtr> parse_blocks(std::size_t depth) {
    SCHAAS_RETURN_IF_ERROR(take('('));
    SCHAAS_ASSIGN_OR_RETURN(const SourceRange index, name("an index variable"));
    SCHAAS_RETURN_IF_ERROR(take(','));
    const bool divides = accept_word("in");
    SCHAAS_ASSIGN_OR_RETURN(const int size, number("the size of a block, 1 to 9999,"));
    SCHAAS_RETURN_IF_ERROR(take(','));
    SCHAAS_ASSIGN_OR_RETURN(auto body, parse_statement(depth + 1));
    SCHAAS_RETURN_IF_ERROR(take(')'));
    return divides ? divided(text_at(index), size, std::move(body))
                   : blocks(text_at(index), size, std::move(body));
  }

  // Reads a number from 1 to 9999.
  Result<int> number(const char* what) {
    SCHAAS_ASSIGN_OR_RETURN(const std::int64_t value, number_up_to(9999, what));
    return static_cast<int>(value);
  }

  // Reads digits as long as the number is not above `max`, so that nothing overflows; 0 is no number here.
  Result<std::int64_t> number_up_to(std::int64_t max, const char* what) {
    skip_space();
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; ++at_) {
      const std::int64_t digit = text_[at_] - '0';
      if (value > (max - digit) / 10) break;
      value = 10 * value + digit;
    }
    if (value > 0) return value;
    at_ = begin;
    return expected(what);
  }

  Result<StatementPtr> parse_where(std::size_t depth) {
    SCHAAS_RETURN_IF_ERROR(take('('));
    SCHAAS_ASSIGN_OR_RETURN(auto consumer, parse_statement(depth + 1));
    SCHAAS_RETURN_IF_ERROR(take(','));
    SCHAAS_ASSIGN_OR_RETURN(auto producer, parse_statement(depth + 1));
    const bool hashed = accept(',');
    if (hashed && !accept_word("hash")) return expected("`hash`");
    SCHAAS_RETURN_IF_ERROR(take(')'));
    return where(std::move(consumer), std::move(producer), hashed ? Storage::hash : Storage::dense);
  }

  Result<StatementPtr> parse_terms(std::size_t depth) {
    SCHAAS_RETURN_IF_ERROR(take('('));
    std::vector<StatementPtr> each;
    do {
      SCHAAS_ASSIGN_OR_RETURN(auto term, parse_statement(depth + 1));
      each.push_back(std::move(term));
    } while (accept(','));
    if (each.size() < 2) return expected("`,` and another term");
    SCHAAS_RETURN_IF_ERROR(take(')'));
    return terms(std::move(each));
  }

  Result<StatementPtr> parse_assign(SourceRange first) {
    SCHAAS_ASSIGN_OR_RETURN(auto target, parse_access(first));
    SCHAAS_ASSIGN_OR_RETURN(const auto monoid, parse_sign());
    SCHAAS_ASSIGN_OR_RETURN(const auto value, parse_value());
    return assign(std::move(target), index_notation::with_coordinates(value, loops_), monoid);
  }

  Result<operators::Monoid> parse_sign() {
    using operators::Monoid;
    skip_space();
    for (const auto monoid : {Monoid::sum, Monoid::product, Monoid::minimum, Monoid::maximum,
                              Monoid::logical_or, Monoid::logical_and}) {
      const std::string sign = assignment_sign(monoid);
      if (text_.substr(at_, sign.size()) != sign) continue;
      at_ += sign.size();
      return monoid;
    }
    return expected("`+=`");
  }

  // Reads an expression as far as a comma or parenthesis that is not its own; errors point into the tree's
  // text.
  Result<index_notation::Expression> parse_value() {
    skip_space();
    const std::size_t begin = at_;
    std::size_t open = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (open == 0 && (c == ',' || c == ')' || c == ';')) break;
      open += c == '(' ? 1U : 0U;
      open -= c == ')' ? 1U : 0U;
    }
    if (begin == at_) return expected("an expression");
    auto parsed = index_notation::parse_expression(text_.substr(begin, at_ - begin));
    if (parsed.ok()) return parsed;
    const Diagnostic& error = parsed.error();
    SourceRange range = error.range.value_or(SourceRange{});
    range.begin += static_cast<std::uint32_t>(begin);
    range.end += static_cast<std::uint32_t>(begin);
    return support::at(support::invalid("tree-syntax", error.message), "tree", std::string(text_), range);
  }

  Result<index_notation::Access> parse_access(SourceRange tensor) {
    index_notation::Access access;
    access.tensor = text_at(tensor);
    if (accept('(')) {
      do {
        SCHAAS_ASSIGN_OR_RETURN(const SourceRange index, name("an index variable"));
        access.indices.push_back(text_at(index));
        access.index_ranges.push_back(index);
      } while (accept(','));
      SCHAAS_RETURN_IF_ERROR(take(')'));
    }
    access.range = SourceRange{tensor.begin, static_cast<std::uint32_t>(at_)};
    return access;
  }

  Result<SourceRange> name(const char* what) {
    skip_space();
    const std::size_t begin = at_;
    if (at_ < text_.size() && starts_name(text_[at_])) {
      while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    }
    if (at_ == begin) return expected(what);
    return SourceRange{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
  }

  Result<void> take(char c) {
    if (accept(c)) return {};
    return expected(quoted_character(c));
  }

  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }

  bool accept(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  std::string text_at(SourceRange range) const {
    return std::string(text_.substr(range.begin, range.end - range.begin));
  }

  Diagnostic expected(const std::string& what) const {
    const std::string found = at_ < text_.size() ? quoted_character(text_[at_]) : "the end of the text";
    const auto begin = static_cast<std::uint32_t>(at_);
    return support::at(support::invalid("tree-syntax", "expected " + what + " but found " + found), "tree",
                       std::string(text_), SourceRange{begin, begin + 1});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> loops_;  // those around
};

}  // namespace

Result<StatementPtr> parse(std::string_view text) { return Parser(text).whole(); }

}  // namespace schaas::concrete_notation
