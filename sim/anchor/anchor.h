#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/scenario.h"
#include "sim/anchor/measured_log.h"
#include "sim/prediction.h"

/// A measured step of one plan, by which the predictions of its neighbours are corrected: what a
/// prediction has wrong of a model on some machines by some software it mostly has wrong of the
/// plans beside it too.
namespace debubble::sim {

struct Anchor {
    scenarios::Scenario scenario;  ///< the plan that was measured
    MeasuredPlan measured;
};

/// Of a YAML file {scenario: NAME, FILE or map; set: {key: value}; measured: {step_time,
/// tokens_per_s_per_gpu, tflops_per_gpu, allocated_memory, reserved_memory, log: LINES}}; or of a
/// log file or a line of one, whose plan is `own`. Throws InputError.
Anchor read_anchor(const std::string& file_or_line, const scenarios::Scenario& own);

/// An anchor with its own prediction.
class AnchoredBy {
public:
    explicit AnchoredBy(Anchor anchor);

    /// Measured over predicted: of the step, and of what the fullest rank holds beside parameters,
    /// gradients and optimizer state, by whichever peak was measured.
    std::optional<double> time_ratio() const { return time_ratio_; }
    std::optional<double> memory_ratio() const { return memory_ratio_; }
    const scenarios::Scenario& scenario() const { return anchor_.scenario; }

    AnchoredFigures of(const scenarios::Scenario& scenario, const Prediction& prediction) const;

private:
    Anchor anchor_;
    std::optional<double> time_ratio_;
    std::optional<double> memory_ratio_;
};

/// The keys in which two plans differ, as `parallel.tensor`.
std::vector<std::string> differing_keys(const scenarios::Scenario& one,
                                        const scenarios::Scenario& other);
/// The class of a difference in such keys.
std::string class_of_difference(const std::vector<std::string>& keys);

}  // namespace debubble::sim
