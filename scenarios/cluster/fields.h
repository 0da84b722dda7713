#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/cluster/cluster.h"
#include "text/fields.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"

/// The parts of a cluster's file. Private to the folder: users see reader.h.
namespace debubble::scenarios {

// The parts of a cluster's file.

inline constexpr int kMostNodes = 1'000'000;
inline constexpr int kMostGpusPerNode = 1024;
inline constexpr double kLeastShare = 0.001;

const text::Fields<Gpu>& gpu_fields();
const text::Fields<NodeLink>& link_fields();
const text::Fields<NodeNetwork>& network_fields();

/// The sources of constants, as the file lists them.
struct Origins {
    text::NodePtr list;
    std::map<std::string, Cluster::Origin> of;
};
/// The keys of an entry of the list.
std::vector<text::Key> origin_keys();
Origins read_origins(const text::NodePtr& list, text::Mistakes& mistakes);
/// The origin of a constant that the list does not describe.
Cluster::Origin said_in(const text::SourcePosition& place);
/// Marks constants that are set in another file than the origins, which do not describe them.
void mark_foreign(const text::NodePtr& part, std::string_view name, const Origins& origins,
                  Cluster& cluster);

// Constants that a cluster's file takes from another cluster: `memory_efficiency: {as: hgx-h100}`.

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
