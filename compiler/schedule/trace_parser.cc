#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "compiler/schedule/trace.h"
#include "compiler/support/limits.h"
#include "compiler/support/nearest_name.h"

// trace     = "" | "linear" | directive { ";" directive } [ ";" ]
// directive = name "(" argument { "," argument } ")"
// argument  = name "=" ( word [ "/" word ] | "{" [ word { "," word } ] "}" )
// word      = ( letter | digit | "_" | "-" ) { letter | digit | "_" | "-" }
//
// Recursive descent without backtracking, but for the text `linear`. Names of directives and arguments are
// checked before their values are read: a misspelt one gets a suggestion instead of a syntax error. Arguments
// come in any order; directive_of alone decides what they mean. Only syntax is checked here. Paths, loops and
// numbers are checked where the directive is applied, with the tree at hand.
namespace schaas::schedule {
namespace {

using support::Diagnostic;
using support::Limits;
using support::Result;
using support::SourceRange;

/// Longer texts are rejected unread. The longest legal trace (256 directives, paths of 8 steps) has about 20
/// KB.
constexpr std::size_t trace_bytes = 64 * 1024;

struct Word {
  std::string text;
  SourceRange range;
};

struct Argument {
  std::vector<Word> words;
  bool is_list = false;
  SourceRange range;  ///< range of the value
};

struct DirectiveCall {
  Word name;
  std::map<std::string, std::pair<Word, Argument>> arguments;
};

std::string quoted(char c) { return {'`', c, '`'}; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  /// Reads directives to the end of the text; a semicolon may follow the last one.
  Result<Trace> whole() {
    if (text_.size() > trace_bytes) {
      return support::invalid("trace-too-long", "the trace has " + std::to_string(text_.size()) +
                                                    " bytes; at most " + std::to_string(trace_bytes) +
                                                    " are read");
    }
    Trace trace;
    if (at_end() || is_linear()) return trace;
    while (!at_end()) {
      SCHAAS_ASSIGN_OR_RETURN(const DirectiveCall call, parse_call());
      if (trace.directives.size() == Limits::trace_directives) {
        return at(call.name.range, "trace-too-long",
                  "the trace has more than " + std::to_string(Limits::trace_directives) + " directives");
      }
      SCHAAS_ASSIGN_OR_RETURN(auto directive, directive_of(call));
      trace.directives.push_back(std::move(directive));
      if (!accept(';') && !at_end()) return expected("`;` or the end of the trace");
    }
    return trace;
  }

 private:
  /// Tells whether the text is `linear` alone; otherwise nothing is taken from it.
  bool is_linear() {
    const std::size_t begin = at_;
    const auto first = word("linear");
    if (first.ok() && first->text == "linear" && at_end()) return true;
    at_ = begin;
    return false;
  }

  /// Reads a directive with its arguments, each at most once.
  Result<DirectiveCall> parse_call() {
    DirectiveCall call;
    SCHAAS_ASSIGN_OR_RETURN(call.name, word("a directive"));
    SCHAAS_RETURN_IF_ERROR(check_name(call.name));
    SCHAAS_RETURN_IF_ERROR(take('('));
    do {
      SCHAAS_ASSIGN_OR_RETURN(const Word name, word("an argument's name"));
      SCHAAS_RETURN_IF_ERROR(check_argument_name(call.name.text, name));
      SCHAAS_RETURN_IF_ERROR(take('='));
      SCHAAS_ASSIGN_OR_RETURN(auto value, parse_value());
      if (!call.arguments.emplace(name.text, std::pair(name, std::move(value))).second) {
        return at(name.range, "trace-syntax", "argument `" + name.text + "` is given twice");
      }
    } while (accept(','));
    SCHAAS_RETURN_IF_ERROR(take(')'));
    return call;
  }

  /// Reads a word, a part such as 1/8, or a list in braces.
  Result<Argument> parse_value() {
    Argument value;
    skip_space();
    const auto begin = static_cast<std::uint32_t>(at_);
    if (accept('{')) {
      value.is_list = true;
      if (!accept('}')) {
        do {
          SCHAAS_ASSIGN_OR_RETURN(auto item, word("a name or a number"));
          value.words.push_back(std::move(item));
        } while (accept(','));
        SCHAAS_RETURN_IF_ERROR(take('}'));
      }
    } else {
      SCHAAS_ASSIGN_OR_RETURN(auto item, word("a value"));
      if (accept('/')) {
        SCHAAS_ASSIGN_OR_RETURN(const Word parts, word("a number of parts"));
        item = {item.text + "/" + parts.text, {item.range.begin, parts.range.end}};
      }
      value.words.push_back(std::move(item));
    }
    value.range = {begin, static_cast<std::uint32_t>(at_)};
    return value;
  }

  /// The directives and their arguments, in the order of the documentation.
  static const std::vector<std::pair<std::string, std::vector<std::string>>>& directives() {
    static const std::vector<std::pair<std::string, std::vector<std::string>>> all{
        {"permute", {"path", "factors"}},
        {"reorder", {"path", "order"}},
        {"loopfuse", {"path", "loc", "pol", "fuse"}},
        {"block", {"path", "size"}},
        {"share", {"nest", "loops"}},
        {"sequence", {"order"}},
        {"distribute", {"path", "depth"}},
        {"parallelize", {"path", "loop", "races"}},
        {"split", {"path", "loop", "factor", "outer"}},
        {"divide", {"path", "loop", "parts", "outer"}},
        {"unroll", {"path", "loop", "factor"}},
        {"bound", {"loop", "extent"}},
        {"collapse", {"path", "loop"}},
        {"pos", {"path", "loop", "from"}},
        {"threads", {"path", "loop", "each"}},
        {"group", {"path", "loop", "width", "reduce"}},
        {"launch", {"path", "loop", "block", "warp"}},
        {"stage", {"path", "loop", "width"}},
        {"merge_path", {"path", "loop"}},
        {"gather", {"storage"}},
        {"store", {"tensor", "order", "first", "at"}},
        {"mask", {"tensor", "by"}},
        {"precompute", {"calls"}}};
    return all;
  }

  static const std::vector<std::string>& arguments_of(const std::string& directive) {
    const auto found = std::find_if(directives().begin(), directives().end(),
                                    [&](const auto& each) { return each.first == directive; });
    return found->second;
  }

  /// Checks the name of a directive; its error lists all of them.
  Result<void> check_name(const Word& name) const {
    std::vector<std::string> known;
    std::string all;
    for (const auto& [directive, arguments] : directives()) {
      all += (known.empty() ? "" : known.size() + 1 < directives().size() ? ", " : " and ") + directive;
      known.push_back(directive);
    }
    if (std::find(known.begin(), known.end(), name.text) != known.end()) return {};
    known.insert(known.end(), {"linear", "auto"});  // names of schedules, also valid instead of a trace
    return at(
        name.range, "unknown-directive",
        "`" + name.text + "` is no directive; there are " + all + support::did_you_mean(name.text, known));
  }

  Result<void> check_argument_name(const std::string& directive, const Word& name) const {
    const auto& known = arguments_of(directive);
    if (std::find(known.begin(), known.end(), name.text) != known.end()) return {};
    std::string all;
    for (const auto& one : known) all += (all.empty() ? "" : ", ") + one;
    return at(name.range, "unknown-argument",
              "`" + directive + "` has no argument `" + name.text + "`; it has " + all +
                  support::did_you_mean(name.text, known));
  }

  /// Gives the arguments of a call their types. Required ones may be missing, optional ones keep their
  /// defaults.
  Result<Directive> directive_of(const DirectiveCall& call) const {
    Path path;
    if (call.arguments.count("path")) {
      SCHAAS_ASSIGN_OR_RETURN(path, numbers(call, "path"));
    }
    if (call.name.text == "permute") {
      SCHAAS_ASSIGN_OR_RETURN(auto factors, numbers(call, "factors"));
      return Directive{Permute{std::move(path), std::move(factors)}};
    }
    if (call.name.text == "reorder") {
      SCHAAS_ASSIGN_OR_RETURN(auto order, names(call, "order"));
      return Directive{Reorder{std::move(path), std::move(order)}};
    }
    if (call.name.text == "block") {
      SCHAAS_ASSIGN_OR_RETURN(const int size, number(call, "size"));
      return Directive{Block{std::move(path), size}};
    }
    if (call.name.text == "share") {
      SCHAAS_ASSIGN_OR_RETURN(const int nest, number(call, "nest"));
      SCHAAS_ASSIGN_OR_RETURN(auto loops, names(call, "loops"));
      return Directive{Share{nest, std::move(loops)}};
    }
    if (call.name.text == "distribute") {
      SCHAAS_ASSIGN_OR_RETURN(const int depth, number(call, "depth"));
      return Directive{Distribute{std::move(path), depth}};
    }
    if (call.name.text == "sequence") {
      SCHAAS_ASSIGN_OR_RETURN(auto order, numbers(call, "order"));
      return Directive{Sequence{std::move(order)}};
    }
    if (call.name.text == "parallelize") {
      Parallelize parallelize{std::move(path), "", {}};
      SCHAAS_ASSIGN_OR_RETURN(parallelize.loop, loop(call));
      SCHAAS_ASSIGN_OR_RETURN(parallelize.races, races(call));
      return Directive{std::move(parallelize)};
    }
    if (call.name.text == "unroll") {
      SCHAAS_ASSIGN_OR_RETURN(auto index, loop(call));
      SCHAAS_ASSIGN_OR_RETURN(const int factor, number(call, "factor"));
      return Directive{Unroll{std::move(path), std::move(index), factor}};
    }
    if (call.name.text == "split") {
      Split split{std::move(path), "", 0, ""};
      SCHAAS_ASSIGN_OR_RETURN(split.loop, loop(call));
      SCHAAS_ASSIGN_OR_RETURN(split.factor, number(call, "factor"));
      SCHAAS_ASSIGN_OR_RETURN(split.outer, optional_loop(call, "outer"));
      return Directive{std::move(split)};
    }
    if (call.name.text == "divide") {
      Divide divide{std::move(path), "", 0, ""};
      SCHAAS_ASSIGN_OR_RETURN(divide.loop, loop(call));
      SCHAAS_ASSIGN_OR_RETURN(divide.parts, number(call, "parts"));
      SCHAAS_ASSIGN_OR_RETURN(divide.outer, optional_loop(call, "outer"));
      return Directive{std::move(divide)};
    }
    if (call.name.text == "bound") {
      SCHAAS_ASSIGN_OR_RETURN(auto index, loop(call));
      SCHAAS_ASSIGN_OR_RETURN(const int extent, number(call, "extent"));
      return Directive{Bound{std::move(index), extent}};
    }
    if (call.name.text == "collapse") {
      SCHAAS_ASSIGN_OR_RETURN(auto index, loop(call));
      return Directive{Collapse{std::move(path), std::move(index)}};
    }
    if (call.name.text == "pos") {
      SCHAAS_ASSIGN_OR_RETURN(auto index, loop(call));
      SCHAAS_ASSIGN_OR_RETURN(auto from, optional_loop(call, "from"));
      return Directive{Pos{std::move(path), std::move(index), std::move(from)}};
    }
    if (call.name.text == "threads") {
      Threads threads{std::move(path), "", 1, 1};
      SCHAAS_ASSIGN_OR_RETURN(threads.loop, loop(call));
      SCHAAS_RETURN_IF_ERROR(portion(call, threads));
      return Directive{std::move(threads)};
    }
    if (call.name.text == "group") {
      Group group{std::move(path), "", 1, {}};
      SCHAAS_ASSIGN_OR_RETURN(group.loop, loop(call));
      SCHAAS_ASSIGN_OR_RETURN(group.width, number(call, "width"));
      SCHAAS_ASSIGN_OR_RETURN(group.reduce, reduction(call));
      return Directive{std::move(group)};
    }
    if (call.name.text == "launch") {
      Launch launch{std::move(path), "", 0, 0};
      SCHAAS_ASSIGN_OR_RETURN(launch.loop, loop(call));
      SCHAAS_ASSIGN_OR_RETURN(launch.block, number(call, "block"));
      if (call.arguments.count("warp")) {
        SCHAAS_ASSIGN_OR_RETURN(launch.warp, number(call, "warp"));
      }
      return Directive{std::move(launch)};
    }
    if (call.name.text == "stage") {
      Stage stage{std::move(path), "", 0};
      SCHAAS_ASSIGN_OR_RETURN(stage.loop, loop(call));
      SCHAAS_ASSIGN_OR_RETURN(stage.width, number(call, "width"));
      return Directive{std::move(stage)};
    }
    if (call.name.text == "merge_path") {
      SCHAAS_ASSIGN_OR_RETURN(auto index, loop(call));
      return Directive{MergePath{std::move(path), std::move(index)}};
    }
    if (call.name.text == "gather") {
      SCHAAS_ASSIGN_OR_RETURN(const auto kept, storage(call));
      return Directive{WorkspaceStorage{kept}};
    }
    if (call.name.text == "mask") {
      Mask mask;
      SCHAAS_ASSIGN_OR_RETURN(const Word tensor, single(call, "tensor"));
      mask.tensor = tensor.text;
      SCHAAS_ASSIGN_OR_RETURN(mask.by, names(call, "by"));
      return Directive{std::move(mask)};
    }
    if (call.name.text == "precompute") {
      Precompute precompute;
      SCHAAS_ASSIGN_OR_RETURN(precompute.calls, numbers(call, "calls"));
      return Directive{std::move(precompute)};
    }
    if (call.name.text == "store") {
      Store store;
      SCHAAS_ASSIGN_OR_RETURN(const Word tensor, single(call, "tensor"));
      store.tensor = tensor.text;
      SCHAAS_ASSIGN_OR_RETURN(store.order, numbers(call, "order"));
      SCHAAS_ASSIGN_OR_RETURN(store.locates, locates(call));
      if (call.arguments.count("at")) {
        SCHAAS_ASSIGN_OR_RETURN(store.at, names(call, "at"));
      }
      return Directive{std::move(store)};
    }
    LoopFuse fuse;
    fuse.path = std::move(path);
    SCHAAS_ASSIGN_OR_RETURN(fuse.loc, number(call, "loc"));
    SCHAAS_ASSIGN_OR_RETURN(fuse.producer_left, is_left(call));
    if (call.arguments.count("fuse")) {
      SCHAAS_ASSIGN_OR_RETURN(fuse.fuse, number(call, "fuse"));
    }
    return Directive{std::move(fuse)};
  }

  /// Returns a required argument, which `list` and `single` then check for its form.
  Result<Argument> argument(const DirectiveCall& call, const char* name) const {
    const auto found = call.arguments.find(name);
    if (found != call.arguments.end()) return found->second.second;
    return at(call.name.range, "missing-argument",
              "`" + call.name.text + "` needs the argument `" + std::string(name) + "`");
  }

  Result<Argument> list(const DirectiveCall& call, const char* name) const {
    SCHAAS_ASSIGN_OR_RETURN(auto value, argument(call, name));
    if (value.is_list) return value;
    return at(value.range, "trace-syntax",
              "argument `" + std::string(name) + "` is a list in braces, like {0,1}");
  }

  Result<Word> single(const DirectiveCall& call, const char* name) const {
    SCHAAS_ASSIGN_OR_RETURN(const auto value, argument(call, name));
    if (!value.is_list) return value.words.front();
    return at(value.range, "trace-syntax",
              "argument `" + std::string(name) + "` is a single value, not a list");
  }

  Result<std::vector<int>> numbers(const DirectiveCall& call, const char* name) const {
    SCHAAS_ASSIGN_OR_RETURN(const auto value, list(call, name));
    std::vector<int> out;
    for (const Word& item : value.words) {
      SCHAAS_ASSIGN_OR_RETURN(const int one, number(item));
      out.push_back(one);
    }
    return out;
  }

  Result<int> number(const DirectiveCall& call, const char* name) const {
    SCHAAS_ASSIGN_OR_RETURN(const Word value, single(call, name));
    return number(value);
  }

  /// Reads a number of at most three digits: a position, a count of loops, threads or values of a block, or
  /// an extent.
  Result<int> number(const Word& item) const {
    const bool digits =
        std::all_of(item.text.begin(), item.text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (digits && item.text.size() <= 3) return std::stoi(item.text);
    return at(item.range, "trace-syntax", "expected a number from 0 to 999 but found `" + item.text + "`");
  }

  Result<std::vector<std::string>> names(const DirectiveCall& call, const char* name) const {
    SCHAAS_ASSIGN_OR_RETURN(const auto value, list(call, name));
    std::vector<std::string> out;
    for (const Word& item : value.words) out.push_back(item.text);
    return out;
  }

  Result<std::string> loop(const DirectiveCall& call) const {
    SCHAAS_ASSIGN_OR_RETURN(Word index, single(call, "loop"));
    return std::move(index.text);
  }

  Result<std::string> optional_loop(const DirectiveCall& call, const char* name) const {
    if (call.arguments.count(name) == 0) return std::string();
    SCHAAS_ASSIGN_OR_RETURN(Word index, single(call, name));
    return std::move(index.text);
  }

  Result<concrete_notation::Races> races(const DirectiveCall& call) const {
    using concrete_notation::Races;
    SCHAAS_ASSIGN_OR_RETURN(const Word word, single(call, "races"));
    for (const auto each : {Races::none, Races::atomics, Races::privates}) {
      if (word.text == concrete_notation::name(each)) return each;
    }
    return at(word.range, "trace-syntax",
              "argument `races` is `none`, `atomics` or `private`, not `" + word.text + "`");
  }

  Result<concrete_notation::GroupReduction> reduction(const DirectiveCall& call) const {
    using concrete_notation::GroupReduction;
    SCHAAS_ASSIGN_OR_RETURN(const Word word, single(call, "reduce"));
    for (const auto each : {GroupReduction::atomic, GroupReduction::parallel, GroupReduction::segment}) {
      if (word.text == concrete_notation::name(each)) return each;
    }
    return at(word.range, "trace-syntax",
              "argument `reduce` is `atomic`, `parallel` or `segment`, not `" + word.text + "`");
  }

  /// Parses `4` iterations for a thread, `1/4` of one, or `8/4`: eight that four threads share.
  Result<void> portion(const DirectiveCall& call, Threads& threads) const {
    SCHAAS_ASSIGN_OR_RETURN(const Word word, single(call, "each"));
    const auto slash = word.text.find('/');
    const Word first{word.text.substr(0, slash), word.range};
    SCHAAS_ASSIGN_OR_RETURN(threads.take, number(first));
    if (slash == std::string::npos) return {};
    SCHAAS_ASSIGN_OR_RETURN(threads.share, number(Word{word.text.substr(slash + 1), word.range}));
    return {};
  }

  Result<concrete_notation::Storage> storage(const DirectiveCall& call) const {
    using concrete_notation::Storage;
    SCHAAS_ASSIGN_OR_RETURN(const Word word, single(call, "storage"));
    for (const auto each : {Storage::dense, Storage::hash}) {
      if (word.text == concrete_notation::name(each)) return each;
    }
    return at(word.range, "trace-syntax", "argument `storage` is `dense` or `hash`, not `" + word.text + "`");
  }

  /// Reads whether the first level of a copy is to be dense.
  Result<bool> locates(const DirectiveCall& call) const {
    if (!call.arguments.count("first")) return false;
    SCHAAS_ASSIGN_OR_RETURN(const Word level, single(call, "first"));
    if (level.text == "dense") return true;
    return at(level.range, "trace-syntax", "argument `first` is `dense`, not `" + level.text + "`");
  }

  /// Reads the side that becomes the producer.
  Result<bool> is_left(const DirectiveCall& call) const {
    SCHAAS_ASSIGN_OR_RETURN(const Word side, single(call, "pol"));
    if (side.text == "left" || side.text == "right") return side.text == "left";
    return at(side.range, "trace-syntax",
              "pol says which side is the producer, `left` or `right`, but is `" + side.text + "`");
  }

  Result<Word> word(const char* what) {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && belongs_to_word(text_[at_])) ++at_;
    if (at_ == begin) return expected(what);
    return Word{std::string(text_.substr(begin, at_ - begin)),
                {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)}};
  }

  static bool belongs_to_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  }

  Result<void> take(char c) {
    if (accept(c)) return {};
    return expected(quoted(c));
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  /// Points at the next character, or right behind the text.
  Diagnostic expected(const std::string& what) const {
    const std::string found = at_ < text_.size() ? quoted(text_[at_]) : "the end of the text";
    const auto begin = static_cast<std::uint32_t>(at_);
    return at({begin, begin + 1}, "trace-syntax", "expected " + what + " but found " + found);
  }

  Diagnostic at(SourceRange range, const char* code, const std::string& message) const {
    return support::at(support::invalid(code, message), "schedule", std::string(text_), range);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Trace> parse(std::string_view text) { return Parser(text).whole(); }

}  // namespace schaas::schedule
