#pragma once

#include <string>
#include <vector>

#include "scenarios/cluster/cluster.h"
#include "scenarios/cluster/collective_samples.h"

/// What others measured of collectives, as figures of a cluster.
namespace debubble::exec {

/// Adds the collectives inside a node to the measured ones; messages give the rate of the node's
/// links. Those over nodes are only said (collective_words): a cluster has no table of them.
void put_collectives(const std::vector<scenarios::CollectiveSample>& samples,
                     scenarios::Cluster& cluster);

/// The fits, inside a node and over nodes, in words.
std::string collective_words(const std::vector<scenarios::CollectiveSample>& samples);

/// The cluster as YAML. If its base is a shipped one, only what differs from that, so that all its
/// other constants keep their origins.
std::string cluster_file_text(const scenarios::Cluster& cluster, const scenarios::Cluster& base,
                              const std::string& name);

}  // namespace debubble::exec
