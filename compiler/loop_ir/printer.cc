#include "compiler/loop_ir/printer.h"

namespace schaas::loop_ir {
namespace {

class Printer {
 public:
  std::string kernel(const Kernel& kernel) {
    open(std::string("kernel ") + (kernel.value_type == ValueType::f64 ? "f64" : "f32") + " arguments " +
         std::to_string(kernel.arguments));
    for (const auto& each : kernel.extents) extent(each);
    for (const auto& each : kernel.lets) let(each);
    for (const auto& each : kernel.arrays) array(each);
    for (const auto& each : kernel.phases) phase(each);
    close();
    return text_;
  }

 private:
  void line(const std::string& text) {
    text_.append(static_cast<std::size_t>(2 * depth_), ' ');
    text_ += text;
    text_ += '\n';
  }
  void open(const std::string& text) {
    line(text + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }

  void extent(const Extent& extent) {
    line("extent " + extent.name + " = argument " + std::to_string(extent.argument) + " mode " +
         std::to_string(extent.mode) +
         (extent.required ? " required " + std::to_string(*extent.required) : ""));
  }

  void let(const Let& let) {
    line("let " + let.name + ": " + (let.type == Type::index ? "index" : "value") + " = " + print(let.value));
  }

  void array(const Array& array) {
    static constexpr const char* elements[] = {"value", "index32", "index64"};
    const auto at = [](const char* what, int argument, int level) {
      return what + std::to_string(argument) + " level " + std::to_string(level);
    };
    const std::string origin = std::visit(
        Match{
            [](const ArgumentValues& x) { return "values " + std::to_string(x.argument); },
            [&](const Positions& x) { return at("positions ", x.argument, x.level); },
            [&](const Coordinates& x) { return at("coordinates ", x.argument, x.level); },
            [](const Shared& x) { return "shared " + std::to_string(x.slot) + " count " + print(x.count); },
            [](const Workspace& x) { return "workspace count " + print(x.count); },
        },
        array.origin);
    line("array " + array.name + ": " + elements[static_cast<int>(array.element)] + " = " + origin +
         (array.written ? " written" : ""));
  }

  void phase(const Phase& phase) {
    std::string text = "phase range " + print(phase.range);
    if (phase.parallel) text += " parallel";
    if (phase.balance_argument >= 0) {
      text += " balance " + std::to_string(phase.balance_argument) + " level " +
              std::to_string(phase.balance_level);
    }
    open(text);
    statement(phase.body);
    close();
  }

  void statement(const StatementPtr& statement_ptr) {
    std::visit(Match{
                   [&](const Block& x) {
                     for (const auto& each : x.statements) statement(each);
                   },
                   [&](const Let& x) { let(x); },
                   [&](const Accumulator& x) { line("sum " + x.name); },
                   [&](const Accumulate& x) { line(x.name + " += " + print(x.value)); },
                   [&](const Store& x) {
                     line(x.array + "[" + print(x.index) + "]" + (x.mode == Write::set ? " = " : " += ") +
                          print(x.value));
                   },
                   [&](const For& x) { loop(x); },
                   [&](const Merge& x) { merge(x); },
                   [&](const Clear& x) { line("clear " + x.array + " count " + print(x.count)); },
               },
               statement_ptr->node);
  }

  void loop(const For& loop) {
    static constexpr const char* shapes[] = {"for ", "for simd ", "for lanes "};
    open(shapes[static_cast<int>(loop.shape)] + loop.variable + " in " + print(loop.begin) + " .. " +
         print(loop.end) + (loop.step == 1 ? "" : " by " + std::to_string(loop.step)));
    statement(loop.body);
    close();
  }

  void merge(const Merge& merge) {
    std::string text = "merge " + merge.variable + " at ";
    for (std::size_t n = 0; n < merge.cursors.size(); ++n) {
      const auto& cursor = merge.cursors[n];
      text += (n > 0 ? ", " : "") + cursor.position + " over " + cursor.coordinates + " in " +
              print(cursor.begin) + " .. " + print(cursor.end);
    }
    open(text);
    statement(merge.body);
    close();
  }

  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer().kernel(kernel); }

std::string print(const ExpressionPtr& expression) {
  return std::visit(Match{
                        [](const Integer& x) { return std::to_string(x.value); },
                        [](const Name& x) { return x.name; },
                        [](const Load& x) { return x.array + "[" + print(x.index) + "]"; },
                        [](const Add& x) { return "(" + print(x.left) + " + " + print(x.right) + ")"; },
                        [](const Multiply& x) { return "(" + print(x.left) + " * " + print(x.right) + ")"; },
                        [](const Minimum& x) { return "min(" + print(x.left) + ", " + print(x.right) + ")"; },
                        [](const Search& x) {
                          return "search(" + x.array + ", " + print(x.begin) + ", " + print(x.end) + ", " +
                                 print(x.key) + ")";
                        },
                        [](const Zero&) { return std::string("zero"); },
                    },
                    expression->node);
}

}  // namespace schaas::loop_ir
