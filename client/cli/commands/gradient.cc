#include <memory>

#include "client/cli/command_line.h"
#include "client/cli/named_values.h"
#include "schaas/gradient.h"

// schaas gradient: the program of a derivative, to be given to the other commands. No server is asked.
namespace schaas::cli {
namespace {

struct GradientTexts {
  std::string expression, of, seed, name;
  std::vector<std::string> formats;
};

support::Result<Answer> differentiate(const GradientTexts& texts) {
  SCHAAS_ASSIGN_OR_RETURN(const auto formats,
                          parse_named(texts.formats, {"-f", "NAME", "FORMAT", "-f B=csr"}));
  SCHAAS_ASSIGN_OR_RETURN(const std::string program,
                          client::gradient(texts.expression, {texts.of, texts.seed, texts.name, formats}));
  Answer answer;
  answer.text = program + "\n";
  answer.json = {{"expression", texts.expression}, {"of", texts.of}, {"program", program}};
  return answer;
}

}  // namespace

void add_gradient(CLI::App& program, Action& chosen) {
  auto texts = std::make_shared<GradientTexts>();
  CLI::App* command = program.add_subcommand(
      "gradient",
      "Print the program of a derivative: of a scalar result, or of sum(Y * dY) of another result Y");
  command->add_option("EXPR", texts->expression, "The program, as in 'y(i) = A(i,j) * x(j)'")->required();
  command->add_option("--of", texts->of, "Operand with respect to which is differentiated")
      ->required()
      ->type_name("NAME");
  command
      ->add_option(
          "-f,--format", texts->formats,
          "Format of an operand: -f B=csr (default: dense); the derivative by a sparse one has its entries")
      ->type_name("NAME=FORMAT")
      ->allow_extra_args(false);
  command
      ->add_option("--seed", texts->seed,
                   "Name of the operand dY that weights the result (default: d and the result's name; a "
                   "scalar has none)")
      ->type_name("NAME");
  command->add_option("--name", texts->name, "Name of the derivative (default: d and the operand's name)")
      ->type_name("NAME");
  command->callback([texts, &chosen] { chosen = [texts] { return differentiate(*texts); }; });
}

}  // namespace schaas::cli
