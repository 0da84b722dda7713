#pragma once

#include <memory>

#include "sim/anchor/anchor.h"
#include "sim/grid/grid.h"

namespace debubble::sim {

/// Corrects all plans of a grid by a measured step, which is recorded in its basis: rows that were
/// corrected by another one are not continued.
void correct_by(Grid& grid, std::shared_ptr<const AnchoredBy> anchor);
/// Records that there is none.
void leave_uncorrected(Grid& grid);

}  // namespace debubble::sim
