#include <QCoreApplication>
#include <QMessageBox>
#include <QPushButton>

#include "gui/widgets/message_strip.h"
#include "gui/widgets/run/run_panel.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The dock of the training run on this machine.
class RunDock : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::RunDock)

public:
    explicit RunDock(ViewHost& host) : WindowView(host), panel_(new RunPanel) {
        QObject::connect(panel_, &RunPanel::failed, &host.messages(), &MessageStrip::warn);
        QObject::connect(panel_, &RunPanel::wanted, &context_, [this] { host_.execute(); });
        QObject::connect(panel_, &RunPanel::executed, &context_,
                         [this](const std::shared_ptr<const PredictedPlan>& plan,
                                const QString& trace) { host_.show_run(plan, trace); });
        QObject::connect(panel_, &RunPanel::ended, &context_, [this] {
            if (quits_after_run_) host_.close_window();
        });
    }

    ViewFacts facts() const override {
        return {.name = "run",
                .place = ViewPlace::Below,
                .title = tr("Execute"),
                .line = tr("the plan trained on this machine, compared with its prediction"),
                .scrolls = true};
    }
    QWidget* widget() override { return panel_; }

    void show_state(const PlanState& state) override { panel_->setEnabled(state.open); }

    /// Asks before closing the window ends a run. The run saves first, and the window closes after
    /// it; only a run that is already ending can be killed.
    bool may_close() override {
        if (!panel_->is_running()) return true;
        const bool again = panel_->is_stopping();
        QMessageBox box(QMessageBox::Question, tr("A run is under way"),
                        again ? tr("The run is still ending.") : tr("A training run is under way."),
                        QMessageBox::NoButton, panel_->window());
        box.setInformativeText(again ? tr("Killed now, it loses what it has not saved.")
                                     : tr("It ends with the window, after its current step."));
        const QPushButton* end = box.addButton(
            again ? tr("Kill it and quit") : tr("End it and quit"), QMessageBox::DestructiveRole);
        box.setDefaultButton(
            box.addButton(again ? tr("Wait") : tr("Go on"), QMessageBox::RejectRole));
        box.exec();
        if (!panel_->is_running()) return true;  // it ended during the question
        if (box.clickedButton() != end) return false;
        panel_->stop();
        quits_after_run_ = true;
        return again;
    }

private:
    RunPanel* panel_;
    bool quits_after_run_ = false;
};

std::unique_ptr<WindowView> run_dock(ViewHost& host) {
    return std::make_unique<RunDock>(host);
}

}  // namespace debubble::gui
