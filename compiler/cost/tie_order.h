#pragma once
#include <span>

#include "compiler/cost/cost.h"

/// A total order of cost classes that decides which of two stays where each covers the other. It looks at the
/// terms alone, so the one that stays is the same whatever the constraints and whatever else is compared. The
/// order survives adding the same terms to both classes and multiplying both by the same loops. So the choice
/// among parts of schedules is that among whole ones.
namespace schaas::cost {

/// Returns the elements of a temporary when every extent is 64.
double reference_elements(Term temporary);

struct TiedClass {
  std::span<const Term> time, memory;  ///< sorted
  double elements = 0;                 ///< sum of the temporaries' reference_elements
};

/// True when `a` stays: it has fewer elements, else more of the smallest term that the two have not equally
/// often.
bool stays_before(const TiedClass& a, const TiedClass& b);

}  // namespace schaas::cost
