#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/network/architecture.h"
#include "text/key.h"
#include "text/mapping_reader.h"

/// A vision tower in model files: the map `vision`, and separate keys for its training.
namespace debubble::models {

/// Reads the map into the network's tower. Precondition: the network's width has been read.
void read_tower(text::MappingReader& model, std::string_view key, Architecture& network);
text::Form tower_form();

/// Reads the keys beside that map, which a scenario may set for a model with a tower; they are
/// mistakes for one without.
void read_tower_use(text::MappingReader& model, Architecture& network);
std::vector<text::Key> tower_use_keys();

/// The tower by both.
void add_tower(nlohmann::ordered_json& json, const VisionTower& tower);

/// True for the name of a parameter of a tower.
bool is_of_tower(const std::string& parameter);

}  // namespace debubble::models
