#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/cluster/cluster.h"
#include "text/key.h"
#include "text/shipped_files.h"

/// The cluster that the value of a `cluster:` key describes, its keys and their defaults.
namespace debubble::scenarios {

/// The cluster that the value of a `cluster:` key describes: the name of a shipped cluster, a path,
/// or a map (with a `base`, to change some constants of another). Keys are the fields of Cluster
/// (`measured`: measured.h); `origins` is a list of
///   {provenance: datasheet, source: "a sentence", of: [gpu.sms, gpu.memory, ...]}
/// and a constant that is set in another file than its origin is Assumed, "set in <file>".
/// If it adds a mistake, the result has no meaning.
Cluster read_cluster(const text::NodePtr& value, text::ShippedFiles& shipped,
                     text::Mistakes& mistakes);

/// The optional header of a cluster's file, written by `debubble calibrate`.
inline constexpr std::string_view kClusterSchema = "debubble/cluster";
inline constexpr int kClusterVersion = 1;

/// The cluster of a name or path given on the command line. Throws InputError.
Cluster read_cluster(const std::string& name_or_path);

/// The dotted keys of a cluster's constants, which are those that have an origin.
std::vector<std::string> cluster_constants();

/// The description of a cluster's keys.
std::vector<text::Key> cluster_keys();

/// A constant that the cluster's file does not give, so that this program's default holds.
struct DefaultConstant {
    std::string key;     ///< dotted, such as "gpu.gemm_efficiency"
    std::string value;   ///< as it would be written in the file
    std::string source;  ///< source of the value
};

/// All such constants, in the order of the reader's keys.
std::vector<DefaultConstant> defaults_of(const Cluster& cluster);

}  // namespace debubble::scenarios
