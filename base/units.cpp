#include "base/units.h"

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble {

void refuse_time(double s) {
    throw InputError(fmt::format(
        "something in this step takes {:.3g} seconds, and a step may take at most {:.0e} "
        "(eleven days): a rate is far too low, or a size far too great",
        s, kLongestSeconds));
}

}  // namespace debubble
