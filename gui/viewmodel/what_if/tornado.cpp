#include "gui/viewmodel/what_if/tornado.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "gui/viewmodel/timeline/words.h"
#include "gui/viewmodel/what_if/part_keys.h"
#include "gui/viewmodel/what_if/plan_figures.h"
#include "scenarios/read/read_scenario.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

using Unit = Lever::Unit;
using Constant = Lever::Constant;

/// The value as YAML.
std::string yaml_of(double value, Unit unit) {
    switch (unit) {
        case Unit::Rate: return fmt::format("{:.6g} GB/s", value / 1e9);
        case Unit::FlopRate: return fmt::format("{:.6g} TFLOP/s", value / 1e12);
        case Unit::Duration: return fmt::format("{:.6g} us", value * 1e6);
        case Unit::Share: return fmt::format("{:.6g}", value);
    }
    return {};
}

std::string words_of(double value, Unit unit) {
    switch (unit) {
        case Unit::Rate: return fmt::format("{:.4g} GB/s", value / 1e9);
        case Unit::FlopRate: return text::flop_rate_text(value);
        case Unit::Duration: return fmt::format("{:.3g} us", value * 1e6);
        case Unit::Share: return text::percent(value);
    }
    return {};
}

/// Collects the constants of levers, without unset ones.
class TornadoBuilder {
public:
    void rate(const char* key, BytesPerSecond value) { add(key, value.value, Unit::Rate); }
    void flops(const char* key, double value) { add(key, value, Unit::FlopRate); }
    void time(const char* key, Duration value) { add(key, seconds(value), Unit::Duration); }
    void done(std::vector<Lever>& levers, const std::string& name) {
        if (!constants_.empty()) levers.emplace_back(name, std::move(constants_));
        constants_.clear();
    }

private:
    void add(const char* key, double value, Unit unit) {
        if (value > 0) constants_.push_back({key, value, unit});
    }
    std::vector<Constant> constants_;
};

}  // namespace

double Lever::scaled(const Constant& constant, double factor) const {
    if (constant.unit != Unit::Share || constant.value > 0) return constant.value * factor;
    return factor > 1 ? kFirstShare * std::log2(factor) : 0;
}

std::vector<scenarios::Override> Lever::at(double factor) const {
    std::vector<scenarios::Override> keys;
    for (const Constant& constant : constants_)
        keys.emplace_back(constant.key, yaml_of(scaled(constant, factor), constant.unit));
    return keys;
}

std::string Lever::words(double factor) const {
    return words_of(scaled(constants_.front(), factor), constants_.front().unit);
}

double TornadoBar::reach(double step_s) const {
    double most = 0;
    for (const auto& step : {step_at_half_s, step_at_twice_s})
        if (step) most = std::max(most, std::abs(*step - step_s));
    return most;
}

std::vector<Lever> levers_of(const scenarios::Scenario& scenario) {
    const scenarios::Cluster& cluster = scenario.cluster;
    const bool several_nodes = scenario.gpus > cluster.gpus_per_node;
    std::vector<Lever> levers;
    TornadoBuilder of;
    if (several_nodes) {
        of.rate("cluster.network.nic_bandwidth", cluster.network.nic_bandwidth);
        of.done(levers, said("proposals", "network"));
    }
    if (cluster.gpus_per_node > 1 && scenario.gpus > 1) {
        of.rate("cluster.node_link.bandwidth", cluster.node_link.bandwidth);
        of.done(levers, said("proposals", "node links"));
    }
    of.flops("cluster.gpu.fp16_flops", cluster.gpu.fp16_flops_per_s.value_or(0));
    of.flops("cluster.gpu.fp8_flops", cluster.gpu.fp8_flops_per_s.value_or(0));
    of.flops("cluster.gpu.fp4_flops", cluster.gpu.fp4_flops_per_s.value_or(0));
    of.flops("cluster.gpu.fp32_flops", cluster.gpu.fp32_flops_per_s.value_or(0));
    of.done(levers, said("proposals", "GPU"));
    of.rate("cluster.gpu.memory_bandwidth", cluster.gpu.memory_bandwidth);
    of.done(levers, said("proposals", "memory"));
    if (several_nodes) {
        of.time("cluster.network.p2p_latency", cluster.network.p2p_latency);
        of.time("cluster.network.latency", cluster.network.latency);
    }
    if (scenario.gpus > 1) {
        of.time("cluster.node_link.base_latency", cluster.node_link.base_latency);
        of.time("cluster.node_link.latency", cluster.node_link.latency);
    }
    of.done(levers, said("proposals", "latency"));
    levers.emplace_back(
        said("proposals", "jitter"),
        std::vector<Constant>{{"imbalance.jitter", scenario.imbalance.jitter, Unit::Share}});
    return levers;
}

ScenarioText with_lever(ScenarioText source, const Lever& lever, double factor) {
    for (const scenarios::Override& change : lever.at(factor))
        source = with_part_key(std::move(source), change);
    return source;
}

std::optional<Tornado> tornado_of(const ScenarioText& source, const std::stop_token& stop) {
    const auto now = figures_of_plan(source, stop);
    if (!now) return std::nullopt;
    Tornado tornado{now->step_time_s, {}};
    for (Lever& lever : levers_of(scenarios::parse_scenario(source.text, source.file)))
        tornado.bars.push_back({std::move(lever), {}, {}});
    for_each_in_parallel(2 * tornado.bars.size(), stop, [&](std::size_t i) {
        TornadoBar& bar = tornado.bars[i / 2];
        const bool twice = i % 2 == 1;
        const auto figures = figures_of_plan(with_lever(source, bar.lever, twice ? 2 : 0.5), stop);
        if (figures) (twice ? bar.step_at_twice_s : bar.step_at_half_s) = figures->step_time_s;
    });
    std::ranges::stable_sort(tornado.bars, std::ranges::greater{},
                             [&](const TornadoBar& bar) { return bar.reach(tornado.step_s); });
    return tornado;
}

double factor_for(const TornadoBar& bar, double present_s, double step_s) {
    const double wanted = step_s - present_s;
    double factor = 1;
    double longest = 0;
    for (const bool twice : {false, true}) {
        const auto& end = twice ? bar.step_at_twice_s : bar.step_at_half_s;
        const double reach = end ? *end - present_s : 0;
        if (reach * wanted <= 0 || std::abs(reach) <= longest) continue;  // the other side
        longest = std::abs(reach);
        factor = std::exp2((twice ? 1 : -1) * std::min(wanted / reach, 1.0));
    }
    return factor;
}

double step_for(const TornadoBar& bar, double present_s, double factor) {
    const auto& end = factor > 1 ? bar.step_at_twice_s : bar.step_at_half_s;
    if (!end || factor == 1) return present_s;
    return present_s + (*end - present_s) * std::min(std::abs(std::log2(factor)), 1.0);
}

}  // namespace debubble::gui
