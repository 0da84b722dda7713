#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/read/read_scenario.h"

/// Changes of a scenario's text, as a person would make them by hand: comments, order and spelling
/// of everything else stay.
namespace debubble::scenarios {

/// The text with `value` (YAML of one line) at the dotted key. Reads back as the same tree that
/// `--set key=value` makes of the text. Where the text cannot be edited in place (aliases, merge
/// keys), the top-level keys are written again, one per line, and comments are lost. Throws
/// InputError if the text or the value cannot be parsed.
std::string with_key(const std::string& text, const std::string& file, const Override& change);

/// The same for a value of any number of lines, which becomes a value of one line.
std::string with_block(const std::string& text, const std::string& file, const std::string& key,
                       const std::string& block);

/// The entries of the map at a dotted key, in order, each value as flow YAML; empty if there is
/// no map. Throws InputError.
std::vector<Override> entries_at(const std::string& text, const std::string& file,
                                 const std::string& key);

/// The changes that give one text the meaning of another, with included files resolved in both and
/// sweeps left out. Values that stay the same keep the paths that they are written with. Throws
/// InputError.
std::vector<Override> changes_between(const std::string& before, const std::string& after,
                                      const std::string& file);

/// The value that is written at a dotted key, as flow YAML, with included files resolved; nothing
/// if it is absent or null. A word counts as the `name` of a map: `schedule.name` is found in
/// `schedule: 1f1b`. Throws InputError.
std::optional<std::string> written_at(const std::string& text, const std::string& file,
                                      const std::string& key);

/// The innermost key that contains a place of the text: "parallel.tensor"; empty before the first
/// key. Throws InputError.
std::string key_at(const std::string& text, const std::string& file, int line, int column);

}  // namespace debubble::scenarios
