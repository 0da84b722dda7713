#pragma once

#include "gui/viewmodel/source.h"
#include "scenarios/read/sweep.h"

namespace debubble::gui {

/// The text with a value at a dotted key. If an included file gives the part by name (`cluster:
/// hgx-h100`), the key changes that named file, so the name is written first: a map alone would be
/// another cluster.
ScenarioText with_part_key(ScenarioText source, const scenarios::Override& change);

}  // namespace debubble::gui
