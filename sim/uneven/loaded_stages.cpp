#include "sim/uneven/loaded_stages.h"

#include <cmath>

#include "scenarios/plan/derived.h"

namespace debubble::sim {
namespace {

using scenarios::Scenario;

constexpr double kRounding = 1e-6;  ///< for rounding up: bytes are whole, and their shares are not

/// A load above the even one at which stages are built, in addition to the even one.
double higher_load(const Scenario& scenario) {
    constexpr double kDeviations = 4;
    const scenarios::Imbalance& imbalance = scenario.imbalance;
    if (!imbalance.router_loads.empty()) return std::ranges::max(imbalance.router_loads);
    return scenario.training.expert_load * (1 + kDeviations * imbalance.router_spread);
}

}  // namespace

Scenario with_load(Scenario scenario, double load) {
    scenario.training.expert_load = load;
    return scenario;
}

LayerRows::LayerRows(const Scenario& scenario, int layer, double higher)
    : layer_(layer),
      most_(scenario.framework.capacity_factor),
      rows_(models::expert_rows_of(scenario.model, scenarios::execution_of(scenario), layer)),
      even_(rows_.at(capped(1))),
      between_(rows_.at(capped(higher)) - even_) {}

double LayerRows::share(double load) const {
    if (between_ == 0) return 0;
    return static_cast<double>(rows_.at(capped(load)) - even_) / static_cast<double>(between_);
}

LoadedStages::LoadedStages(const Scenario& scenario,
                           const std::vector<models::StageContent>& contents,
                           const Program& program, const MemoryModel& memory)
    : scenario_(scenario),
      memory_(memory),
      higher_load_(higher_load(scenario)),
      even_scenario_(with_load(scenario, 1)),
      higher_scenario_(with_load(scenario, higher_load_)),
      even_(even_scenario_, contents, program, RankStages::Names::OfOneAlike),
      higher_(higher_scenario_, contents, program, RankStages::Names::OfOneAlike),
      slices_(program.shape.slices) {
    for (std::size_t s = 0; s < contents.size(); ++s) add_stage(s, contents);
    for (const ActionList& list : program.ranks)
        for (const Action& action : list)
            if (are_lines_) add(action);
}

PassSums LoadedStages::of(const Compute& c, std::span<const double> shares) const {
    const LoadedPiece& piece = *stages_[row(c)].whole[c.pass];
    const LoadedPiece::Fullest fullest = piece.fullest(shares);
    const bool keeps_input = c.pass == Pass::Forward && runs_again(c.stage);
    return {keeps_input ? memory_.compute(c).held_after : piece.after.at(shares), fullest.level,
            fullest.unsharded};
}

/// The input exists already; every other saved tensor of the forward is recomputed.
PassSums LoadedStages::again(const Compute& forward, std::span<const double> shares) const {
    const LoadedPiece& piece = *stages_[row(forward)].again;
    const LoadedPiece::Fullest fullest = piece.fullest(shares);
    const Bytes input = input_of(forward);
    return {piece.after.at(shares) - input, fullest.level - input, fullest.unsharded};
}

PassSums LoadedStages::at_once(const Overlap& o, std::span<const double> of_first,
                               std::span<const double> of_second) const {
    if (scenario_.schedule.pairs_layers && o.first.pass == Pass::Forward) {
        const PassMemory pair =
            pair_memory(turns(o.first).at(of_first), turns(o.second).at(of_second));
        return {pair.held_after, pair.peak_above, {}};
    }
    const PassSums first = of(o.first, of_first), second = of(o.second, of_second);
    return {first.held_after + second.held_after,
            first.peak_above + second.peak_above - std::min(first.unsharded, second.unsharded),
            {}};
}

Bytes LoadedStages::input_of(const Compute& forward) const {
    const models::StageGraph& of = graph(forward);
    return of.input ? of.tensors[*of.input].bytes : Bytes{};
}

std::optional<Bytes> LoadedStages::bytes_of(const Compute& c, std::size_t tensor,
                                            std::span<const double> shares) const {
    const StagePasses& passes = stages_[row(c)];
    const std::optional<std::size_t> layer = passes.layers[tensor];
    if (!layer) return std::nullopt;
    const Bytes even = passes.loads.even->tensors[tensor].bytes;
    const Bytes more = passes.loads.higher->tensors[tensor].bytes - even;
    const double added = std::ceil(static_cast<double>(more.count) * shares[*layer] - kRounding);
    return even + Bytes{static_cast<std::int64_t>(added)};
}

std::size_t LoadedStages::row(const Compute& c) const {
    const std::size_t built = built_as_[c.stage];
    return built * slices_ + c.micro_batch.slice.value_or(0);
}

const LoadedTurns& LoadedStages::turns(const Compute& c) const {
    return *stages_[row(c)].turns[c.pass];
}

void LoadedStages::add_stage(std::size_t index, const std::vector<models::StageContent>& contents) {
    const Stage stage{static_cast<int>(index)};
    std::size_t like = 0;
    while (!even_.share_graph(Stage{static_cast<int>(like)}, stage)) ++like;
    built_as_.push_back(like);
    again_.push_back(false);
    const models::StageContent& content = contents[index];
    std::vector<int> layers;
    std::vector<LayerRows>& rows = rows_.emplace_back();
    const int end = content.first_layer + content.layers +
                    content.prediction_layers(scenario_.model.mtp_layers);
    for (int layer = content.first_layer; layer < end; ++layer) {
        if (scenario_.model.layer_at(layer).as<models::Experts>() == nullptr) continue;
        layers.push_back(layer);
        rows.emplace_back(scenario_, layer, higher_load_);
    }
    for (int slice = 0; slice < slices_; ++slice) {
        StagePasses& passes = stages_.emplace_back();
        if (like != index) continue;
        passes.loads = {&even_.graph(stage, slice), &higher_.graph(stage, slice), layers};
        are_lines_ = are_lines_ && differ_in_bytes_alone(*passes.loads.even, *passes.loads.higher);
        if (are_lines_) passes.layers = layers_of_rows(passes.loads);
    }
}

void LoadedStages::add(const Action& action) {
    for_each_compute(action, [&](const Compute& c) { add(c); });
    const auto* recompute = std::get_if<Recompute>(&action);
    if (recompute == nullptr) return;
    again_[recompute->stage] = true;
    const Compute forward{Pass::Forward, recompute->stage, recompute->micro_batch};
    StagePasses& passes = stages_[row(forward)];
    if (!passes.again)
        passes.again =
            loaded_pass(passes.loads, even_.steps(forward), even_.held_during(forward), true);
}

void LoadedStages::add(const Compute& c) {
    StagePasses& passes = stages_[row(c)];
    std::optional<LoadedPiece>& whole = passes.whole[c.pass];
    if (!whole) whole = loaded_pass(passes.loads, even_.steps(c), even_.held_during(c));
    std::optional<LoadedTurns>& turns = passes.turns[c.pass];
    if (scenario_.schedule.pairs_layers && !turns)
        turns = loaded_turns(passes.loads, even_.steps(c), even_.held_during(c));
}

}  // namespace debubble::sim
