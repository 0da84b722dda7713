#pragma once

#include <memory>

#include "sim/anchor/anchor.h"
#include "sim/grid/grid.h"

namespace debubble::sim {

/// Corrects all plans of a grid by a measured step, of which its basis takes note: rows that were
/// corrected by another one are not continued.
void correct_by(Grid& grid, std::shared_ptr<const AnchoredBy> anchor);
/// Notes that none is.
void leave_uncorrected(Grid& grid);

}  // namespace debubble::sim
