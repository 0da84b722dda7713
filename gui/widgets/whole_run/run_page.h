#pragma once

#include <memory>

#include <QWidget>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/run_view.h"

class QLabel;
class QTreeWidget;

namespace debubble::gui {

class IntervalSlider;
class NodesView;
class StripView;

/// The tab "Run": a plan's whole training of months. Days and cost over GPUs, the parts of its
/// time, the interval of its saves as a slider, and one drawn run. Workers make it when it is
/// visible; content of the previous plan is grey until then. If the scenario lacks the length of
/// the training or its failures, the tab names the missing key, and a click writes it.
class RunPage : public QWidget {
    Q_OBJECT

public:
    explicit RunPage(QWidget* parent = nullptr);
    ~RunPage() override;

    /// Sets the plan on the screen; nullptr: none. A plan without its text cannot be changed.
    void set_plan(std::shared_ptr<const PredictedPlan> plan, const ScenarioText& source = {});
    /// Greys the tab while the plan on the screen is outdated.
    void set_stale(bool stale);
    bool is_stale() const { return stale_ || made_of_ != plan_; }
    /// The run whose parts are shown; nullptr if there is none.
    const sim::RunPlan* shown_run() const;
    /// The sentence about the keys that the scenario lacks; empty if it lacks none.
    QString missing() const;

Q_SIGNALS:
    /// The user changed the run: the changed scenario, and the change's name for undo.
    void turned(const debubble::gui::ScenarioText& changed, const QString& what);
    void ready();        ///< waterfall, strip and slider are shown
    void curve_ready();  ///< the curve over GPUs is shown

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    using Plan = std::shared_ptr<const PredictedPlan>;
    struct Result {
        Plan plan;
        std::optional<RunView> view;
    };
    struct Question {
        Plan plan;
        ScenarioText source;
    };
    struct Curve {
        Plan plan;
        std::vector<RunOnNodes> points;
    };
    void connect_parts();
    void make_workers();
    void ask();
    void take(Result result);
    void take_curve(Curve curve);
    void show_state();
    void show_waterfall(const std::vector<WaterfallPart>& parts);
    QString headline() const;
    const sim::RunPlan* run() const;

    Plan plan_;
    Plan asked_;
    Plan made_of_;
    ScenarioText source_;
    bool stale_ = false;
    QLabel* missing_ = nullptr;
    QLabel* headline_ = nullptr;
    QWidget* parts_ = nullptr;
    NodesView* nodes_ = nullptr;
    QTreeWidget* waterfall_ = nullptr;
    IntervalSlider* interval_ = nullptr;
    StripView* strip_ = nullptr;
    std::unique_ptr<LatestWins<Question, Curve>> curve_worker_;
    std::unique_ptr<LatestWins<Plan, Result>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
