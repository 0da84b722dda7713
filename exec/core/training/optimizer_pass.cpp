#include "exec/core/training/optimizer_pass.h"

#include <optional>
#include <utility>

#include "exec/core/device.h"

namespace debubble::exec {

namespace {

/// The tensors of a unit that the optimizer reads and writes: flat, with the same elements; empty
/// where a unit has none of the kind.
struct Operands {
    TensorView gradient;
    TensorView main;       ///< the parameter that it steps
    TensorView parameter;  ///< the copy of `main` in its own type
    TensorView moments[2];

    Operands part(const FlatRange& range) const {
        const auto cut = [&](const TensorView& all) {
            return part_of(all, range.first, range.count);
        };
        return {cut(gradient), cut(main), cut(parameter), {cut(moments[0]), cut(moments[1])}};
    }
    template <class Visit>
    void each_on_host(const StatePolicy& policy, const Visit& visit) {
        if (policy.main) visit(main);
        for (TensorView& moment : moments)
            if (moment) visit(moment);
    }
};

Operands operands_of(const UnitState& unit, const StatePolicy& policy) {
    const FlatRange range = unit.stepped();
    const TensorView values = unit.held_values(range);
    Operands all{unit.held_gradients(range), values, {}, {}};
    if (policy.main) {
        all.main = unit.main(range);
        all.parameter = values;
    }
    for (int m = 0; m < unit.moments(); ++m) all.moments[m] = unit.moment(m, range);
    return all;
}

/// The weight decay of parameters that are contiguous in memory.
struct Decay {
    bool decays = true;
    double to = 0;  ///< value that they are pulled to
    friend bool operator==(const Decay&, const Decay&) = default;
};
struct DecayRun {
    FlatRange range;  ///< within the part of the unit that the rank steps
    Decay decay;
};

/// The ranges of a unit with the same weight decay. The padding after its parameters is in none of
/// them.
std::vector<DecayRun> decay_runs(const OptimizerOptions& optimizer, const TrainedStage& stage,
                                 const UnitState& unit) {
    const bool matrices = weight_decay_of(optimizer) == scenarios::WeightDecayOf::Matrices;
    const bool decays =
        std::visit([](const auto& options) { return options.weight_decay != 0; }, optimizer);
    std::vector<DecayRun> runs;
    for (const UnitSlot& slot : unit.unit().slots) {
        const models::Parameter& parameter = stage.parameters()[slot.parameter];
        Decay decay{decays && (!matrices || parameter.shape.size() > 1), 0};
        if (decay.decays && parameter.zero_centred) decay.to = 1;
        FlatRange range = intersection(slot.range, unit.stepped());
        if (range.count == 0) continue;
        range.first -= unit.stepped().first;
        if (!runs.empty() && runs.back().decay == decay)
            runs.back().range.count += range.count;
        else
            runs.push_back({range, decay});
    }
    return runs;
}

/// Adam's options, also for what Muon leaves to AdamW.
std::optional<AdamOptions> adam_of(const OptimizerOptions& optimizer) {
    if (const auto* adam = std::get_if<AdamOptions>(&optimizer)) return *adam;
    const auto* muon = std::get_if<scenarios::MuonOptions>(&optimizer);
    if (muon == nullptr) return std::nullopt;
    AdamOptions rest = scenarios::kAdamW;
    rest.weight_decay = muon->weight_decay;
    return rest;
}

void step(const OptimizerPass& pass, const Decay& decay, const Operands& of, Kernels& kernels) {
    const auto now = [&](auto options) {
        options.lr = pass.lr;
        if (!decay.decays) options.weight_decay = 0;
        return options;
    };
    if (const auto adam = adam_of(pass.optimizer))
        kernels.adam_step(now(*adam), pass.step, pass.gradient_factor, decay.to, of.gradient,
                          of.main, of.moments[0], of.moments[1], of.parameter);
    else
        kernels.sgd_step(now(std::get<SgdOptions>(pass.optimizer)), pass.step, pass.gradient_factor,
                         decay.to, of.gradient, of.main, of.moments[0], of.parameter);
}

/// Steps a range of a unit with these operands; `first` counts within the part that the rank steps.
void step_runs(const OptimizerPass& pass, const std::vector<DecayRun>& runs, std::int64_t first,
               const Operands& of, Kernels& kernels) {
    for (const DecayRun& run : runs) {
        FlatRange here = intersection(run.range, {first, of.main.shape.elements()});
        if (here.count == 0) continue;
        here.first -= first;
        step(pass, run.decay, of.part(here), kernels);
    }
}

HostState through_device(const OptimizerPass& pass, const std::vector<DecayRun>& runs, Operands all,
                         const StatePolicy& policy, Kernels& kernels) {
    HostState unit;
    all.each_on_host(policy, [&](const TensorView& tensor) { unit.tensors.push_back(tensor); });
    unit.step = [=, &pass, &policy, &kernels](std::int64_t first,
                                              std::span<const TensorView> slices) {
        Operands part = all.part({first, slices.front().shape.elements()});
        auto slice = slices.begin();
        part.each_on_host(policy, [&](TensorView& tensor) { tensor = *slice++; });
        step_runs(pass, runs, first, part, kernels);
    };
    return unit;
}

}  // namespace

void step_parameters(const OptimizerPass& pass, const std::vector<LocalStage>& stages,
                     const StatePolicy& policy, Kernels& kernels, Arena& arena) {
    Device* const device = policy.offload_optimizer ? arena.device() : nullptr;
    std::vector<HostState> on_host;
    for (const LocalStage& local : stages) {
        for (const UnitState& unit : local.state->units()) {
            if (unit.stepped().count == 0 || unit.unit().matrices) continue;
            const Operands all = operands_of(unit, policy);
            const std::vector<DecayRun> runs = decay_runs(pass.optimizer, *local.state, unit);
            HostState state;
            if (device != nullptr) state = through_device(pass, runs, all, policy, kernels);
            if (state.tensors.empty())
                step_runs(pass, runs, 0, all, kernels);
            else
                on_host.push_back(std::move(state));
        }
    }
    if (device != nullptr && !on_host.empty())
        pass_through_device(on_host, device->lanes(), arena, policy.offload_buffer);
}

}  // namespace debubble::exec
