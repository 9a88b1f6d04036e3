#include "client/cpp/oracle/oracle_term.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "client/cpp/oracle/oracle_arithmetic.h"
#include "client/cpp/tensor/tensor_checks.h"

namespace schaas::client {
namespace {

constexpr std::size_t max_sets = 64;

void add_set(std::vector<std::vector<int>>& sets, std::vector<int> set) {
  const auto covers = [](const std::vector<int>& larger, const std::vector<int>& smaller) {
    return std::includes(larger.begin(), larger.end(), smaller.begin(), smaller.end());
  };
  for (const auto& known : sets) {
    if (covers(set, known)) return;
  }
  sets.erase(std::remove_if(sets.begin(), sets.end(), [&](const auto& known) { return covers(known, set); }),
             sets.end());
  sets.push_back(std::move(set));
}

OracleSupport either(const OracleSupport& a, const OracleSupport& b) {
  OracleSupport out;
  out.everywhere = a.everywhere || b.everywhere;
  if (out.everywhere) return out;
  out.any_of = a.any_of;
  for (const auto& set : b.any_of) add_set(out.any_of, set);
  out.everywhere = out.any_of.size() > max_sets;
  return out;
}

// Folds from the left, as the grammar reads.
Judged apply_all(Function function, const std::vector<Judged>& values) {
  if (values.size() == 1) return apply(function, values[0]);
  Judged value = values[0];
  for (std::size_t n = 1; n < values.size(); ++n) value = apply(function, value, values[n]);
  return value;
}

Judged chosen(const Judged& condition, const Judged& then, const Judged& otherwise) {
  Judged out = is_true(condition) ? then : otherwise;
  if (std::isinf(condition.magnitude) && !are_equal(then, otherwise)) out.magnitude = infinity;
  out.exact = out.exact && condition.exact;
  return out;
}

bool reads_dense_sums(const OracleTerm& term, const std::vector<OracleAccess>& accesses) {
  if (term.kind == OracleTerm::Kind::access) {
    const auto& tensor = accesses[static_cast<std::size_t>(term.access)].tensor;
    return tensor != nullptr && !tensor->annihilates();
  }
  return std::any_of(term.arguments.begin(), term.arguments.end(),
                     [&](const OracleTerm& argument) { return reads_dense_sums(argument, accesses); });
}

/// The argument annihilates the term where it is not stored, or does so if kernels do not compute it there.
bool annihilates(const OracleTerm& term, std::size_t argument) {
  return term.annihilator && (!term.first_only || argument == 0);
}

/// The argument annihilates the term where it is not stored.
bool may_annihilate(const OracleTerm& term, std::size_t argument, const std::vector<OracleAccess>& accesses) {
  return annihilates(term, argument) && !reads_dense_sums(term.arguments[argument], accesses);
}

OracleSupport with_background(OracleSupport support, const Judged& background) {
  support.background = background;
  return support;
}

OracleSupport support_of_selection(const std::vector<OracleSupport>& parts) {
  if (parts[0].everywhere) {
    const bool alike = !parts[1].everywhere && !parts[2].everywhere &&
                       parts[1].background.value == parts[2].background.value;
    return alike ? with_background(either(parts[1], parts[2]), parts[1].background) : parts[0];
  }
  const OracleSupport& rest = parts[parts[0].background.value != 0 ? 1 : 2];
  return with_background(either(parts[0], rest), rest.background);
}

OracleSupport support_of_operation(const OracleTerm& term, const std::vector<OracleAccess>& accesses) {
  std::vector<OracleSupport> parts;
  for (const auto& argument : term.arguments) parts.push_back(support_of(argument, accesses));
  if (term.function == Function::where) return support_of_selection(parts);
  std::optional<OracleSupport> out;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (may_annihilate(term, n, accesses) && !parts[n].everywhere &&
        parts[n].background.value == *term.annihilator)
      out = out ? both(*out, parts[n]) : parts[n];
  }
  if (out) {
    out->background = given(*term.annihilator);
    return *out;
  }
  std::vector<Judged> backgrounds;
  for (const auto& part : parts) {
    out = out ? either(*out, part) : part;
    backgrounds.push_back(part.background);
  }
  if (!out->everywhere) out->background = apply_all(term.function, backgrounds);
  return *out;
}

struct Found {
  Judged number;
  bool background = false;  ///< outside the term's support: nothing it reads is stored here
};

class TermEvaluation {
 public:
  TermEvaluation(const std::vector<OracleAccess>& accesses, OraclePoint& point)
      : accesses_(accesses), point_(point) {}

  Found of(const OracleTerm& term) {
    if (term.kind == OracleTerm::Kind::number) return {term.number, true};
    if (term.kind == OracleTerm::Kind::access) return read(term.access);
    if (term.kind == OracleTerm::Kind::coordinate) {
      const auto coordinate = static_cast<double>(point_.at[static_cast<std::size_t>(term.index)]);
      return {given(rounded(coordinate, term.type), term.type), false};
    }
    if (term.function == Function::where) return selection(term);
    bool zero = false, lacks_sum = false;
    const auto look_at = [&](const Found& found, std::size_t n) {
      if (!found.background || !annihilates(term, n) || !are_equal(found.number, given(*term.annihilator)))
        return;
      (may_annihilate(term, n, accesses_) ? zero : lacks_sum) = true;
    };
    Found out = of(term.arguments[0]);
    look_at(out, 0);
    if (term.arguments.size() == 1) out.number = apply(term.function, out.number);
    for (std::size_t n = 1; n < term.arguments.size() && !zero; ++n) {
      const Found next = of(term.arguments[n]);
      look_at(next, n);
      out = {apply(term.function, out.number, next.number), out.background && next.background};
    }
    if (zero) return {given(*term.annihilator), true};
    // Kernels that skip what is not stored find 0, others 0 / 0 or 0 * inf: no number, so it stays open.
    if (lacks_sum && are_equal(out.number, given(*term.annihilator))) return {given(*term.annihilator), true};
    return out;
  }

 private:
  Found read(int access) {
    const std::int64_t position = position_of(access, accesses_, point_);
    const OracleTensor& tensor = *accesses_[static_cast<std::size_t>(access)].tensor;
    if (position == OraclePoint::absent) return {tensor.background(), true};
    return {tensor.at(position), false};
  }

  Found selection(const OracleTerm& term) {
    const Found condition = of(term.arguments[0]), then = of(term.arguments[1]),
                otherwise = of(term.arguments[2]);
    const Found& taken = is_true(condition.number) ? then : otherwise;
    return {chosen(condition.number, then.number, otherwise.number),
            condition.background && taken.background};
  }

  const std::vector<OracleAccess>& accesses_;
  OraclePoint& point_;
};

}  // namespace

OracleSupport both(const OracleSupport& a, const OracleSupport& b) {
  if (a.everywhere) return b;
  if (b.everywhere) return a;
  OracleSupport out;
  for (const auto& one : a.any_of) {
    for (const auto& other : b.any_of) {
      std::vector<int> joined;
      std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(joined));
      add_set(out.any_of, std::move(joined));
    }
  }
  return out.any_of.size() > max_sets ? a : out;
}

OracleSupport support_of(const OracleTerm& term, const std::vector<OracleAccess>& accesses) {
  OracleSupport out;
  if (term.kind == OracleTerm::Kind::number) {
    out.background = term.number;
  } else if (term.kind == OracleTerm::Kind::access) {
    const auto& tensor = accesses[static_cast<std::size_t>(term.access)].tensor;
    out.everywhere = tensor == nullptr || !tensor->sparse();
    if (!out.everywhere) {
      out.any_of = {{term.access}};
      out.background = tensor->background();
    }
  } else if (term.kind == OracleTerm::Kind::coordinate) {
    out.everywhere = true;
  } else {
    out = support_of_operation(term, accesses);
  }
  return out;
}

Judged evaluate_term(const OracleTerm& term, const std::vector<OracleAccess>& accesses, OraclePoint& point) {
  return TermEvaluation(accesses, point).of(term).number;
}

Wide key_at(const OracleAccess& access, const OraclePoint& point) {
  Wide key = 0;
  for (std::size_t m = 0; m < access.indices.size(); ++m)
    key += access.strides[m] * static_cast<Wide>(point.at[static_cast<std::size_t>(access.indices[m])]);
  return key;
}

std::int64_t position_of(int access, const std::vector<OracleAccess>& accesses, OraclePoint& point) {
  std::int64_t& position = point.positions[static_cast<std::size_t>(access)];
  if (position != OraclePoint::unknown) return position;
  const OracleAccess& read = accesses[static_cast<std::size_t>(access)];
  return read.tensor->find(key_at(read, point), point.near[static_cast<std::size_t>(access)]);
}

}  // namespace schaas::client
