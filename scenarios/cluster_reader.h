#pragma once

#include <string>
#include <vector>

#include "scenarios/cluster.h"
#include "text/shipped_files.h"

namespace debubble::scenarios {

/// The value of a `cluster:` key: the name of a shipped cluster, a path, or a map
/// (with a `base`, to change some constants of another). Keys are the fields of
/// Cluster (`measured`: measured.h); `origins` is a list of
///   {provenance: datasheet, source: "a sentence", of: [gpu.sms, gpu.memory, ...]}
/// and a constant that another file than the origins' sets is Assumed, "set in <file>".
/// Nothing is promised of the result if it adds a mistake.
Cluster read_cluster(const text::NodePtr& value, text::ShippedFiles& shipped,
                     text::Mistakes& mistakes);

/// The same for a name or path given on the command line. Throws InputError.
Cluster read_cluster(const std::string& name_or_path);

/// Dotted keys of the constants a cluster is made of: those that have an origin.
std::vector<std::string> cluster_constants();

}  // namespace debubble::scenarios
