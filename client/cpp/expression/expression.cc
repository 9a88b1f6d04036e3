#include "schaas/expression.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "client/cpp/platform/number_text.h"
#include "compiler/support/limits.h"

namespace schaas::client {
namespace {

using support::Limits;
using support::Result;

Expression operation(Function function, std::vector<Expression> arguments) {
  return {Operation{function, std::move(arguments)}};
}

// `a * b * c` is one product: a product's arguments take the next factor.
Expression appended(Function function, Expression left, Expression right) {
  std::vector<Expression> arguments;
  for (Expression* side : {&left, &right}) {
    auto* same = std::get_if<Operation>(&side->value);
    if (same != nullptr && same->function == function) {
      for (auto& argument : same->arguments) arguments.push_back(std::move(argument));
    } else {
      arguments.push_back(std::move(*side));
    }
  }
  return operation(function, std::move(arguments));
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Program> program() {
    Program program;
    SCHAAS_RETURN_IF_ERROR(semiring(program));
    do {
      SCHAAS_ASSIGN_OR_RETURN(Statement one, statement(*program.semiring));
      program.statements.push_back(std::move(one));
    } while (take(";") && !at_end());
    if (!at_end()) return expected("an operator, `;` or the end");
    return program;
  }

 private:
  static bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool continues_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '\'';
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }

  bool take(std::string_view token) {
    skip_space();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  std::string word() {
    skip_space();
    const std::size_t begin = at_;
    if (at_ < text_.size() && starts_name(text_[at_])) {
      while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<std::string> name(const char* what) {
    std::string found = word();
    if (found.empty()) return expected(what);
    return found;
  }

  // `min-plus:` before the first statement.
  Result<void> semiring(Program& program) {
    const std::size_t colon = text_.find(':');
    if (colon == std::string_view::npos) return {};
    skip_space();
    std::size_t end = colon;
    while (end > at_ && std::isspace(static_cast<unsigned char>(text_[end - 1])) != 0) --end;
    for (const Semiring& known : semirings()) {
      if (text_.substr(at_, end - at_) != known.name) continue;
      program.semiring = &known;
      at_ = colon + 1;
      return {};
    }
    return expected("the name of a semiring before `:`");
  }

  Result<Statement> statement(const Semiring& semiring) {
    Statement statement;
    SCHAAS_ASSIGN_OR_RETURN(std::string tensor, name("a tensor name"));
    SCHAAS_ASSIGN_OR_RETURN(statement.result, access(std::move(tensor)));
    const std::pair<const char*, Fold> updates[] = {
        {"+=", semiring.sum},    {"*=", Fold::product},     {"max=", Fold::maximum},
        {"min=", Fold::minimum}, {"or=", Fold::logical_or}, {"and=", Fold::logical_and},
    };
    for (const auto& [text, fold] : updates) {
      if (statement.update.has_value() || !take(text)) continue;
      statement.update = fold;
    }
    if (!statement.update && !take("=")) return expected("`=`");
    SCHAAS_ASSIGN_OR_RETURN(statement.value, comparison());
    return statement;
  }

  Result<Expression> comparison() {
    SCHAAS_ASSIGN_OR_RETURN(Expression left, sum());
    static constexpr std::pair<const char*, Function> operators[] = {
        {"<=", Function::less_equal}, {">=", Function::greater_equal}, {"==", Function::equal},
        {"!=", Function::not_equal},  {"<", Function::less},           {">", Function::greater},
    };
    for (std::size_t o = 0; o < std::size(operators);) {
      if (!take(operators[o].first)) {
        ++o;
        continue;
      }
      SCHAAS_ASSIGN_OR_RETURN(Expression right, sum());
      left = operation(operators[o].second, {std::move(left), std::move(right)});
      o = 0;
    }
    return left;
  }

  Result<Expression> sum() {
    SCHAAS_ASSIGN_OR_RETURN(Expression left, term());
    for (;;) {
      if (take("+")) {
        SCHAAS_ASSIGN_OR_RETURN(Expression right, term());
        left = appended(Function::add, std::move(left), std::move(right));
      } else if (take("-")) {
        SCHAAS_ASSIGN_OR_RETURN(Expression right, term());
        left = operation(Function::subtract, {std::move(left), std::move(right)});
      } else {
        return left;
      }
    }
  }

  Result<Expression> term() {
    SCHAAS_ASSIGN_OR_RETURN(Expression left, factor());
    for (;;) {
      if (take("*")) {
        SCHAAS_ASSIGN_OR_RETURN(Expression right, factor());
        left = appended(Function::multiply, std::move(left), std::move(right));
      } else if (take("/")) {
        SCHAAS_ASSIGN_OR_RETURN(Expression right, factor());
        left = operation(Function::divide, {std::move(left), std::move(right)});
      } else {
        return left;
      }
    }
  }

  Result<Expression> factor() {
    SCHAAS_RETURN_IF_ERROR(enter());
    if (take("-")) {
      SCHAAS_ASSIGN_OR_RETURN(Expression of, factor());
      --depth_;
      return operation(Function::negate, {std::move(of)});
    }
    SCHAAS_ASSIGN_OR_RETURN(Expression found, primary());
    --depth_;
    return found;
  }

  Result<Expression> primary() {
    if (take("(")) {
      SCHAAS_ASSIGN_OR_RETURN(Expression inside, comparison());
      if (!take(")")) return expected("an operator or `)`");
      return inside;
    }
    skip_space();
    if (at_ < text_.size() &&
        (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.'))
      return number();
    SCHAAS_ASSIGN_OR_RETURN(std::string found, name("a tensor, a number or `(`"));
    if (const auto fold = fold_named(found); fold && reduction_follows()) return reduction(*fold);
    skip_space();
    const CallForm* form = call_named(found);
    const bool opens = at_ < text_.size() && text_[at_] == '(';
    if (form != nullptr && opens) return call(*form);
    if (found == "inf" && !opens) return Expression{std::numeric_limits<double>::infinity()};
    SCHAAS_ASSIGN_OR_RETURN(Access one, access(std::move(found)));
    return Expression{std::move(one)};
  }

  Result<Expression> number() {
    const std::size_t begin = at_;
    const auto digit = [&] {
      return at_ < text_.size() &&
             (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.');
    };
    while (digit()) ++at_;
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      while (digit()) ++at_;
    }
    double value = 0;
    if (parse_real(text_.substr(begin, at_ - begin), value) != NumberError::none) {
      at_ = begin;
      return expected("a number");
    }
    return Expression{value};
  }

  // `(names) (` comes next: then `max` is a reduction, otherwise a function.
  bool reduction_follows() {
    const std::size_t start = at_;
    bool follows = take("(");
    while (follows && !word().empty() && take(",")) continue;
    follows = follows && take(")") && take("(");
    at_ = start;
    return follows;
  }

  Result<Expression> reduction(Fold fold) {
    Reduction reduction{fold, {}, {}};
    take("(");
    do {
      SCHAAS_ASSIGN_OR_RETURN(std::string index, name("an index name"));
      reduction.indices.push_back(std::move(index));
    } while (take(","));
    take(")");
    take("(");
    SCHAAS_ASSIGN_OR_RETURN(Expression body, comparison());
    if (!take(")")) return expected("an operator or `)`");
    reduction.body.push_back(std::move(body));
    return Expression{std::move(reduction)};
  }

  Result<Expression> call(const CallForm& form) {
    take("(");
    std::vector<Expression> arguments;
    do {
      SCHAAS_ASSIGN_OR_RETURN(Expression argument, comparison());
      arguments.push_back(std::move(argument));
    } while (take(","));
    if (arguments.size() < form.least || arguments.size() > form.most) {
      return expected(std::to_string(form.least) + (form.most > form.least ? " or more" : "") +
                      " arguments of `" + form.name + "`");
    }
    if (!take(")")) return expected("`,` or `)`");
    return operation(form.function, std::move(arguments));
  }

  // `B(i,j)`; a scalar is `s` or `s()`.
  Result<Access> access(std::string tensor) {
    Access access{std::move(tensor), {}};
    if (!take("(") || take(")")) return access;
    do {
      SCHAAS_ASSIGN_OR_RETURN(std::string index, name("an index name"));
      access.indices.push_back(std::move(index));
      if (access.indices.size() > Limits::order)
        return expected("at most " + std::to_string(Limits::order) + " indices");
    } while (take(","));
    if (!take(")")) return expected("`,` or `)`");
    return access;
  }

  Result<void> enter() {
    if (++depth_ > Limits::nesting)
      return expected("at most " + std::to_string(Limits::nesting) + " nested parentheses");
    return {};
  }

  support::Diagnostic expected(const std::string& what) {
    skip_space();
    const auto begin = static_cast<std::uint32_t>(at_);
    const std::string found = at_ < text_.size() ? std::string("`") + text_[at_] + "`" : "the end";
    return support::at(support::invalid("expression-syntax", "expected " + what + ", found " + found),
                       "expression", std::string(text_), {begin, begin + 1});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

void collect(const Expression& expression, std::vector<Access>& found) {
  if (const auto* access = std::get_if<Access>(&expression.value)) {
    found.push_back(*access);
  } else if (const auto* operation = std::get_if<Operation>(&expression.value)) {
    for (const auto& argument : operation->arguments) collect(argument, found);
  } else if (const auto* reduction = std::get_if<Reduction>(&expression.value)) {
    collect(reduction->body.front(), found);
  }
}

template <class Value>
void add_distinct(std::vector<Value>& list, const Value& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

}  // namespace

std::string print(const Access& access) {
  if (access.indices.empty()) return access.tensor;
  std::string out = access.tensor + "(";
  for (std::size_t mode = 0; mode < access.indices.size(); ++mode)
    out += (mode ? "," : "") + access.indices[mode];
  return out + ")";
}

bool operator==(const Operation& a, const Operation& b) {
  return a.function == b.function && a.arguments == b.arguments;
}
bool operator==(const Reduction& a, const Reduction& b) {
  return a.fold == b.fold && a.indices == b.indices && a.body == b.body;
}
bool operator==(const Expression& a, const Expression& b) { return a.value == b.value; }

support::Result<Program> parse_program(std::string_view text) {
  if (text.size() > Limits::expression_bytes) {
    return support::invalid("expression-syntax", "the expression is longer than " +
                                                     std::to_string(Limits::expression_bytes) + " bytes");
  }
  return Reader(text).program();
}

std::vector<Access> accesses(const Expression& expression) {
  std::vector<Access> found;
  collect(expression, found);
  return found;
}

std::vector<Access> operands(const Program& program) {
  std::vector<Access> found;
  for (const Statement& statement : program.statements) {
    for (Access& access : accesses(statement.value)) {
      const auto defines = [&](const Statement& each) { return each.result.tensor == access.tensor; };
      if (std::none_of(program.statements.begin(), program.statements.end(), defines))
        found.push_back(std::move(access));
    }
  }
  return found;
}

std::vector<std::string> arguments(const Program& program) {
  std::vector<std::string> names = {program.result().tensor};
  for (const Access& access : operands(program)) add_distinct(names, access.tensor);
  return names;
}

std::vector<std::string> indices_of(const Program& program) {
  std::vector<std::string> indices = {};
  const auto add = [&](const Access& access) {
    for (const auto& index : access.indices) add_distinct(indices, index);
  };
  add(program.result());
  for (const Statement& statement : program.statements) {
    add(statement.result);
    for (const Access& access : accesses(statement.value)) add(access);
  }
  return indices;
}

std::vector<std::pair<std::string, std::string>> linked_indices(const Program& program) {
  std::vector<std::pair<std::string, std::string>> links;
  for (const Statement& statement : program.statements) {
    for (const Access& access : accesses(statement.value)) {
      for (const Statement& definition : program.statements) {
        const auto& defined = definition.result.indices;
        if (definition.result.tensor != access.tensor || defined.size() != access.indices.size()) continue;
        for (std::size_t mode = 0; mode < defined.size(); ++mode) {
          if (defined[mode] != access.indices[mode])
            add_distinct(links, std::pair{defined[mode], access.indices[mode]});
        }
      }
    }
  }
  return links;
}

}  // namespace schaas::client
