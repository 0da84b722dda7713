#include "sim/uneven/draw.h"

#include <algorithm>
#include <random>

namespace debubble::sim {
namespace {

int played_of_draw(int draws, int of_step, const Program& program) {
    std::size_t actions = 1;
    for (const ActionList& list : program.ranks) actions += list.size();
    const double most = kMostPlayedActions / static_cast<double>(actions) / draws;
    return static_cast<int>(std::clamp<double>(most, 1, of_step));
}

}  // namespace

int pipelines_of_step(const scenarios::Scenario& scenario) {
    const scenarios::Imbalance& imbalance = scenario.imbalance;
    if (!imbalance.is_random()) return 1;
    const scenarios::Parallel& parallel = scenario.parallel;
    if (imbalance.documents || imbalance.jitter > 0) return parallel.data;
    return scenario.model.has_experts() ? expert_groups(parallel) : 1;
}

DrawnPipelines::DrawnPipelines(const scenarios::Scenario& scenario, const Program& program)
    : draws_(scenario.imbalance.is_random() ? scenario.imbalance.draws : 1),
      of_step_(pipelines_of_step(scenario)),
      played_of_draw_(played_of_draw(draws_, of_step_, program)),
      seed_(scenario.imbalance.seed) {
    const int replicas = std::max(1, scenario.parallel.data / of_step_);
    for (int draw = 0; draw < draws_; ++draw)
        for (int i = 0; i < played_of_draw_; ++i) played_.push_back({draw, i * replicas});
}

std::vector<std::size_t> DrawnPipelines::of_draw(int draw) const {
    std::vector<std::size_t> places;
    const auto first = static_cast<std::size_t>(draw) * static_cast<std::size_t>(played_of_draw_);
    for (int i = 0; i < played_of_draw_; ++i) places.push_back(first + i);
    std::seed_seq seeds{static_cast<std::uint64_t>(seed_), static_cast<std::uint64_t>(draw)};
    std::mt19937_64 random(seeds);
    for (int i = played_of_draw_; i < of_step_; ++i) places.push_back(random() % played_.size());
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
    return places;
}

}  // namespace debubble::sim
