#include <map>

#include <QCoreApplication>

#include "gui/widgets/what_if/plan_session.h"
#include "gui/widgets/what_if/what_if_panel.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The dock with the scenario's fields.
class WhatIfDock : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::WhatIfDock)

public:
    explicit WhatIfDock(ViewHost& host) : WindowView(host), panel_(new WhatIfPanel) {
        PlanSession* session = &host.session();
        QObject::connect(panel_, &WhatIfPanel::changed, session, &PlanSession::set_field);
        QObject::connect(session, &PlanSession::refused, panel_, &WhatIfPanel::refill);
    }

    ViewFacts facts() const override {
        return {.name = "what-if",
                .place = ViewPlace::Beside,
                .title = tr("What if"),
                .line = tr("the scenario's fields; a change is predicted at once")};
    }
    QWidget* widget() override { return panel_; }

    void show(const Screen& screen) override {
        const ChangeWords change = change_of(screen);
        panel_->show_delta(QString::fromStdString(change.words), change.verdict);
    }
    void show_answer(const Answer& answer) override {
        panel_->show_fields(answer.fields);
        panel_->show_written(answer.written);
    }
    void show_mistakes(const Answer& answer) override {
        std::map<std::string, QString> complaints;
        for (const Diagnostic& mistake : answer.mistakes) {
            const std::string key =
                field_of(mistake, answer.source, panel_->fields(), host_.session().last_changed());
            QString& sentence = complaints[key];
            if (!sentence.isEmpty()) sentence += '\n';
            sentence += QString::fromStdString(mistake.message);
        }
        panel_->show_complaints(complaints);
    }
    void show_state(const PlanState& state) override { panel_->setEnabled(state.edited); }

private:
    WhatIfPanel* panel_;
};

std::unique_ptr<WindowView> what_if_dock(ViewHost& host) {
    return std::make_unique<WhatIfDock>(host);
}

}  // namespace debubble::gui
