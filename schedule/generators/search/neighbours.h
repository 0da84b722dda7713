#pragma once

#include "schedule/generators/search/plan_search.h"

namespace debubble {

/// Moves single passes of the best plan back and forth, as long as it gets shorter. Moves that
/// cannot shorten it are charged like the others, but not played.
void improve_order(PlanSearch& search);

}  // namespace debubble
