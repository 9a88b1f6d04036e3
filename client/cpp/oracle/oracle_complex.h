#pragma once
#include "client/cpp/oracle/oracle_arithmetic.h"

namespace schaas::client {

/// The functions of oracle_arithmetic.h where an argument is complex; others are taken for such. The scale of
/// rounding errors is that of the absolute value.
Judged apply_complex(Function function, const Judged& x);
Judged apply_complex(Function function, const Judged& a, const Judged& b);
Judged repeated_complex(Monoid fold, const Judged& x, double times);

}  // namespace schaas::client
