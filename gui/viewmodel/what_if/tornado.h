#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "scenarios/plan/scenario.h"
#include "scenarios/read/sweep.h"

/// The dependence of a step on each constant of its machine.
namespace debubble::gui {

/// Constants of a machine that change together, with their keys.
class Lever {
public:
    enum class Unit : std::uint8_t { Rate, FlopRate, Duration, Share };
    struct Constant {
        std::string key;   ///< key of the scenario: "cluster.network.nic_bandwidth"
        double value = 0;  ///< in bytes or operations per second, in seconds, or a share
        Unit unit{};
    };
    Lever(std::string name, std::vector<Constant> constants)
        : name_(std::move(name)), constants_(std::move(constants)) {}

    const std::string& name() const { return name_; }
    const std::vector<Constant>& constants() const { return constants_; }
    /// The keys with `factor` times their values. Twice a share of 0 is kFirstShare.
    std::vector<scenarios::Override> at(double factor) const;
    /// The first of the values at that factor in words: "200 Gb/s".
    std::string words(double factor = 1) const;

    static constexpr double kFirstShare = 0.02;

private:
    double scaled(const Constant& constant, double factor) const;

    std::string name_;
    std::vector<Constant> constants_;
};

struct TornadoBar {
    Lever lever;
    std::optional<double> step_at_half_s;  ///< nothing where such a plan is impossible
    std::optional<double> step_at_twice_s;
    double reach(double step_s) const;  ///< the greatest change of the step, in seconds
};

struct Tornado {
    double step_s = 0;
    std::vector<TornadoBar> bars;  ///< the longest first
};

/// The levers of a scenario: network (for several nodes), node links, GPU, memory, latency, jitter.
std::vector<Lever> levers_of(const scenarios::Scenario& scenario);

/// Predicts the plan itself and with each lever at half and at twice; nothing if the plan is
/// impossible. Pure and thread-safe. Throws Cancelled.
std::optional<Tornado> tornado_of(const ScenarioText& source, const std::stop_token& stop = {});

/// The text with a lever at a factor.
ScenarioText with_lever(ScenarioText source, const Lever& lever, double factor);

/// The factor, from 1/2 to 2, at which a bar reaches this step, if the step is linear in the
/// factor's logarithm between the bar's ends; 1 if no end is on that side of the present step.
double factor_for(const TornadoBar& bar, double present_s, double step_s);
/// The step at a factor on the same line.
double step_for(const TornadoBar& bar, double present_s, double factor);

}  // namespace debubble::gui
