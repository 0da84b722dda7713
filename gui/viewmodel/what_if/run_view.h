#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "sim/run_plan/draw_run.h"
#include "sim/run_plan/run_plan.h"

/// What the window's tab "Run" shows of a whole training: days and cost over GPUs, where the time
/// goes, and one drawn run from its first step to its last. Values without Qt.
namespace debubble::gui {

/// A plan on another number of nodes, its other keys as they are.
struct RunOnNodes {
    int nodes = 0;
    int gpus = 0;
    double days_p5 = 0;  ///< the band in which nine of ten drawn runs lie
    double days = 0;
    double days_p95 = 0;
    double goodput = 0;
    std::optional<double> cost;
};

/// Numbers of nodes around the present one: from a quarter to four times, in steps of the square
/// root of two, rounded to whole multiples of `replica`.
std::vector<int> nodes_around(int present, int replica);

/// The points of a curve over GPUs, by rising GPUs. Numbers on which the plan is impossible or does
/// not fit are left out. Empty where training.tokens is not given. Pure and thread-safe. Throws
/// Cancelled.
std::vector<RunOnNodes> runs_over_nodes(const ScenarioText& source, const std::vector<int>& nodes,
                                        const std::stop_token& stop = {});

/// A part of the waterfall of the mean run, each beginning where the one before it ends, the useful
/// work first; without parts that take no time.
struct WaterfallPart {
    sim::RunTime spent{};
    double from = 0;  ///< shares of the run
    double to = 0;
    std::string words;  ///< "restarts: 5.4 d, 6.6 %"
};
std::vector<WaterfallPart> waterfall_of(const sim::RunPlan& run);

/// One drawn run, to be looked at from afar and from near.
class RunStrip {
public:
    /// The run of this number, of those whose figures the plan has.
    RunStrip(const sim::RunPlan& run, std::uint64_t seed, int number);

    double length() const { return wall_; }  ///< seconds
    /// What each of so many columns of equal width between two instants is spent on, in seconds:
    /// exact at any zoom.
    std::vector<sim::RunSeconds> columns(double from, double to, std::size_t count) const;
    /// The spell at an instant; null outside of the run.
    const sim::RunSpell* at(double instant) const;
    const std::vector<sim::RunSpell>& spells() const { return spells_; }

private:
    std::vector<sim::RunSpell> spells_;
    double wall_ = 0;
};

/// The useful share of the time with so many steps between two saves, from some drawn runs: what a
/// slider of the interval shows while it is dragged.
double goodput_with_interval(const sim::RunPlan& run, std::int64_t steps, std::uint64_t seed);

/// The text with that interval.
ScenarioText with_interval(ScenarioText source, const sim::RunPlan& run, std::int64_t steps);

}  // namespace debubble::gui
