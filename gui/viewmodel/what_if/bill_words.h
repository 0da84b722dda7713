#pragma once

#include <string>

namespace debubble::gui {

/// sim::BillRow::if_free in the window's language: "1.234 s, 5.6 % shorter".
std::string said_if_free(const std::string& if_free);

}  // namespace debubble::gui
