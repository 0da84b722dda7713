#include "sim/uneven/drawn_memory.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/overloaded.h"
#include "base/parallel.h"
#include "sim/cost/physical_models.h"
#include "sim/engine/follow_memory.h"
#include "sim/memory/memory_play.h"
#include "sim/uneven/draw.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

/// A rank's events in order of time, and their parts that no load changes.
struct LedgerOfRank {
    Rank rank;
    std::vector<MemoryEvent> events;
    RankLedger ledger;
    Bytes held;
    Bytes optimizer;
};

std::vector<LedgerOfRank> ledgers_of(const Program& program, const MemoryModel& memory,
                                     const std::vector<std::vector<ActionTimes>>& times) {
    std::vector<LedgerOfRank> ledgers;
    const PlacementIndex index(program.placement);
    for (Rank rank{0}; rank.index < program.shape.ranks; ++rank.index) {
        std::vector<MemoryEvent> events = memory_events(program, index, rank, memory);
        RankLedger ledger(events, times[rank.index]);
        ledgers.push_back({rank, std::move(events), std::move(ledger),
                           total(memory.static_memory(rank)), memory.optimizer_transient(rank)});
    }
    return ledgers;
}

/// The passes of one rank in one pipeline, for fullest_of().
class PassesOfRank {
public:
    PassesOfRank(const LoadedStages& passes, const PipelineRows& rows, const MemoryModel& even,
                 const ActionList& list, const LedgerOfRank& of)
        : passes_(passes), rows_(rows), even_(even), list_(list), of_(of) {}

    const PassSums& of_action(std::uint32_t action) {
        if (last_ != action) sums_ = sums_of(list_[action]);
        last_ = action;
        return sums_;
    }
    Bytes saved(std::uint32_t event) const {
        const Compute forward = forward_of(of_.events[event]);
        return passes_.of(forward, rows_.of(forward)).held_after - even_.compute(forward).stays;
    }

private:
    PassSums sums_of(const Action& action) const {
        if (const auto* c = std::get_if<Compute>(&action)) return passes_.of(*c, rows_.of(*c));
        if (const auto* o = std::get_if<Overlap>(&action))
            return passes_.at_once(*o, rows_.of(o->first), rows_.of(o->second));
        if (const auto* r = std::get_if<Recompute>(&action))
            return passes_.again({Pass::Forward, r->stage, r->micro_batch},
                                 rows_.of(r->stage, r->micro_batch));
        return {{}, of_.optimizer, {}};
    }

    const LoadedStages& passes_;
    const PipelineRows& rows_;
    const MemoryModel& even_;
    const ActionList& list_;
    const LedgerOfRank& of_;
    std::optional<std::uint32_t> last_;
    PassSums sums_;
};

/// The highest load that is drawn.
double highest_drawn(const Scenario& scenario, const DrawnPipelines& pipelines) {
    double most = 1;
    const int layers = scenario.model.layers.count() + scenario.model.mtp_layers;
    for (const DrawnPipeline pipeline : pipelines.played()) {
        const Draw draw(scenario, pipeline);
        for (int layer = 0; layer < layers; ++layer)
            for (int mb = 0; mb < scenario.training.micro_batches; ++mb)
                most = std::max(most, draw.load(layer, mb));
    }
    return most;
}

}  // namespace

DrawnMemory::DrawnMemory(const Scenario& scenario, const scenarios::Plan& plan,
                         const Program& program, const MemoryModel& even,
                         const std::vector<std::vector<ActionTimes>>& times,
                         const std::stop_token& stop)
    : scenario_(scenario),
      plan_(plan),
      program_(program),
      even_(even),
      times_(times),
      stop_(stop),
      passes_(std::make_unique<const LoadedStages>(scenario, plan.stages, program, even)) {
    figures_.quantile = scenario.imbalance.fits_quantile;
    find_deciding(*passes_);
}

/// Where bytes are not linear in loads, all steps are planned for the highest load that any of them
/// draws.
void DrawnMemory::find_deciding(const LoadedStages& passes) {
    const DrawnPipelines pipelines(scenario_, program_);
    figures_.draws = pipelines.draws();
    if (!passes.are_lines()) {
        const Scenario& high =
            allocates_.emplace<Scenario>(with_load(scenario_, highest_drawn(scenario_, pipelines)));
        memory_ = make_memory_model(
            std::make_shared<const SchedulePrices>(high, plan_.stages, plan_.schedule));
        for (const MemoryPeak& peak : peaks())
            figures_.most = std::max(figures_.most, total(peak.held));
        figures_.p50 = figures_.at_quantile = figures_.most;
        return;
    }
    const std::vector<LedgerOfRank> ledgers = ledgers_of(program_, even_, times_);
    std::vector<Bytes> fullest(pipelines.played().size());
    run_parallel(fullest.size(), 0, nullptr, [&](std::size_t i) {
        give_up_if(stop_);
        const PipelineRows rows(scenario_, passes, pipelines.played()[i], program_.stage_count());
        for (const LedgerOfRank& of : ledgers) {
            const ActionList& list = program_.ranks[of.rank];
            PassesOfRank of_rank(passes, rows, even_, list, of);
            fullest[i] = std::max(fullest[i], fullest_of(of.ledger, of.held, of_rank));
        }
    });
    std::vector<std::pair<Bytes, std::size_t>> steps;  // the fullest pipeline of each draw
    for (int draw = 0; draw < pipelines.draws(); ++draw) {
        const std::vector<std::size_t> places = pipelines.of_draw(draw);
        const std::size_t most = *std::ranges::max_element(
            places, {}, [&](std::size_t place) { return fullest[place]; });
        steps.emplace_back(fullest[most], most);
    }
    std::ranges::stable_sort(steps, {}, &std::pair<Bytes, std::size_t>::first);
    const auto at = [&](double share) {
        const auto count = static_cast<double>(steps.size());
        return steps[static_cast<std::size_t>(std::clamp(std::ceil(share * count), 1.0, count)) -
                     1];
    };
    figures_.p50 = at(0.5).first;
    figures_.at_quantile = at(figures_.quantile).first;
    figures_.most = steps.back().first;
    figures_.decides = pipelines.played()[at(figures_.quantile).second];
    auto memory = std::make_unique<const DrawnMemoryModel>(scenario_, passes, figures_.decides,
                                                           even_, program_.stage_count());
    allocates_ =
        BytesOfTensors([of = memory.get()](Stage stage, const MicroBatch& mb, std::size_t tensor) {
            return of->bytes_of(stage, mb, tensor);
        });
    memory_ = std::move(memory);
}

std::vector<MemoryPeak> DrawnMemory::peaks() const {
    return follow_memory(program_, times_, *memory_, false).peaks;
}

std::vector<Bytes> DrawnMemory::reserved() const {
    const auto play = [&](const Scenario& scenario, const BytesOfTensors& bytes) {
        return play_reserved(scenario, plan_.stages, program_, times_, stop_, bytes);
    };
    return std::visit(Overloaded{[&](const BytesOfTensors& bytes) {
                                     return play(passes_->even_scenario(), bytes);
                                 },
                                 [&](const Scenario& high) { return play(high, {}); }},
                      allocates_);
}

}  // namespace debubble::sim
