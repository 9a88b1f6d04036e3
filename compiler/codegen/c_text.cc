#include "compiler/codegen/c_text.h"

#include <algorithm>
#include <string>

// Lines of C with indentation. Literals escape all but printable ASCII, and question marks, two of which may
// begin a trigraph; no byte of a label can end its literal.
namespace schaas::codegen {

void CText::line(std::string_view text) {
  text_.append(static_cast<std::size_t>(2 * depth_), ' ');
  text_ += text;
  text_ += '\n';
}

void CText::directive(std::string_view text) {
  text_ += text;
  text_ += '\n';
}

void CText::comment(std::string_view lines) {
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    line("// " + std::string(lines.substr(0, end)));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
}

void CText::open(std::string_view text) {
  line(text.empty() ? "{" : std::string(text) + " {");
  ++depth_;
}

void CText::close(std::string_view text) {
  --depth_;
  line(text);
}

std::string c_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n\"\n    \"";
    } else if (byte >= 0x20 && byte < 0x7f && c != '?') {
      out += c;
    } else {  // three octal digits: never swallows the character that follows
      out += '\\';
      out += static_cast<char>('0' + (byte >> 6));
      out += static_cast<char>('0' + ((byte >> 3) & 7));
      out += static_cast<char>('0' + (byte & 7));
    }
  }
  return out + "\"";
}

}  // namespace schaas::codegen
