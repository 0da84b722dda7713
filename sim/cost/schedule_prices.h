#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/partition/partition.h"
#include "scenarios/plan/scenario.h"
#include "schedule/schedule.h"
#include "sim/cost/stage_price.h"

/// The prices of the stages and layers of a scenario, and of the schedule made of them.
namespace debubble::sim {

/// The prices of one scenario's stages. A price depends on the machine, the layout and the stage,
/// and neither on the schedule's order nor on the number of microbatches, so the plans of a sweep
/// need the same prices again and again: the latest are cached for the whole process, by value.
/// Thread-safe.
class PricedStages {
public:
    /// Keeps references to its arguments.
    PricedStages(const scenarios::Scenario& scenario, const PassPricer& pricer);

    std::shared_ptr<const StagePrice> get(const models::StageContent& content, int slice,
                                          const ScheduledPasses& passes) const;

private:
    struct Scene;
    struct Key;
    std::shared_ptr<const Scene> scene_;
    const scenarios::Scenario& scenario_;
    const PassPricer& pricer_;
};

/// The properties of a schedule by which its stages are priced. A schedule whose order depends on
/// prices has them before it has the order.
struct PricedPasses {
    Placement placement;
    int slices = 1;
    ScheduledPasses kinds = {};              ///< without those of pairs, which the scenario states
    IndexedBy<Stage, bool> recomputed = {};  ///< stages with Recompute actions
};
PricedPasses priced_passes(const Schedule& schedule);

/// The layers that the parts of a price name: the stage's own, or those of the first stage like it
/// in the model. Plans whose stages begin elsewhere then have the same prices, which are known
/// sooner.
enum class LayersNamed : std::uint8_t { Own, OfFirstAlike };

/// The prices of every stage of a schedule: the source of both its times and its memory. Equal
/// stages share one price.
class SchedulePrices {
public:
    /// Precondition: one content per stage of the schedule.
    SchedulePrices(const scenarios::Scenario& scenario,
                   const std::vector<models::StageContent>& stages, PricedPasses passes,
                   LayersNamed named = LayersNamed::Own);
    SchedulePrices(const scenarios::Scenario& scenario,
                   const std::vector<models::StageContent>& stages, const Schedule& schedule)
        : SchedulePrices(scenario, stages, priced_passes(schedule)) {}
    SchedulePrices(const SchedulePrices&) = delete;  // the pricer refers to the scenario in it
    SchedulePrices& operator=(const SchedulePrices&) = delete;

    const scenarios::Scenario& scenario() const { return scenario_; }
    const Placement& placement() const { return placement_; }
    const PassPricer& pricer() const { return pricer_; }

    const StagePrice& of(Stage stage, const MicroBatch& micro_batch) const {
        return *distinct_[price_of_[stage]].slices[micro_batch.slice.value_or(0)];
    }
    const StagePrice& of(const Compute& c) const { return of(c.stage, c.micro_batch); }
    /// For the first slice, where the result does not depend on it.
    const StagePrice& of(Stage stage) const { return of(stage, {}); }
    /// The bytes that a rank sends of the message.
    Bytes bytes_of(const Message& message) const {
        const StagePrice& producer = of(message.producer);
        return message.kind == Message::Kind::Activation ? producer.sent() : producer.sent_back();
    }
    /// The time of all passes of a microbatch over a stage of this content, as the schedule has
    /// them. The stage need not be one of the schedule's.
    Duration time_of(const models::StageContent& content) const;
    int first_layer(Stage stage) const { return first_layer_[stage]; }
    /// Whether Recompute actions recompute the stage's forward: for all its microbatches, as the
    /// executor does.
    bool runs_again(Stage stage) const { return recomputed_[stage]; }

    const models::ParameterCount& elements(Stage stage) const { return of(stage).parameters().all; }
    models::ParameterCount elements_of(Rank rank) const;
    /// Of these, the elements that stay whole within DeepSpeed's limits (fetch_plan.h).
    models::ParameterCount whole_elements_of(Rank rank) const;
    /// The matrices that the rank's optimizer orthogonalises, if it is Muon.
    std::vector<StepMatrix> matrices_of(Rank rank) const;

    /// `visit(price)` for each distinct price.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Priced& priced : distinct_)
            for (const auto& price : priced.slices) visit(*price);
    }

private:
    struct Priced {
        models::StageContent content;
        std::vector<std::shared_ptr<const StagePrice>> slices;
    };

    /// The first content in the model that is like this one, where that is cheap to tell.
    models::StageContent first_alike(const models::StageContent& content) const;

    scenarios::Scenario scenario_;
    Placement placement_;
    PassPricer pricer_;
    PricedStages prices_;
    ScheduledPasses passes_;
    int slices_;
    IndexedBy<Stage, bool> recomputed_;
    std::vector<Priced> distinct_;
    IndexedBy<Stage, int> first_layer_;       ///< its number in the model
    IndexedBy<Stage, std::size_t> price_of_;  ///< index into distinct_
};

/// Seconds that each layer adds to all passes of a microbatch over its stage, and that the
/// embedding and the head add to theirs, where stages have about as many layers as `stages` equal
/// ones. An additional layer of a stage adds no launch or wait of the pass itself, and is
/// recomputed only if the last layer of a stage is.
models::LayerCosts layer_costs(const SchedulePrices& prices, int stages);

}  // namespace debubble::sim
