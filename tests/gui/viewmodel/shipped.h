#pragma once

#include <string>
#include <variant>

#include "gui/viewmodel/source.h"

namespace debubble::gui {

/// The text of a scenario that comes with the program.
inline ScenarioText shipped(const std::string& name) {
    return std::get<ScenarioText>(open_source(name));
}

}  // namespace debubble::gui
