#pragma once

#include <map>
#include <string>
#include <string_view>

#include "scenarios/cluster/cluster.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"

/// Constants that a cluster's file takes from another cluster: `memory_efficiency: {as: hgx-h100}`.
/// Private to the folder.
namespace debubble::scenarios {

/// Whether constants of that part of a cluster may be references.
bool may_refer(std::string_view part);

struct WithReferences {
    text::NodePtr map;  ///< the cluster's, with the values that references stand for
    std::map<std::string, Cluster::Origin> origins;  ///< by dotted key, of those that had one
};

/// The value of the same key of the named cluster, which may refer to a third one. A value taken
/// from another machine is Assumed, whatever its provenance there.
WithReferences with_references(const text::NodePtr& cluster, text::ShippedFiles& shipped,
                               text::Mistakes& mistakes);

}  // namespace debubble::scenarios
