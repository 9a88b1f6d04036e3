#include "schaas/product.h"

#include <cctype>

#include "compiler/support/limits.h"

namespace schaas::client {
namespace {

using support::Limits;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  support::Result<Product> product() {
    Product product;
    SCHAAS_ASSIGN_OR_RETURN(product.result, access());
    if (!take('=')) return expected("`=`");
    do {
      SCHAAS_ASSIGN_OR_RETURN(Product::Access operand, access());
      product.operands.push_back(std::move(operand));
    } while (take('*'));
    take(';');
    skip_space();
    if (at_ < text_.size()) return expected("`*` or the end");
    return product;
  }

 private:
  static bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool continues_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '\'';
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  support::Result<std::string> name(const char* what) {
    skip_space();
    if (at_ >= text_.size() || !starts_name(text_[at_])) return expected(what);
    const std::size_t begin = at_;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // `B(i,j)`; a scalar is `s` or `s()`.
  support::Result<Product::Access> access() {
    Product::Access access;
    SCHAAS_ASSIGN_OR_RETURN(access.tensor, name("a tensor name"));
    if (!take('(')) return access;
    if (take(')')) return access;
    do {
      SCHAAS_ASSIGN_OR_RETURN(std::string index, name("an index name"));
      access.indices.push_back(std::move(index));
      if (access.indices.size() > Limits::order) {
        return support::unsupported("product-size", "`" + access.tensor + "` has more than " +
                                                        std::to_string(Limits::order) + " indices");
      }
    } while (take(','));
    if (!take(')')) return expected("`,` or `)`");
    return access;
  }

  support::Diagnostic expected(const std::string& what) {
    skip_space();
    const auto begin = static_cast<std::uint32_t>(at_);
    const std::string found = at_ < text_.size() ? std::string("`") + text_[at_] + "`" : "the end";
    return support::at(support::invalid("product-syntax", "expected " + what + ", found " + found),
                       "expression", std::string(text_), {begin, begin + 1});
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

support::Result<Product> parse_product(std::string_view expression) {
  if (expression.size() > Limits::expression_bytes) {
    return support::invalid("product-syntax", "the expression is longer than " +
                                                  std::to_string(Limits::expression_bytes) + " bytes");
  }
  return Reader(expression).product();
}

}  // namespace schaas::client
