#pragma once
#include <string>
#include <string_view>

namespace schaas::codegen {

/// Indented lines of C.
class CText {
 public:
  void line(std::string_view text);
  /// A line without indentation (preprocessor).
  void directive(std::string_view text);
  void open(std::string_view text);  ///< "text {" and one level deeper
  void close(std::string_view text = "}");
  void raw(std::string_view text) { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

/// A C string literal; everything but printable ASCII is escaped, lines are kept apart for the reader.
std::string c_literal(std::string_view text);

}  // namespace schaas::codegen
