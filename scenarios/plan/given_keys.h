#pragma once

#include <map>
#include <string>

#include "text/document.h"
#include "text/shipped_files.h"

/// The keys of a scenario, by which two plans are distinguished.
namespace debubble::scenarios {

/// Values as flow YAML, by their dotted paths.
using GivenKeys = std::map<std::string, std::string>;

/// The keys of the scenario's own map, with all that lies in them. Those of its model, cluster and
/// framework, and those that plan nothing (name, description, sweep), are left out.
GivenKeys keys_given_in(const text::Node& scenario);

/// The keys of a model, cluster or framework that differ from the shipped one on which it is built,
/// under the key `part`; all of them where it is built on none. Empty for a shipped one itself, and
/// where the value stands for nothing.
GivenKeys keys_changed_in(const text::NodePtr& value, const std::string& part,
                          const std::string& folder, text::ShippedFiles& shipped);

}  // namespace debubble::scenarios
