#include "sim/explain/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/counts/counts.h"
#include "models/execution/laws.h"
#include "models/graph/graph.h"
#include "models/network/weight_format.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/cluster/reader.h"
#include "schedule/dependencies.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

/// The share of all compute time that is due to the host's launches alone.
double host_share(const Program& program, const CostModel& costs) {
    Duration host{};
    Duration all{};
    for (int r = 0; r < program.shape.ranks; ++r)
        for (const Action& action : program.ranks[r])
            for_each_compute(action, [&](const Compute& c) {
                const ComputeCost cost = costs.compute(c, Rank{r});
                host += cost.host;
                all += cost.duration;
            });
    return all.count() == 0 ? 0 : seconds(host) / seconds(all);
}

void say_what_sets_the_pace(Prediction& out, double host) {
    constexpr double kWorthSaying = 0.2;
    if (host < kWorthSaying) return;
    out.notes.push_back(
        fmt::format("the host is the bottleneck: {:.0f} % of the compute time is the framework's "
                    "launching of small kernels; a larger training.micro_batch would hide it",
                    100 * host));
}

void say_what_the_device_lacks(Prediction& out, const Scenario& scenario) {
    const scenarios::Gpu& gpu = scenario.cluster.gpu;
    if (scenario.training.precision.compute != models::DataType::Bf16 || gpu.bf16) return;
    out.notes.push_back(
        fmt::format("{} has no matrix units for bf16; its fp16 rate is taken, which bf16 "
                    "would not reach: training.precision fp16 suits it",
                    gpu.name));
}

/// Parts of the plan that are not covered by the measured steps behind its range; without such
/// steps, those that no measured step covers.
void say_how_near(Prediction& out, const Scenario& scenario) {
    const std::vector<std::string> features = unvalidated_features(scenario);
    if (features.empty()) return;
    out.notes.push_back(fmt::format("{}: {}",
                                    out.range ? "not covered by the measured steps behind the range"
                                              : "unvalidated by any measured training step",
                                    fmt::join(features, ", ")));
}

/// Constants that take their default because the cluster's file does not give them are assumptions
/// too.
void say_what_was_not_given(Prediction& out, const Scenario& scenario) {
    for (const scenarios::DefaultConstant& constant : scenarios::defaults_of(scenario.cluster))
        if (is_read(scenario, constant.key))
            out.provenance.push_back(
                {constant.key, "assumed",
                 fmt::format("not given, so {}: {}", constant.value, constant.source)});
}

/// The laws' constants for every cluster, with their values.
void say_what_laws_hold(Prediction& out, const Scenario& scenario) {
    for (const models::LawConstant& constant : models::law_constants())
        if (reads_law(scenario, constant.name))
            out.provenance.push_back({"laws." + constant.name, constant.provenance,
                                      constant.value + ": " + constant.source});
}

/// Medians of a busy machine are too long, and so are all predictions from them.
void say_if_measured_on_a_busy_machine(Prediction& out, const scenarios::Cluster& cluster) {
    const std::optional<double>& share = cluster.measured->core_share;
    if (!share) return;
    const std::string what = fmt::format(
        "when {} was measured, its threads had a core for {:.0f} % of the time that "
        "they computed, since others used the machine",
        cluster.name, 100 * *share);
    out.provenance.push_back({"measured.core_share", "measured", what});
    out.notes.push_back(what + ": its times are too long; calibrate again on an idle machine");
}

/// Every operator that was priced by rates although others were measured has a line of provenance.
void say_what_was_measured(Prediction& out, const Scenario& scenario, const CostModel& costs) {
    const auto& measured = scenario.cluster.measured;
    if (!measured) return;
    if (!scenarios::measures_operators(measured)) {
        out.provenance.push_back({"measured.collectives", "measured", measured->with});
        return;
    }
    out.provenance.push_back({"measured.operators", "measured", measured->with});
    say_if_measured_on_a_busy_machine(out, scenario.cluster);
    const std::vector<std::string> missing = costs.unmeasured();
    for (const std::string& what : missing)
        out.provenance.push_back(
            {"not measured: " + what, "assumed", "priced by the rates of the device"});
    if (missing.empty()) return;
    out.notes.push_back(
        fmt::format("{} operators were not measured on {} and are priced by its rates: {}{}; "
                    "debubble calibrate --scenario {} measures them",
                    missing.size(), scenario.cluster.name, missing.front(),
                    missing.size() > 1 ? ", ..." : "", scenario.name));
}

/// FLOPs of each kind of layer of a sample beyond those of the ends.
std::vector<double> work_of_kinds(const Scenario& scenario) {
    const auto flops = [&](const models::Layers& layers) {
        models::Architecture model = scenario.model;
        model.layers = layers;
        model.mtp_layers = 0;
        return models::attended_flops_per_sample(model, scenario.training.seq_length);
    };
    const double ends = flops({});
    std::vector<double> work;
    for (const models::Layer& kind : scenario.model.layers.kinds())
        work.push_back(flops({kind, 1}) - ends);
    return work;
}

/// For a hybrid whose stages have equal numbers of layers.
std::string unlike_layers(const Scenario& scenario) {
    const std::vector<models::Layer>& kinds = scenario.model.layers.kinds();
    const bool hybrid = std::ranges::any_of(kinds, [](const models::Layer& layer) {
        return layer.is_recurrent() || !layer.mixes() || !layer.has_mlp();
    });
    const bool uniform = scenario.parallel.partition == scenarios::Partition::Uniform;
    if (!hybrid || !uniform || kinds.size() < 2 || scenario.parallel.pipeline == 1) return {};
    const auto [least, most] = std::ranges::minmax(work_of_kinds(scenario));
    constexpr double kAlike = 1.2;
    if (most < kAlike * least) return {};
    return fmt::format(
        "layers of {} kinds differ in work by up to {:.1f} times: stages of equal numbers of "
        "layers "
        "are not equal ('parallel.partition: balanced' evens them)",
        kinds.size(), most / least);
}

}  // namespace

void explain(Prediction& out, const Scenario& scenario, const Program& program,
             const CostModel& costs) {
    out.notes = scenario.notes;
    for (std::string sentence :
         {models::tower_words(scenario.model), models::stream_words(scenario.model),
          models::choice_words(scenario.model), unlike_layers(scenario)})
        if (!sentence.empty()) out.notes.push_back(std::move(sentence));
    say_what_sets_the_pace(out, host_share(program, costs));
    say_what_the_device_lacks(out, scenario);
    say_how_near(out, scenario);
    for (const auto& [what, origin] : scenario.cluster.origins)
        out.provenance.push_back({what, std::string(name_of(origin.provenance)), origin.source});
    say_what_was_not_given(out, scenario);
    say_what_laws_hold(out, scenario);
    say_what_was_measured(out, scenario, costs);
}

}  // namespace debubble::sim
