#include "compiler/codegen/value_declarations.h"

namespace schaas::codegen {

using operators::ValueType;

std::string value_declarations(ValueType type) {
  const operators::ValueTypeFacts& known = operators::facts(type);
  std::string text =
      std::string("typedef ") + known.c_type + " value;\ntypedef " + known.c_word + " value_word;\n";
  text += "#define VALUE_BYTES " + std::to_string(known.bytes) + "\n";
  if (operators::is_complex(type)) {
    text += "#define VALUE_IS_COMPLEX\n";
    text += std::string("typedef ") + operators::facts(known.part).c_type + " value_part;\n";
  }
  if (!known.is_integer) return text;
  text += "#define VALUE_IS_INTEGER /* compile with -fwrapv */\n";
  const std::string smallest =
      known.smallest == 0 ? "0" : "(" + std::to_string(known.smallest + 1) + " - 1)";  // C has no -2^63
  text += "#define VALUE_LARGEST ((value)" + std::to_string(known.largest) + "u)\n";
  return text + "#define VALUE_SMALLEST ((value)" + smallest + ")\n";
}

std::string stored_declarations(ValueType type) {
  if (type == ValueType::bf16 || type == ValueType::f16) return "";
  return std::string("DEFINE_STORED(") + operators::name(type) + ", " + operators::facts(type).c_type + ")\n";
}

}  // namespace schaas::codegen
