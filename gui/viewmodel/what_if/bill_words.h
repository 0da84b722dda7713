#pragma once

#include <string>

#include "sim/bill_rows.h"

/// The figures of the bill in the window's language.
namespace debubble::gui {

/// "12.3 ms, 4.5 %"; of the step itself without a share.
std::string takes_words(const sim::BillRow& row);

/// "1.234 s, 5.6 % shorter"; empty where no step without the part can be played.
std::string if_free_words(const sim::BillRow& row);

}  // namespace debubble::gui
