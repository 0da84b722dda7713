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

/// The tab "Run": a plan's whole training of months. Days and cost over GPUs, where its time goes,
/// the interval of its saves as a slider, and one drawn run. Made by workers when it is seen; what
/// belongs to the plan before is grey until then. Where the scenario does not say how long it
/// trains, or what stops it, this says what to type, and a click types it.
class RunPage : public QWidget {
    Q_OBJECT

public:
    explicit RunPage(QWidget* parent = nullptr);
    ~RunPage() override;

    /// Sets the plan that is on the screen; nullptr: none. Without its text nothing can be changed.
    void set_plan(std::shared_ptr<const PredictedPlan> plan, const ScenarioText& source = {});
    /// The plan on the screen is not that of the text any more.
    void set_stale(bool stale);
    bool is_stale() const { return stale_ || made_of_ != plan_; }
    /// The run whose parts are shown; nullptr where there is none.
    const sim::RunPlan* shown_run() const;
    /// The sentence that stands in the place of what the scenario lacks; empty where it lacks
    /// nothing.
    QString missing() const;

Q_SIGNALS:
    /// A person changes the run: the scenario with it, and its name for undo.
    void turned(const debubble::gui::ScenarioText& changed, const QString& what);
    void made();        ///< waterfall, strip and slider are there
    void made_curve();  ///< so is the curve over GPUs

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    using Plan = std::shared_ptr<const PredictedPlan>;
    struct Made {
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
    void take(Made made);
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
    std::unique_ptr<LatestWins<Plan, Made>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
