#pragma once

#include <string>
#include <vector>

#include "models/shelf.h"
#include "scenarios/read_scenario.h"

/// The steps between a file and a Scenario, on trees. Private to the folder.
namespace debubble::scenarios {

/// The tree of a scenario text with its `include:`s under it. Throws InputError.
models::NodePtr with_includes(const models::NodePtr& root, models::Shelf& shelf);

/// The tree with every override applied, in order. Throws InputError whose file is
/// "--set".
models::NodePtr with_overrides(models::NodePtr root, const std::vector<Override>& overrides);

/// Model, cluster and framework of a tree, read once: a tree that shares their nodes
/// shares them.
struct Parts {
    models::NodePtr model_node;
    models::NodePtr cluster_node;
    models::NodePtr framework_node;
    models::Architecture model;
    Cluster cluster;
    Framework framework;
};

Parts read_parts(const models::NodePtr& root, models::Shelf& shelf, models::Mistakes& mistakes);

/// `known` may be null. Throws InputError with every mistake.
Scenario scenario_of(const models::NodePtr& root, const std::string& name, models::Shelf& shelf,
                     const Parts* known);

/// The grid of a tree; no keys if it has none. Throws InputError.
Sweep sweep_of(const models::NodePtr& root, models::Shelf& shelf);

/// Flow YAML that reads back as the same tree.
std::string to_flow(const models::Node& node);

}  // namespace debubble::scenarios
