#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "models/graph/operator_runs.h"
#include "models/operators/kernel.h"
#include "text/document.h"
#include "text/key.h"

/// A calibrated machine: medians of measured times of operators, instead of rates from which times
/// are derived. It is the `measured:` section of a cluster, which `debubble calibrate` writes.
namespace debubble::scenarios {

struct MeasuredOperator {
    /// Median over ranks and steps of the mean time of a step's calls, including its allocations
    /// and the waits of its collectives.
    Duration median{};
    Duration deviation{};  ///< median of the distances from `median`
    int samples = 1;       ///< number of means
    friend bool operator==(const MeasuredOperator&, const MeasuredOperator&) = default;
};

/// The time of a collective is latency + bytes / bandwidth; bytes are those of the whole (gathered,
/// reduced) tensor.
struct MeasuredCollective {
    Duration latency{};
    BytesPerSecond bandwidth;
    friend bool operator==(const MeasuredCollective&, const MeasuredCollective&) = default;
};

struct Measured {
    std::string with;  ///< kernels, threads per rank, ranks at once, versions of libraries
    std::vector<std::string> plans;  ///< the trainings that were timed, in words
    /// Times by models::signature_of and part.
    std::map<std::pair<std::string, models::Part>, MeasuredOperator> operators;
    Duration pass_overhead{};  ///< added for each pass, beyond its operators: the interpreter's
                               ///< time
    double optimizer_seconds_per_element = 0;
    double norm_seconds_per_element = 0;  ///< time of the sum of squares, where a step takes the
                                          ///< norm
    Duration step_overhead{};  ///< added between two steps: the host's time beyond their actions
    /// The time before the first pass of a step, per element of the gradients that are held through
    /// a step: they are set to zero.
    double zero_seconds_per_element = 0;
    /// The share of the time that passes computed for which the threads of the rank that was worst
    /// off had a core, if others used the machine meanwhile; unset: it was idle, or nobody knows.
    std::optional<double> core_share;
    /// Collectives by kind and size of the group, all of it inside a node.
    std::map<std::pair<models::Collective::Kind, int>, MeasuredCollective> collectives;
    /// Algorithms of GEMMs that were the fastest when they were timed, by product: the words of a
    /// GPU's library, which it alone reads. Every run with this cluster takes them.
    std::map<std::string, std::string> products;
    friend bool operator==(const Measured&, const Measured&) = default;

    const MeasuredOperator* find(const std::string& signature, models::Part part) const;
};

/// True where passes and the optimizer take measured times; a table of collectives alone leaves
/// them to the cluster's rates.
inline bool measures_operators(const std::shared_ptr<const Measured>& measured) {
    return measured && !measured->operators.empty();
}

/// Reads the section of a cluster. Every mistake has its location.
std::shared_ptr<const Measured> read_measured(const text::NodePtr& section,
                                              text::Mistakes& mistakes);
/// The description of the section's keys.
std::vector<text::Key> measured_keys();
/// The YAML that read_measured() reads, without indentation, beginning with `measured:`.
std::string measured_text(const Measured& measured);
/// The YAML scalar for this one line of text.
std::string yaml_quoted(std::string_view text);

}  // namespace debubble::scenarios
