#include "compiler/codegen/value_declarations.h"

namespace schaas::codegen {

std::string value_declarations(operators::ValueType type) {
  const operators::ValueTypeFacts& known = operators::facts(operators::arithmetic_type(type));
  std::string text =
      std::string("typedef ") + known.c_type + " value;\ntypedef " + known.c_word + " value_word;\n";
  if (operators::is_narrow(type))
    return text + "#define VALUES_ARE_NARROW\ntypedef " + operators::facts(type).c_type + " stored;\n";
  if (!known.is_integer) return text;
  const std::string range = "((value)INT" + std::to_string(8 * known.bytes);
  text += "#define VALUE_IS_INTEGER /* compile with -fwrapv */\n";
  text += "#define VALUE_LARGEST " + range + "_MAX)\n#define VALUE_SMALLEST " + range + "_MIN)\n";
  return text;
}

}  // namespace schaas::codegen
