#include "exec/core/training/optimizer_pass.h"

#include <optional>
#include <utility>

#include "exec/core/device.h"
#include "exec/core/training/state_stream.h"

namespace debubble::exec {

namespace {

/// The tensors of a unit that the optimizer reads and writes: flat, with the same elements; empty
/// where a unit has none of the kind.
struct Operands {
    TensorView gradient;
    TensorView main;       ///< the parameter that it steps
    TensorView parameter;  ///< the copy of `main` in its own type
    TensorView moments[2];

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

/// Adam's options, also for what Muon leaves to AdamW.
std::optional<AdamOptions> adam_of(const OptimizerOptions& optimizer) {
    if (const auto* adam = std::get_if<AdamOptions>(&optimizer)) return *adam;
    const auto* muon = std::get_if<scenarios::MuonOptions>(&optimizer);
    if (muon == nullptr) return std::nullopt;
    AdamOptions rest = scenarios::kAdamW;
    rest.weight_decay = muon->weight_decay;
    return rest;
}

void step(const OptimizerPass& pass, const Operands& of, Kernels& kernels) {
    if (const auto adam = adam_of(pass.optimizer)) {
        AdamOptions now = *adam;
        now.lr = pass.lr;
        kernels.adam_step(now, pass.step, pass.gradient_factor, of.gradient, of.main, of.moments[0],
                          of.moments[1], of.parameter);
    } else {
        SgdOptions now = std::get<SgdOptions>(pass.optimizer);
        now.lr = pass.lr;
        kernels.sgd_step(now, pass.step, pass.gradient_factor, of.gradient, of.main, of.moments[0],
                         of.parameter);
    }
}

HostState through_device(const OptimizerPass& pass, Operands all, const StatePolicy& policy,
                         Kernels& kernels) {
    HostState unit;
    all.each_on_host(policy, [&](const TensorView& tensor) { unit.tensors.push_back(tensor); });
    unit.step = [=, &pass, &policy, &kernels](std::int64_t first,
                                              std::span<const TensorView> slices) {
        const std::int64_t count = slices.front().shape.elements();
        Operands part = all;
        part.gradient = part_of(all.gradient, first, count);
        part.parameter = part_of(all.parameter, first, count);
        part.main = part_of(all.main, first, count);
        auto slice = slices.begin();
        part.each_on_host(policy, [&](TensorView& tensor) { tensor = *slice++; });
        step(pass, part, kernels);
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
            HostState state;
            if (device != nullptr) state = through_device(pass, all, policy, kernels);
            if (state.tensors.empty())
                step(pass, all, kernels);
            else
                on_host.push_back(std::move(state));
        }
    }
    if (device != nullptr && !on_host.empty())
        pass_through_device(on_host, device->lanes(), arena, policy.offload_buffer);
}

}  // namespace debubble::exec
