#include "gui/widgets/what_if/remedy_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace debubble::gui {

RemedyStrip::RemedyStrip(QWidget* parent) : QFrame(parent) {
    setObjectName("remedies");
    setAccessibleName(tr("What would make the plan fit"));
    row_ = new QHBoxLayout(this);
    row_->setContentsMargins(8, 2, 8, 2);
    title_ = new QLabel;
    row_->addWidget(title_);
    row_->addStretch();
    worker_ = std::make_unique<LatestWins<Question, Result>>(
        [](const Question& question, const std::stop_token& stop) {
            return Result{question.source, remedies(question.source, question.now, stop)};
        },
        [this](Result result) {
            QMetaObject::invokeMethod(
                this, [this, result = std::move(result)] { show_remedies(result); },
                Qt::QueuedConnection);
        });
    hide();
}

RemedyStrip::~RemedyStrip() = default;

void RemedyStrip::look_for_remedies(const Answer& answer) {
    if (asked_ == answer.source) return;
    forget();
    if (answer.plan && answer.plan->prediction.fits) return;
    if (!answer.plan && answer.fields.empty() && answer.written.empty()) return;  // not YAML
    asked_ = answer.source;
    title_->setText(answer.plan ? tr("It would fit with") : tr("It would be possible with"));
    Question question{answer.source, {}};
    if (answer.plan) question.now = answer.plan->prediction;
    worker_->ask(std::move(question));
}

void RemedyStrip::forget() {
    worker_->forget();
    asked_ = {};
    clear();
}

void RemedyStrip::clear() {
    for (QToolButton* button : findChildren<QToolButton*>()) delete button;
    hide();
}

void RemedyStrip::show_remedies(const Result& result) {
    if (result.source != asked_) return;
    clear();
    for (const Remedy& remedy : result.remedies) {
        QStringList changes;
        for (const auto& [key, value] : remedy.changes)
            changes << tr("%1 to %2")
                           .arg(QString::fromStdString(key),
                                value == "~" ? tr("its default") : QString::fromStdString(value));
        const QString what = changes.join(", ");
        add(QString::fromStdString(remedy.words), tr("Sets %1; undo takes it back").arg(what),
            [this, remedy, what] { Q_EMIT chosen(with_remedy(asked_, remedy), what); });
    }
    if (result.remedies.empty()) title_->setText(tr("No change of one field makes it fit"));
    add(tr("Search for the best plan"), tr("The fastest plan of the grid that fits"),
        [this] { Q_EMIT search_wanted(); });
    show();
    Q_EMIT found();
}

void RemedyStrip::add(const QString& words, const QString& tip, const std::function<void()>& act) {
    auto* button = new QToolButton;
    button->setText(words);
    button->setToolTip(tip);
    connect(button, &QToolButton::clicked, this, act);
    row_->insertWidget(row_->count() - 1, button);  // before the stretch
}

}  // namespace debubble::gui
