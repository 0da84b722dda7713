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

/// The content of the window's tab "Run" for a whole training: days and cost over GPUs, the parts
/// of its time, one drawn run from its first step to its last, and the effect of other intervals of
/// saves. Values without Qt.
namespace debubble::gui {

/// The keys that this tab needs and a scenario lacks, with values that a click writes:
/// `training.tokens` with 20 tokens a parameter (Hoffmann et al., arXiv:2203.15556), `reliability`
/// with the profile of the largest published run. Empty if both are written.
std::vector<scenarios::Override> missing_run_keys(const scenarios::Scenario& scenario,
                                                  std::int64_t parameters);

/// The text with such a key. Tokens replace steps and epochs, which would contradict them.
ScenarioText with_run_key(ScenarioText source, const scenarios::Override& key);

/// A plan on another number of nodes with its other keys unchanged.
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

/// The same around a scenario's number, with whole replicas and whole groups of experts. If the
/// global batch is written, only numbers that divide it.
std::vector<int> nodes_around(const scenarios::Scenario& scenario);

/// The text with another number of nodes, filled with replicas of the same cut.
ScenarioText with_nodes(ScenarioText source, int nodes);

/// The points of a curve over GPUs, by rising GPUs, without numbers on which the plan is impossible
/// or does not fit. Empty without training.tokens. Pure and thread-safe. Throws Cancelled.
std::vector<RunOnNodes> runs_over_nodes(const ScenarioText& source, const std::vector<int>& nodes,
                                        const std::stop_token& stop = {});

/// A part of the waterfall of the mean run. Each part begins at the end of the previous one, the
/// useful work first; parts without time are left out.
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

/// One drawn run, with views at any zoom.
class RunStrip {
public:
    /// The run with this number, one of the runs behind the plan's figures.
    RunStrip(const sim::RunPlan& run, std::uint64_t seed, int number);

    double length() const { return wall_; }  ///< seconds
    /// The seconds by cause in each of `count` columns of equal width between two instants, exact
    /// at any zoom.
    std::vector<sim::RunSeconds> columns(double from, double to, std::size_t count) const;
    /// The spell at an instant; null outside of the run.
    const sim::RunSpell* at(double instant) const;
    const std::vector<sim::RunSpell>& spells() const { return spells_; }
    /// The instants at which failures stopped running steps.
    const std::vector<double>& failures() const { return failures_; }
    /// The ends of single steps between two instants; empty where there are more than `most`.
    std::vector<double> step_ends(double from, double to, std::size_t most) const;

private:
    std::vector<sim::RunSpell> spells_;
    std::vector<double> failures_;
    double wall_ = 0;
    double step_ = 0;
};

/// The useful share of the time with `steps` between two saves, from some drawn runs.
double goodput_with_interval(const sim::RunPlan& run, std::int64_t steps, std::uint64_t seed);

/// A position of the slider of the interval.
struct IntervalPlace {
    std::int64_t steps = 1;
    double seconds = 0;
    double goodput = 0;
};

/// The positions of the slider, by rising intervals, around the present one and the best one.
struct IntervalCurve {
    std::vector<IntervalPlace> places;
    std::size_t present = 0;
    std::size_t best = 0;  ///< the position that `auto` chooses
};

/// The curve with the same drawn failures at all positions. Empty if nothing fails. Pure and
/// thread-safe; throws Cancelled.
IntervalCurve interval_curve(const sim::RunPlan& run, std::uint64_t seed,
                             const std::stop_token& stop = {});

/// The text with an interval, or with the best one.
ScenarioText with_interval(ScenarioText source, const sim::RunPlan& run, std::int64_t steps);
ScenarioText with_best_interval(ScenarioText source);

/// The content of the tab except the curve over GPUs.
struct RunView {
    std::vector<WaterfallPart> parts;
    RunStrip strip;
    IntervalCurve intervals;
};

/// Precondition: the prediction has a whole training. Pure and thread-safe; throws Cancelled.
RunView run_view_of(const scenarios::Scenario& scenario, const sim::RunPlan& run,
                    const std::stop_token& stop = {});

}  // namespace debubble::gui
