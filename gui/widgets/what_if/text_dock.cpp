#include <QCoreApplication>

#include "gui/widgets/what_if/plan_session.h"
#include "gui/widgets/what_if/yaml_editor.h"
#include "gui/widgets/window_views.h"

namespace debubble::gui {

/// The dock with the scenario's text.
class TextDock : public WindowView {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::TextDock)

public:
    explicit TextDock(ViewHost& host) : WindowView(host), editor_(new YamlEditor) {
        QObject::connect(editor_, &YamlEditor::edited, &host.session(), &PlanSession::set_text);
    }

    ViewFacts facts() const override {
        return {.name = "text",
                .place = ViewPlace::Below,
                .title = tr("Scenario"),
                .line = tr("the scenario's text, with its mistakes where they are"),
                .command = tr("Edit the scenario's te&xt"),
                .key = QKeySequence("Ctrl+T"),
                .tip = tr("Below the timeline")};
    }
    QWidget* widget() override { return editor_; }

    void show_text(const ScenarioText& text) override {
        editor_->show_text(QString::fromStdString(text.text));
    }
    void show_mistakes(const Answer& answer) override {
        editor_->show_mistakes(answer.mistakes, answer.source.file);
    }
    void show_state(const PlanState& state) override { editor_->setReadOnly(!state.edited); }

private:
    YamlEditor* editor_;
};

std::unique_ptr<WindowView> text_dock(ViewHost& host) {
    return std::make_unique<TextDock>(host);
}

}  // namespace debubble::gui
