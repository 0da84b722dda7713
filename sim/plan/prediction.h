#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/purposes.h"
#include "schedule/placement.h"
#include "sim/engine/time_by_kind.h"
#include "sim/plan/residuals.h"
#include "sim/run_plan/run_plan.h"
#include "sim/uneven/uneven_figures.h"

/// What a scenario's step takes and holds, as `simulate --json` writes it.
namespace debubble::sim {

/// What `parallel.partition: balanced` comes to.
struct ChosenCut {
    std::vector<int> layers_per_stage;
    /// Where it comes from and what the other cut would take: "uniform; the cut by priced times,
    /// 17, 15 layers, takes 3.0 % longer".
    std::string words;
    /// The same in the form of the key: "[16, 16]".
    std::string list() const;
};

/// Told after each choice of `training.recompute: auto` how many of all are done; from any thread,
/// one call at a time.
using ChoicesDone = std::function<void(std::size_t done, std::size_t all)>;

/// The words "recompute auto: 312 of 2481 choices".
std::string choices_words(std::size_t done, std::size_t all);

/// The result of `training.recompute: auto`.
struct ChosenRecompute {
    /// As it is written: "{modules: [moe_act], layers: 3, method: block}", and where offload is
    /// chosen too, "none; offload {modules: [core_attn]}".
    std::string words;
    std::size_t choices = 0;  ///< scenarios::recompute_choices()
    std::size_t played = 0;   ///< the others cannot have a step as short as the chosen one
    std::size_t fitting = 0;  ///< of those that were played
};

/// One row per pipeline rank (of the worst replica), in seconds and bytes.
struct RankPrediction {
    Rank rank;
    std::vector<Stage> stages;
    double busy_s = 0;
    double exposed_comm_s = 0;
    double optimizer_s = 0;
    double idle_s = 0;  ///< busy + exposed + optimizer + idle = step time
    /// By kind; the exposed seconds sum to exposed_comm_s.
    TimeByKind communication{};
    double waits_for_links_s = 0;  ///< part of idle_s: a message of another stage is under way
    Bytes peak_memory;
    std::string peak_op;            ///< action and operator that ran at the peak
    MemoryByClass memory{};         ///< at the instant of the peak, summing to it
    std::optional<Bytes> reserved;  ///< by the allocator model, if it was played
    /// The memory that the device must have for it, in addition to the headroom.
    Bytes needs() const { return std::max(peak_memory, reserved.value_or(Bytes{})); }
};

struct ProvenanceNote {
    std::string what;
    std::string origin;  ///< "measured", "fitted", "assumed", "datasheet"
    std::string source;
};

/// The seconds between which kResidualShare of the measured steps most like this one would lie.
struct StepRange {
    double low_s = 0;
    double high_s = 0;
    ClassResiduals from;  ///< the measured steps
};

/// The bytes between which kResidualShare of the published peaks most like this one would lie: of
/// what the fullest rank's allocator reserves.
struct MemoryRange {
    Bytes low;
    Bytes high;
    MemoryResiduals from;  ///< the published peaks
};

/// Whether a plan fits, as far as anybody can tell: the limit lies above the range, below it, or
/// within.
enum class MemoryVerdict : std::uint8_t { Fits, DoesNotFit, CannotBeTold };
std::string_view name_of(MemoryVerdict verdict);  ///< "fits", "does not fit", "cannot be told"

/// How far a correction by a measured step carries, by what differs between two plans: of published
/// pairs of steps of one network, (measured / measured) / (predicted / predicted), the tenth,
/// fiftieth and ninetieth percentile.
struct Carry {
    std::string differs;  ///< "batch", "cut", "schedule", "recompute", "precision", "gpus",
                          ///< "software", "machines", "several"; "nothing" for the plan itself
    int pairs = 0;
    double low = 1;
    double middle = 1;
    double high = 1;
};

/// Measured over predicted, of the parts of an anchor's step: kernels, exposed communication, and
/// the rest. A part that is predicted to take less than a hundredth of the step has the kernels'.
struct PartRatios {
    double compute = 1;
    double exposed = 1;
    double idle = 1;
};

/// A prediction as a measured step of a plan beside it corrects it (sim/anchor).
struct AnchoredFigures {
    std::string anchor;             ///< the plan that was measured, in words
    std::vector<std::string> keys;  ///< in which the two differ, as parallel.tensor
    Carry carry;
    /// Measured over predicted, of the anchor's own plan: the step, and what the fullest rank holds
    /// beside parameters, gradients and optimizer state.
    std::optional<double> time_ratio;
    std::optional<double> memory_ratio;
    std::optional<PartRatios> parts;  ///< where a profile tells them
    /// Of what the allocator reserves over what is allocated, where both were measured.
    std::optional<double> allocator_ratio;
    double step_time_s = 0;  ///< and the range in which such steps lie
    double low_s = 0;
    double high_s = 0;
    double tokens_per_s = 0;
    Bytes needs;  ///< of the fullest rank
};

struct Prediction {
    std::string scenario;
    double step_time_s = 0;
    /// Steps of drawn loads, of which this prediction is the one in the middle; unset where loads
    /// are even.
    std::optional<UnevenSteps> uneven;
    /// The memory of steps of drawn loads of experts, of which the one that decides is that of the
    /// ranks below; unset where no loads of experts are drawn.
    std::optional<DrawnMemoryFigures> drawn_memory;
    /// What training.recompute: auto chose; unset where it was not asked to.
    std::optional<ChosenRecompute> recompute;
    /// What parallel.partition: balanced chose; unset where it was not asked to.
    std::optional<ChosenCut> cut;
    std::optional<StepRange> range;  ///< unset where nobody measured a step on such GPUs
    /// Tokens per second of the whole job. Rates are those of many steps: what the mean step has,
    /// over its time.
    double tokens_per_s = 0;
    double samples_per_s = 0;
    std::optional<double> mfu;         ///< model FLOPs over peak; unset without a known peak rate
    std::optional<double> mfu_causal;  ///< the same with only what masks and chunks leave
    std::optional<double> hfu;         ///< the same with recompute counted
    double tflops_per_gpu = 0;         ///< counts model FLOPs
    double bubble = 0;
    double span_bubble = 0;
    double makespan_s = 0;
    std::int64_t parameters = 0;
    int replicas = 1;  ///< number of pipelines T x C x D that the trace stands for
    std::vector<RankPrediction> ranks;
    Bytes headroom;     ///< bytes of a device that no allocator gets
    Bytes memory_left;  ///< on the fullest rank, headroom taken off; below zero if it does not fit
    /// The same if the allocator reserved no more than is requested. Both are one where the
    /// allocator was not played.
    Bytes memory_left_of_requested;
    bool fits = true;    ///< memory that the allocator reserves and the headroom fit into a device
    bool tight = false;  ///< fits, but the memory left is within the error of predictions (kTight)
    std::string reason;  ///< why it does not fit: rank, op, by how much; empty only if it fits
    std::optional<MemoryRange> memory_range;  ///< unset for what this program runs itself
    MemoryVerdict memory_verdict = MemoryVerdict::Fits;
    std::string schedule_hash;
    std::optional<AnchoredFigures> anchored;  ///< set where a measured step was given
    std::optional<RunPlan> run;  ///< the whole training, where training.tokens says how long it is
    std::vector<ProvenanceNote> provenance;
    std::vector<std::string> notes;

    /// The seconds of a step that rates are over.
    double mean_step_s() const { return uneven ? uneven->mean_s() : step_time_s; }
};

/// A share of a device's memory. Reserved peaks are predicted within 3 % on average.
inline constexpr double kTight = 0.03;

/// More than an allocator reserves of a request, by all plans that were drawn: twice as much, and
/// some segments that hold little; half a request more where ZeRO-3 gathers parameters, which come
/// and go in unequal sizes (docs/decisions/0018).
constexpr Bytes most_reserved(Bytes requested, int zero_stage) {
    constexpr Bytes kSegments{256LL << 20};
    return 2 * requested + Bytes{zero_stage == 3 ? requested.count / 2 : 0} + kSegments;
}

}  // namespace debubble::sim
