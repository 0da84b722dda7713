#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "sim/anchor/measured_plan.h"
#include "sim/grid/grid.h"
#include "sim/plan/prediction.h"

/// A measured step of one plan, which corrects the predictions of its neighbours: the error of a
/// prediction for a model on certain machines and software is mostly the same for similar plans.
namespace debubble::sim {

struct Anchor {
    scenarios::Scenario scenario;  ///< the plan that was measured
    MeasuredPlan measured;
};

/// Everything that is given of one run: a YAML file {scenario: NAME, FILE or map; set: {key:
/// value}; measured: {step_time, tokens_per_s_per_gpu, tflops_per_gpu, allocated_memory,
/// reserved_memory, log: LINES, profile: FILES, snapshot: FILE}}; and of the same plan, which is
/// `own` without such a file, logs and lines of them, profiles of its step (measured_plan.h),
/// and memory snapshots of PyTorch. Where two of them have a figure the one named first counts, and
/// a profile's last. Throws InputError.
Anchor read_anchor(const std::vector<std::string>& files_or_lines, const scenarios::Scenario& own);

/// An anchor with its own prediction.
class AnchoredBy {
public:
    explicit AnchoredBy(Anchor anchor);

    /// Measured over predicted: for the step, and for the memory of the fullest rank besides
    /// parameters, gradients and optimizer state, by whichever peak was measured.
    std::optional<double> time_ratio() const { return time_ratio_; }
    std::optional<double> memory_ratio() const { return memory_ratio_; }
    std::optional<double> allocator_ratio() const { return allocator_ratio_; }
    const std::optional<PartRatios>& parts() const { return parts_; }
    const scenarios::Scenario& scenario() const { return anchor_.scenario; }

    AnchoredFigures of(const scenarios::Scenario& scenario, const Prediction& prediction) const;
    /// Replaces the prediction's step, rates, range, and memory left by the corrected ones.
    void correct(const scenarios::Scenario& scenario, Prediction& prediction) const;
    /// No corrected step is shorter than this share of its prediction.
    double least_ratio() const;

private:
    void take_time(const Prediction& own);
    void take_memory(const Prediction& own);
    double step_of(const Prediction& prediction) const;
    Bytes needs_of(const RankPrediction& rank) const;

    Anchor anchor_;
    std::optional<double> time_ratio_;
    std::optional<double> memory_ratio_;
    std::optional<double> allocator_ratio_;
    std::optional<PartRatios> parts_;
    double whole_ = 1;  ///< the measured step over the sum of its corrected parts
};

/// The class of two plans that do not differ.
inline constexpr const char* kNoDifference = "nothing";
/// The keys in which two plans differ, such as `parallel.tensor`.
std::vector<std::string> differing_keys(const scenarios::Scenario& one,
                                        const scenarios::Scenario& other);
/// The class of a difference in these keys.
std::string class_of_difference(const std::vector<std::string>& keys);

/// Corrects all plans of a grid by a measured step, which is recorded in its basis: rows that were
/// corrected by another one are not continued.
void correct_by(Grid& grid, std::shared_ptr<const AnchoredBy> anchor);
/// Records that there is none.
void leave_uncorrected(Grid& grid);

}  // namespace debubble::sim
