#pragma once

#include <string>

#include "sim/bill_rows.h"

/// The figures of the bill in the window's language.
namespace debubble::gui {

/// The time of a part and its share: "12.3 ms, 4.5 %"; for the step itself only the time.
std::string takes_words(const sim::BillRow& row);

/// The step without a part: "1.234 s, 5.6 % shorter"; empty if it cannot be played.
std::string without_part_text(const sim::BillRow& row);

}  // namespace debubble::gui
