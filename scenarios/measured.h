#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "models/kernel.h"
#include "models/visits.h"
#include "text/document.h"

/// A calibrated machine: medians of what it takes to run operators, instead of rates from which
/// their times are worked out. The `measured:` section of a cluster, which `debubble calibrate`
/// writes.
namespace debubble::scenarios {

struct MeasuredOperator {
    /// Over ranks and steps, of the mean of a step's calls; its allocations are included, and the
    /// waits of its collectives.
    Duration median{};
    Duration deviation{};  ///< median of the distances from the median
    int samples = 1;       ///< such means
    friend bool operator==(const MeasuredOperator&, const MeasuredOperator&) = default;
};

/// latency + bytes / bandwidth; bytes are those of the whole (gathered, reduced) tensor.
struct MeasuredCollective {
    Duration latency{};
    BytesPerSecond bandwidth;
    friend bool operator==(const MeasuredCollective&, const MeasuredCollective&) = default;
};

struct Measured {
    std::string with;  ///< kernels, threads per rank, ranks at once, versions of libraries
    /// By models::signature_of and part.
    std::map<std::pair<std::string, models::Part>, MeasuredOperator> operators;
    Duration pass_overhead{};  ///< of a pass, beyond its operators: the interpreter's
    /// Of the optimizer's step and of what every step does to all gradients, zeroing them.
    double optimizer_seconds_per_element = 0;
    double norm_seconds_per_element = 0;  ///< of the sum of squares, where a step takes the norm
    Duration step_overhead{};             ///< of a step, beyond its actions
    /// By kind and size of the group, all of it inside a node.
    std::map<std::pair<models::Collective::Kind, int>, MeasuredCollective> collectives;
    friend bool operator==(const Measured&, const Measured&) = default;

    const MeasuredOperator* find(const std::string& signature, models::Part part) const;
};

/// The section of a cluster. Every mistake is located.
std::shared_ptr<const Measured> read_measured(const text::NodePtr& section,
                                              text::Mistakes& mistakes);
/// YAML that read_measured() reads, indented by nothing, beginning with `measured:`.
std::string measured_text(const Measured& measured);
/// A scalar for YAML that stands for this one line of text.
std::string yaml_quoted(std::string_view text);

}  // namespace debubble::scenarios
