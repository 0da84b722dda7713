#pragma once

#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "scenarios/read/sweep.h"
#include "text/key.h"
#include "text/shipped_files.h"

/// The steps between a file and a Scenario, on trees. Private to the folder.
namespace debubble::scenarios {

/// The tree of a scenario text with its `include:`s under it. Throws InputError.
text::NodePtr with_includes(const text::NodePtr& root, text::ShippedFiles& shipped);

/// The tree with every override applied, in order. Throws InputError that names "--set" as the
/// file.
text::NodePtr with_overrides(text::NodePtr root, const std::vector<Override>& overrides);

/// Model, cluster and framework of a tree, read once: a tree that shares their nodes
/// shares them.
struct Parts {
    text::NodePtr model_node;
    text::NodePtr cluster_node;
    text::NodePtr framework_node;
    models::Architecture model;
    Cluster cluster;
    Framework framework;
    GivenKeys given;  ///< of all three
};

Parts read_parts(const text::NodePtr& root, text::ShippedFiles& shipped, text::Mistakes& mistakes);

/// `known` may be null. Throws InputError with every mistake.
Scenario scenario_of(const text::NodePtr& root, const std::string& name,
                     text::ShippedFiles& shipped, const Parts* known);

/// The grid of a tree; no keys if it has none. Throws InputError.
Sweep sweep_of(const text::NodePtr& root, text::ShippedFiles& shipped);

/// The forms of the key `sweep`.
std::vector<text::Form> sweep_forms();

}  // namespace debubble::scenarios
