#include "client/cpp/remote/answer_json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

// One list of fields per struct serves both directions: the reader and the writer are visitors of it, so they
// cannot differ. The form is the JSON mapping of the message schaas.v1.Bundle: numbers of 64 bits are
// strings, and values that equal their default are left out. It is written here, so that libschaas.so needs
// no protocol library (docs/decisions/0004).
// A file may come from anybody. The reader checks types and ranges of numbers; is_sound() checks the numbers
// by which selection indexes arrays. Exceptions of the JSON library end in answers_of_json().
namespace schaas::client {
namespace {

using Json = nlohmann::ordered_json;

// ---- fields
// -------------------------------------------------------------------------------------------------

template <class V>
void fields(V& v, Variable& x) {
  v.choice("kind", x.kind, {"EXTENT", "FIBER", "MATCHES", "STEPS"});
  v("index", x.index);
  v("tensor", x.tensor);
  v("level", x.level);
  v("copy_of", x.copy_of);
  v("outer", x.outer);
  v("outer_dense", x.outer_dense);
  v("lists", x.lists);
}
template <class V>
void fields(V& v, Term& x) {
  v("weight", x.weight);
  v("variables", x.variables);
  v("serial", x.serial);
  v.added_choice("scope", x.scope, {"SCOPE_UNSPECIFIED", "THREAD", "SHARED", "OPERAND"});
}
template <class V>
void fields(V& v, Nest::Loop& x) {
  v("trips", x.trips);
  v("block", x.block);
  v("inside", x.inside);
  v("under", x.under);
  v("index", x.index);
}
template <class V>
void fields(V& v, Nest::Access& x) {
  v("tensor", x.tensor);
  v("sparse", x.sparse);
  v("loops", x.loops);
  v("unit", x.unit);
}
template <class V>
void fields(V& v, Nest& x) {
  v("loops", x.loops);
  v("accesses", x.accesses);
  v("shared", x.shared);
  v("serial", x.serial);
  v("weight", x.weight);
}
template <class V>
void fields(V& v, Variant& x) {
  v("trace", x.trace);
  v("nests", x.nests);
  v("tree", x.tree);
  v("memory_terms", x.memory_terms);
}
template <class V>
void fields(V& v, FrontierEntry& x) {
  v("id", x.id);
  v("trace", x.trace);
  v("tree", x.tree);
  v("time", x.time);
  v("memory", x.memory);
  v("time_terms", x.time_terms);
  v("memory_terms", x.memory_terms);
  v("members", x.members);
  v("loop_trees", x.loop_trees);
  v("other_traces", x.other_traces);
  v("wins", x.wins);
  v("code", x.code);
  v("variants", x.variants);
}
template <class V>
void fields(V& v, GpuPhase& x) {
  v("columns", x.columns);
  v("columns_take", x.columns_take);
  v("rows", x.rows);
  v("take", x.take);
  v("share", x.share);
  v("width", x.width);
  v("segments", x.segments);
  v("side_by_side", x.side_by_side);
  v("block", x.block);
  v("one_writer", x.exclusive_writes);
}
template <class V>
void fields(V& v, GpuSchedule& x) {
  v("id", x.id);
  v("entry", x.entry);
  v("trace", x.trace);
  v("tree", x.tree);
  v("point", x.point);
  v("order_is_chance", x.nondeterministic);
  v("phases", x.phases);
  v("nests", x.nests);
  v("memory_terms", x.memory_terms);
}
template <class V>
void fields(V& v, Counts& x) {
  v("space", x.space);
  v("stage1", x.stage1);
  v("stage2", x.stage2);
  v("stage3", x.stage3);
  v("states", x.states);
  v("classes_stage1", x.classes_stage1);
  v("classes_stage2", x.classes_stage2);
  v("classes_stage3", x.classes_stage3);
  v("solver_queries", x.solver_queries);
  v("solver_unknown", x.solver_unknown);
  v("log_proofs", x.log_proofs);
  v("witnesses", x.witnesses);
  v("solver_pairs", x.solver_pairs);
  v("solver_milliseconds", x.solver_milliseconds);
  v("solver_worst_milliseconds", x.solver_worst_milliseconds);
  v("spaces", x.spaces);
}
template <class V>
void fields(V& v, std::pair<std::string, std::string>& x) {  // Counts::spaces
  v("name", x.first);
  v("members", x.second);
}
template <class V>
void fields(V& v, StageSeconds& x) {
  v("space", x.space);
  v("stage1", x.stage1);
  v("stage2", x.stage2);
  v("stage3", x.stage3);
  v("total", x.total);
}
template <class V>
void fields(V& v, Measurement& x) {
  v("trace", x.trace);
  v("sizes", x.sizes);
  v("threads", x.threads);
  v("isa", x.isa);
  v("seconds", x.seconds);
}
template <class V>
void fields(V& v, Removal& x) {
  v("time", x.time);
  v("memory", x.memory);
  v("by", x.by);
  v("kind", x.kind);
  v("argument", x.argument);
  v("id", x.id);
  v("time_terms", x.time_terms);
  v("memory_terms", x.memory_terms);
  v("winner", x.winner);
}
template <class V>
void fields(V& v, Constraint::Factor& x) {
  v.choice("kind", x.kind, {"EXTENT", "NONZEROS"});
  v("name", x.name);
  v("levels", x.levels);
  v("exponent", x.exponent);
}
template <class V>
void fields(V& v, Constraint::Monomial& x) {
  v("coefficient", x.coefficient);
  v("factors", x.factors);
}
template <class V>
void fields(V& v, Constraint& x) {
  v("left", x.left);
  v("right", x.right);
}
template <class V>
void fields(V& v, Frontier& x) {
  v("key", x.key);
  v("canonical", x.canonical);
  v("constraints", x.constraints);
  v("entries", x.entries);
  v("counts", x.counts);
  v("seconds", x.seconds);
  v("complete", x.complete);
  v("arguments", x.arguments);
  v("user_tensors", x.user_tensors);
  v("user_indices", x.user_indices);
  v("removals", x.removals);
  v("statement", x.statement);
  v("removed", x.removed);
  v("hit", x.hit);
  v("partial", x.partial);
  v("looser", x.relaxed_from);
  v("limited", x.limited);
  v("measurements", x.measurements);
  v("gpu", x.gpu);
  v("signature", x.signature);
}
template <class V>
void fields(V& v, support::Digest& x) {
  v("sha256", x.sha256);
  v("bytes", x.bytes);
}
template <class V>
void fields(V& v, KernelInfo& x) {
  v("id", x.id);
  v("kernel_key", x.kernel_key);
  v("trace", x.trace);
  v("isa", x.isa);
  v("digest", x.digest);
  v("compile_seconds", x.compile_seconds);
  v("hit", x.hit);
  v("tree", x.tree);
  v("time", x.time);
  v("memory", x.memory);
  v("time_terms", x.time_terms);
  v("memory_terms", x.memory_terms);
  v("draft", x.baseline);
  v("signature", x.signature);
  v("nondeterministic", x.nondeterministic);
}
template <class V>
void fields(V& v, ProblemText& x) {
  v("expression", x.expression);
  v("formats", x.formats);
  v("constraints", x.constraints);
  v.added_choice("value_type", x.value_type, {"f64", "f32"});
  v("position_bits", x.position_bits);
  v("profile", x.profile);
  v("space", x.space);
}
template <class V>
void fields(V& v, SearchOptions& x) {
  v("memory_depth", x.memory_depth);
  v("max_temporary_bytes", x.max_temporary_bytes);
  v("seconds", x.seconds);
}
template <class V>
void fields(V& v, BundledAnswer& x) {
  v("problem", x.problem);
  v("isa", x.isa);
  v("frontier", x.frontier);
  v("kernels", x.kernels);
  v("public_key", x.public_key);
}
template <class V>
void fields(V& v, AnswerFile& x) {
  v("made_by", x.made_by);
  v("abi_version", x.abi_version);
  v("server", x.server);
  v("created", x.created);
  v("answers", x.answers);
  v("binaries", x.binaries);
}

// ---- both directions
// ----------------------------------------------------------------------------------------

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
using Texts = std::map<std::string, std::string>;
template <class T>
constexpr bool is_plain_value = std::is_same_v<T, std::string> || std::is_arithmetic_v<T>;

// Appends the fields that do not have their default.
class AnswerWriter {
 public:
  template <class T>
  void operator()(const char* name, T& value) {
    if constexpr (is_plain_value<T>) {
      if (!(value == T())) json_[name] = of(value);
    } else if constexpr (IsVector<T>::value) {
      for (auto& one : value) json_[name].push_back(of(one));
    } else if constexpr (std::is_same_v<T, Texts>) {
      for (const auto& [key, text] : value) json_[name][key] = text;
    } else {
      json_[name] = of(value);
    }
  }
  template <class Choice>
  void choice(const char* name, Choice& value, std::initializer_list<const char*> names) {
    json_[name] = names.begin()[static_cast<std::size_t>(value)];
  }
  template <class Choice>
  void added_choice(const char* name, Choice& value, std::initializer_list<const char*> names) {
    choice(name, value, names);
  }

  template <class T>
  static Json of(T& value) {
    // JSON numbers are doubles to many readers, which hold 53 bits.
    if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, const std::uint64_t>) {
      return std::to_string(value);
    } else if constexpr (is_plain_value<std::remove_const_t<T>>) {
      return value;
    } else {
      AnswerWriter writer;
      fields(writer, value);
      return std::move(writer.json_);
    }
  }

 private:
  Json json_ = Json::object();
};

/// Throws std::exception.
class AnswerReader {
 public:
  explicit AnswerReader(const Json& json) : json_(json) {
    if (!json.is_object()) throw std::invalid_argument("an object was expected");
  }

  template <class T>
  void operator()(const char* name, T& value) {
    // An absent field has its default, whatever the value held.
    value = T();
    const auto found = json_.find(name);
    if constexpr (IsVector<T>::value) {
      if (found == json_.end()) return;
      for (const Json& one : array(*found)) read(one, value.emplace_back());
    } else if constexpr (std::is_same_v<T, Texts>) {
      if (found != json_.end()) value = found->template get<Texts>();
    } else if constexpr (is_plain_value<T>) {
      if (found != json_.end()) read(*found, value);
    } else {
      read(found == json_.end() ? Json::object() : *found, value);
    }
  }
  template <class Choice>
  void choice(const char* name, Choice& value, std::initializer_list<const char*> names) {
    const auto text = json_.at(name).template get<std::string>();
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) throw std::invalid_argument("`" + text + "` is not known");
    // The names are in the order of the enumeration.
    value = static_cast<Choice>(found - names.begin());
  }
  /// Reads a choice that files of older versions lack.
  template <class Choice>
  void added_choice(const char* name, Choice& value, std::initializer_list<const char*> names) {
    if (json_.contains(name)) choice(name, value, names);
  }

  template <class T>
  static void read(const Json& json, T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      value = json.get<T>();
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!json.is_number()) throw std::invalid_argument("a number was expected");
      value = json.get<T>();
    } else if constexpr (std::is_integral_v<T>) {
      // Both forms of a number are accepted; one that its type cannot hold is refused.
      const std::string text = json.is_string() ? json.get<std::string>() : json.dump();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument("`" + text + "` is no number");
    } else {
      AnswerReader reader(json);
      fields(reader, value);
    }
  }

 private:
  static const Json& array(const Json& json) {
    if (!json.is_array()) throw std::invalid_argument("a list was expected");
    return json;
  }

  const Json& json_;
};

// A nest's loops are bits of 32-bit masks, and its first access is its target.
bool has_sound_numbers(const Nest& nest) {
  return nest.loops.size() <= 32 && nest.shared >= 0 &&
         static_cast<std::size_t>(nest.shared) <= nest.loops.size() && !nest.accesses.empty();
}

/// Every phase has its nests, and the loops that it shares out.
bool has_sound_numbers(const GpuSchedule& schedule) {
  std::size_t phases = 0;
  for (const Nest& nest : schedule.nests) {
    if (!has_sound_numbers(nest)) return false;
    if (nest.shared == 0) ++phases;
    if (phases == 0 || phases > schedule.phases.size()) return false;
    const GpuPhase& phase = schedule.phases[phases - 1];
    const auto shared_out = (phase.columns ? 1 : 0) + std::int64_t{phase.rows};
    if (phase.rows < 0 || phase.rows > 32 || shared_out > static_cast<std::int64_t>(nest.loops.size()))
      return false;
  }
  // Thread mappings lie far below the bound; selection divides by these numbers.
  const auto is_number = [](int n) { return n >= 1 && n <= 1024; };
  return phases == schedule.phases.size() &&
         std::all_of(schedule.phases.begin(), schedule.phases.end(), [&](const GpuPhase& phase) {
           return is_number(phase.columns_take) && is_number(phase.take) && is_number(phase.share) &&
                  is_number(phase.width) && is_number(phase.side_by_side) && is_number(phase.block);
         });
}

template <class T>
Json json_of_value(T value) {
  return AnswerWriter::of(value);
}

}  // namespace

std::string json_of(const AnswerFile& file) { return json_of_value(file).dump(); }

std::string json_of(const ProblemText& problem, const SearchOptions& search) {
  return json_of_value(problem).dump() + json_of_value(search).dump();
}

support::Result<AnswerFile> answers_of_json(std::string_view json) {
  try {
    AnswerFile file;
    AnswerReader::read(Json::parse(json), file);
    return file;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return support::invalid("answer-json", error.what());
  }
}

bool is_sound(const Frontier& frontier) {
  const auto nests_are_sound = [](const Variant& variant) {
    return std::all_of(variant.nests.begin(), variant.nests.end(),
                       [](const Nest& nest) { return has_sound_numbers(nest); });
  };
  return std::all_of(frontier.entries.begin(), frontier.entries.end(),
                     [&](const FrontierEntry& entry) {
                       return std::all_of(entry.variants.begin(), entry.variants.end(), nests_are_sound);
                     }) &&
         std::all_of(frontier.gpu.begin(), frontier.gpu.end(),
                     [](const GpuSchedule& schedule) { return has_sound_numbers(schedule); });
}

}  // namespace schaas::client
