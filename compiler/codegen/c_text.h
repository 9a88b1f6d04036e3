#pragma once
#include <string>
#include <string_view>

namespace schaas::codegen {

/// Indented lines of C.
class CText {
 public:
  void line(std::string_view text);
  /// Appends a line without indentation (preprocessor).
  void directive(std::string_view text);
  void comment(std::string_view lines);  ///< each line after `//`
  void open(std::string_view text);      ///< "text {" and one level deeper
  void close(std::string_view text = "}");
  void raw(std::string_view text) { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

/// Returns a C string literal; all but printable ASCII is escaped, lines stay apart for readers.
std::string c_literal(std::string_view text);

}  // namespace schaas::codegen
