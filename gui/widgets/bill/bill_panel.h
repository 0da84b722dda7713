#pragma once

#include <memory>
#include <optional>
#include <string>

#include <QTreeWidget>

#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/what_if/answer.h"
#include "gui/viewmodel/what_if/knobs.h"
#include "sim/bill_rows.h"

namespace debubble::gui {

/// The parts of the step: a waterfall from the step of perfect kernels to the real one, with the
/// step without each part, and the key that makes the part smaller. Workers make it when it is
/// visible and the plan has changed.
class BillPanel : public QTreeWidget {
    Q_OBJECT

public:
    explicit BillPanel(QWidget* parent = nullptr);
    ~BillPanel() override;

    /// Sets the plan on the screen; nullptr: none. A plan without its text has no knobs.
    void set_plan(std::shared_ptr<const PredictedPlan> plan, const ScenarioText& source = {});

Q_SIGNALS:
    void rows_ready();   ///< the rows of the plan are shown
    void knobs_ready();  ///< the knobs of the parts are shown
    /// The pointer or the keyboard focus is on a part; null: on none.
    void looked_at(const debubble::sim::BillRow* row);
    /// The user turned a knob: the changed scenario, and the knob's name for undo.
    void turned(const debubble::gui::ScenarioText& changed, const QString& what);

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    using Plan = std::shared_ptr<const PredictedPlan>;
    struct Result {
        Plan plan;
        sim::Bill bill;
        std::vector<sim::BillRow> rows;
        std::string mistake;
    };
    struct Question {
        Plan plan;
        ScenarioText source;
        sim::Bill bill;
    };
    struct KnobResult {
        Plan plan;
        std::vector<Knob> knobs;
    };
    static Result result_of(const Plan& plan, const std::stop_token& stop);
    void ask();
    void take(const Result& result);
    void show_knobs(const KnobResult& found);
    void turn(QTreeWidgetItem* row);
    void look_at(const QTreeWidgetItem* row);
    void say(const QString& words);

    Plan plan_;
    Plan asked_;
    ScenarioText source_;
    std::vector<sim::BillRow> rows_;  ///< by item; empty while a sentence is shown instead
    std::vector<Knob> knobs_;
    std::unique_ptr<LatestWins<Question, KnobResult>> knob_worker_;
    std::unique_ptr<LatestWins<Plan, Result>> worker_;  ///< last, since it calls back
};

}  // namespace debubble::gui
