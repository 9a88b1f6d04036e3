#include "compiler/problem/space_options.h"

#include <algorithm>

#include "compiler/support/nearest_name.h"

// Names of the options that widen the schedule space (docs/schedule_space.md, "Wider spaces"). `all` leaves
// copies out: it stands for the options of one recursion, and each set of copies is a problem of its own.
namespace schaas::problem {

std::vector<SpaceOption> SpaceOptions::list() const {
  std::vector<SpaceOption> out;
  for (const auto one : {SpaceOption::shorter_fusion, SpaceOption::stored_producers, SpaceOption::row_blocks,
                         SpaceOption::copies, SpaceOption::free_copies}) {
    if (has(one)) out.push_back(one);
  }
  return out;
}

const char* name(SpaceOption option) {
  switch (option) {
    case SpaceOption::shorter_fusion:
      return "shorter-fusion";
    case SpaceOption::stored_producers:
      return "stored-producers";
    case SpaceOption::row_blocks:
      return "row-blocks";
    case SpaceOption::copies:
      return "copies";
    case SpaceOption::free_copies:
      return "free-copies";
  }
  return "";
}

std::string print(SpaceOptions options) {
  std::string out;
  for (const SpaceOption one : options.list()) out += (out.empty() ? "" : ",") + std::string(name(one));
  return out.empty() ? "none" : out;
}

support::Result<SpaceOptions> parse_space_options(std::string_view text) {
  if (text.empty() || text == "none") return SpaceOptions();
  if (text == "all") return SpaceOptions::all();
  const auto known = (SpaceOptions::all() | SpaceOption::copies | SpaceOption::free_copies).list();
  SpaceOptions out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const auto found = std::find_if(known.begin(), known.end(), [&](auto one) { return word == name(one); });
    if (found == known.end()) {
      std::vector<std::string> names;
      std::string all;
      for (const auto one : known) {
        names.emplace_back(name(one));
        all += std::string("`") + name(one) + "`, ";
      }
      return support::invalid("space", "unknown part of the schedule space `" + std::string(word) +
                                           "`, expected " + all + "`all` or `none`" +
                                           support::did_you_mean(word, names));
    }
    out = out | *found;
    begin = end + 1;
  }
  return out;
}

}  // namespace schaas::problem
