#include "compiler/frontier/proofs/volume.h"

namespace schaas::frontier {

std::optional<Argument> never_fits(LogBounds& bounds, const std::vector<cost::Term>& temporaries,
                                   std::int64_t most) {
  mpq_class least = 0;
  for (cost::Term term : temporaries) least += bounds.least(term);
  if (least <= static_cast<long>(most)) return std::nullopt;
  const mpz_class whole = least.get_num() / least.get_den();
  return Argument("its temporaries hold at least ")
         << whole.get_str() << " elements at every allowed size (" << memory_sum(temporaries)
         << "), more than the limit of " << std::to_string(most);
}

}  // namespace schaas::frontier
