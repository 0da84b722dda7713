#pragma once

#include "gui/viewmodel/source.h"
#include "scenarios/read/sweep.h"

namespace debubble::gui {

/// The text with a value at a dotted key. A key of a part that an included file names by a word
/// (`cluster: hgx-h100`) is a change of that word's file: the word is written first, since a map
/// alone would be another cluster.
ScenarioText with_part_key(ScenarioText source, const scenarios::Override& change);

}  // namespace debubble::gui
