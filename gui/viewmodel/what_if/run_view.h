#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "scenarios/plan/scenario.h"
#include "sim/run_plan/draw_run.h"
#include "sim/run_plan/run_plan.h"
#include "trace/picture/colours.h"

/// What the window's tab "Run" shows of a whole training: days and cost over GPUs, where the time
/// goes, one drawn run from its first step to its last, and what another interval of saves would
/// do. Values without Qt.
namespace debubble::gui {

/// What a text lacks for this tab, as keys that a click types: `training.tokens` with 20 tokens a
/// parameter (Hoffmann et al., arXiv:2203.15556), `reliability` with the profile of the largest
/// published run. Empty where it has both.
std::vector<scenarios::Override> lacks_for_a_run(const scenarios::Scenario& scenario,
                                                 std::int64_t parameters);

/// The text with such a key. Steps and epochs, beside which tokens are an error, go.
ScenarioText with_run_key(ScenarioText source, const scenarios::Override& key);

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

/// The same around a scenario's own, of whole replicas and whole groups of experts. Where the batch
/// of a step is written and would not divide, the numbers on which it does.
std::vector<int> nodes_around(const scenarios::Scenario& scenario);

/// The text with another number of nodes, over which replicas of the same cut are laid.
ScenarioText with_nodes(ScenarioText source, int nodes);

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
    std::string name;   ///< "restarts", in the window's language
    std::string takes;  ///< "5.4 d, 6.6 %"
};
std::vector<WaterfallPart> waterfall_of(const sim::RunPlan& run);

/// The name of a cause in the window's language, and its colour.
std::string said_cause(sim::RunTime spent);
Rgb colour_of(sim::RunTime spent, picture::Theme theme);

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
    /// The instants at which running steps were stopped by a failure.
    const std::vector<double>& failures() const { return failures_; }
    /// The ends of single steps between two instants; empty where there are more than `most`.
    std::vector<double> step_ends(double from, double to, std::size_t most) const;

private:
    std::vector<sim::RunSpell> spells_;
    std::vector<double> failures_;
    double wall_ = 0;
    double step_ = 0;
};

/// The useful share of the time with so many steps between two saves, from some drawn runs.
double goodput_with_interval(const sim::RunPlan& run, std::int64_t steps, std::uint64_t seed);

/// A place of the slider of the interval.
struct IntervalPlace {
    std::int64_t steps = 1;
    double seconds = 0;
    double goodput = 0;
};

/// The places of the slider, by rising intervals, around the present one and the best one.
struct IntervalCurve {
    std::vector<IntervalPlace> places;
    std::size_t present = 0;
    std::size_t best = 0;  ///< what `auto` takes
};

/// All places are of the same drawn failures. Empty where nothing fails. Pure and thread-safe;
/// throws Cancelled.
IntervalCurve interval_curve(const sim::RunPlan& run, std::uint64_t seed,
                             const std::stop_token& stop = {});

/// The text with that interval, or with the one that loses least.
ScenarioText with_interval(ScenarioText source, const sim::RunPlan& run, std::int64_t steps);
ScenarioText with_best_interval(ScenarioText source);

/// Everything of the tab but the curve over GPUs.
struct RunView {
    std::vector<WaterfallPart> parts;
    RunStrip strip;
    IntervalCurve intervals;
};

/// Precondition: the prediction has a whole training. Pure and thread-safe; throws Cancelled.
RunView run_view_of(const scenarios::Scenario& scenario, const sim::RunPlan& run,
                    const std::stop_token& stop = {});

}  // namespace debubble::gui
