#include "client/cli/answer.h"

// Answers as JSON. Texts may hold bytes that are no UTF-8, as names of files do: they are replaced, since an
// answer must always be JSON.
namespace schaas::cli {

Json error_object(const support::Diagnostic& d) {
  Json error = {{"family", support::name(d.family)}, {"code", d.code}, {"message", d.message}};
  if (d.range) {
    error["source_name"] = d.source_name;
    error["source"] = d.source;
    error["first_line"] = d.first_line;
    error["begin"] = d.range->begin;
    error["end"] = d.range->end;
  }
  error["notes"] = d.notes;
  return {{"error", std::move(error)}};
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace schaas::cli
