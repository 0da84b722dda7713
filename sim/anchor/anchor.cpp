#include "sim/anchor/anchor.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "scenarios/plan/derived.h"
#include "sim/plan/plan_words.h"
#include "sim/predict.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"
#include "text/shipped_files.h"

namespace debubble::sim {
namespace {

namespace fs = std::filesystem;

constexpr double kMostTimes = 1000;
constexpr int kMostPairs = 10'000'000;
/// The plan that was measured took exactly its measured time.
const Carry kItself{kNoDifference, 0, 1, 1, 1};

const std::vector<Carry>& shipped_carries() {
    static const std::vector<Carry> kShipped = [] {
        std::vector<Carry> all;
        const auto path = text::data_folder() / "scenarios" / "residuals" / "anchors.json";
        if (!fs::exists(path)) return all;
        text::Mistakes mistakes;
        text::MappingReader in(text::parse_json(read_file(path), path.string()), "carries",
                               mistakes);
        std::string about;
        in.text("about", about);
        if (const text::NodePtr list = in.value("classes"))
            for (const text::NodePtr& node : list->items) {
                text::MappingReader of(node, "class", mistakes);
                Carry carry;
                of.text("differs", carry.differs);
                of.whole("pairs", carry.pairs, 1, kMostPairs);
                of.real("low", carry.low, 1 / kMostTimes, kMostTimes);
                of.real("middle", carry.middle, 1 / kMostTimes, kMostTimes);
                of.real("high", carry.high, 1 / kMostTimes, kMostTimes);
                of.finish();
                all.push_back(carry);
            }
        in.finish();
        mistakes.throw_if_any();
        return all;
    }();
    return kShipped;
}

/// The carry of the class, else of plans that differ in several ways.
Carry carry_of(const std::string& difference) {
    if (difference == kItself.differs) return kItself;
    const std::vector<Carry>& known = shipped_carries();
    for (const std::string& word : {difference, std::string("several")})
        if (const auto found = std::ranges::find(known, word, &Carry::differs);
            found != known.end())
            return *found;
    return {difference, 0, 1 / kMostTimes, 1, kMostTimes};
}

std::optional<double> measured_step(const Anchor& anchor, const Prediction& prediction) {
    const MeasuredPlan& measured = anchor.measured;
    if (measured.step_s) return measured.step_s;
    const double gpus = anchor.scenario.gpus;
    if (measured.tokens_per_s_per_gpu)
        return prediction.tokens_per_s * prediction.mean_step_s() /
               (*measured.tokens_per_s_per_gpu * gpus);
    if (measured.tflops_per_gpu)
        return scenarios::printed_flops_per_step(anchor.scenario) /
               (*measured.tflops_per_gpu * 1e12 * gpus);
    return std::nullopt;
}

const RankPrediction& fullest(const Prediction& prediction) {
    return *std::ranges::max_element(prediction.ranks, {}, &RankPrediction::needs);
}

/// Memory that no pass makes: parameters, gradients and optimizer state, at the peak.
double held(const RankPrediction& rank) {
    const auto of = [&](MemoryClass what) { return rank.memory[what].count; };
    return static_cast<double>(total(rank.memory).count - of(MemoryClass::Activations) -
                               of(MemoryClass::Workspace));
}

/// The predicted parts, as the mean over all ranks, or over the named ones.
StepParts parts_of(const Prediction& prediction, const std::vector<Rank>* only = nullptr) {
    StepParts parts;
    for (const RankPrediction& rank : prediction.ranks) {
        if (only != nullptr && std::ranges::find(*only, rank.rank) == only->end()) continue;
        parts.ranks.push_back(rank.rank);
        parts.compute_s += rank.busy_s + rank.optimizer_s;
        parts.exposed_s += rank.exposed_comm_s;
        parts.idle_s += rank.idle_s;
    }
    const double ranks = std::max<double>(1, static_cast<double>(parts.ranks.size()));
    parts.compute_s /= ranks;
    parts.exposed_s /= ranks;
    parts.idle_s /= ranks;
    return parts;
}

constexpr double kSmallPart = 0.01;  ///< of the step

PartRatios ratios(StepParts measured, StepParts predicted) {
    const double small =
        kSmallPart * (predicted.compute_s + predicted.exposed_s + predicted.idle_s);
    const auto join_if_small = [&](double StepParts::*part) {
        if (predicted.*part >= small) return;
        measured.compute_s += std::exchange(measured.*part, 0);
        predicted.compute_s += std::exchange(predicted.*part, 0);
    };
    join_if_small(&StepParts::exposed_s);
    join_if_small(&StepParts::idle_s);
    PartRatios of;
    of.compute = measured.compute_s / predicted.compute_s;
    const auto ratio = [&](double StepParts::*part) {
        return predicted.*part > 0 ? measured.*part / predicted.*part : of.compute;
    };
    of.exposed = ratio(&StepParts::exposed_s);
    of.idle = ratio(&StepParts::idle_s);
    return of;
}

double corrected(const PartRatios& by, const StepParts& parts) {
    return by.compute * parts.compute_s + by.exposed * parts.exposed_s + by.idle * parts.idle_s;
}

}  // namespace

AnchoredBy::AnchoredBy(Anchor anchor) : anchor_(std::move(anchor)) {
    const Prediction own = predict(anchor_.scenario, {}).prediction;
    take_time(own);
    if (!own.ranks.empty()) take_memory(own);
}

void AnchoredBy::take_time(const Prediction& own) {
    const auto step = measured_step(anchor_, own);
    if (!step) return;
    time_ratio_ = *step / own.mean_step_s();
    if (!anchor_.measured.parts) return;
    const StepParts predicted = parts_of(own, &anchor_.measured.parts->ranks);
    if (predicted.ranks.empty() || predicted.compute_s <= 0) return;
    parts_ = ratios(*anchor_.measured.parts, predicted);
    whole_ = *step / (corrected(*parts_, parts_of(own)) * own.mean_step_s() / own.step_time_s);
}

void AnchoredBy::take_memory(const Prediction& own) {
    const RankPrediction& rank = fullest(own);
    const auto& measured = anchor_.measured;
    const bool both = measured.reserved && measured.allocated;
    const auto bytes = measured.allocated ? measured.allocated : measured.reserved;
    if (!bytes) return;
    const double predicted =
        static_cast<double>((measured.allocated ? rank.peak_memory : rank.needs()).count);
    const double above = static_cast<double>(bytes->count) - held(rank);
    if (above <= 0 || predicted <= held(rank)) return;
    memory_ratio_ = above / (predicted - held(rank));
    if (!both) return;
    const auto over = [](Bytes reserved, Bytes allocated) {
        return static_cast<double>(reserved.count) / static_cast<double>(allocated.count);
    };
    allocator_ratio_ =
        over(*measured.reserved, *measured.allocated) / over(rank.needs(), rank.peak_memory);
}

/// Seconds of the predicted step.
double AnchoredBy::step_of(const Prediction& prediction) const {
    if (!parts_) return time_ratio_.value_or(1) * prediction.step_time_s;
    return whole_ * corrected(*parts_, parts_of(prediction));
}

Bytes AnchoredBy::needs_of(const RankPrediction& rank) const {
    const double ratio = memory_ratio_.value_or(1);
    if (!allocator_ratio_) {
        const double above = static_cast<double>(rank.needs().count) - held(rank);
        return Bytes{static_cast<std::int64_t>(held(rank) + ratio * above)};
    }
    const auto peak = static_cast<double>(rank.peak_memory.count);
    const double allocated = held(rank) + ratio * (peak - held(rank));
    const double over = *allocator_ratio_ * static_cast<double>(rank.needs().count) / peak;
    return Bytes{static_cast<std::int64_t>(allocated * std::max(1.0, over))};
}

void AnchoredBy::correct(const scenarios::Scenario& scenario, Prediction& prediction) const {
    const AnchoredFigures figures = of(scenario, prediction);
    if (time_ratio_) {
        const double faster = prediction.step_time_s / figures.step_time_s;
        prediction.step_time_s = figures.step_time_s;
        prediction.tokens_per_s = figures.tokens_per_s;
        prediction.samples_per_s *= faster;
        prediction.tflops_per_gpu *= faster;
        for (auto* share : {&prediction.mfu, &prediction.mfu_causal, &prediction.hfu})
            if (*share) **share *= faster;
        if (prediction.range) {
            prediction.range->low_s = figures.low_s;
            prediction.range->high_s = figures.high_s;
        }
    }
    if (memory_ratio_ && !prediction.ranks.empty()) {
        const Bytes more = figures.needs - fullest(prediction).needs();
        prediction.memory_left -= more;
        prediction.memory_left_of_requested -= more;
        const bool fits = prediction.memory_left >= Bytes{};
        prediction.reason = fits ? std::string()
                            : !prediction.fits
                                ? prediction.reason
                                : fmt::format(
                                      "by the measured plan it needs {:.2f} GiB, more "
                                      "than a device has",
                                      gib(figures.needs));
        prediction.fits = fits;
    }
    prediction.anchored = figures;
}

double AnchoredBy::least_ratio() const {
    if (!parts_) return time_ratio_.value_or(1);
    return whole_ * std::min({parts_->compute, parts_->exposed, parts_->idle});
}

AnchoredFigures AnchoredBy::of(const scenarios::Scenario& scenario,
                               const Prediction& prediction) const {
    AnchoredFigures figures;
    figures.anchor = whole_plan_of(anchor_.scenario);
    figures.keys = differing_keys(anchor_.scenario, scenario);
    figures.carry = carry_of(class_of_difference(figures.keys));
    figures.time_ratio = time_ratio_;
    figures.memory_ratio = memory_ratio_;
    figures.parts = parts_;
    figures.allocator_ratio = allocator_ratio_;
    figures.step_time_s = step_of(prediction);
    figures.low_s = figures.step_time_s * figures.carry.low;
    figures.high_s = figures.step_time_s * figures.carry.high;
    figures.tokens_per_s = prediction.tokens_per_s * prediction.step_time_s / figures.step_time_s;
    for (const RankPrediction& rank : prediction.ranks)
        figures.needs = std::max(figures.needs, needs_of(rank));
    return figures;
}

}  // namespace debubble::sim
