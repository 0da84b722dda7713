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
    worker_ = std::make_unique<LatestWins<Question, Found>>(
        [](const Question& question, const std::stop_token& stop) {
            return Found{question.source, remedies(question.source, question.now, stop)};
        },
        [this](Found found) {
            QMetaObject::invokeMethod(
                this, [this, found = std::move(found)] { show_remedies(found); },
                Qt::QueuedConnection);
        });
    hide();
}

RemedyStrip::~RemedyStrip() = default;

void RemedyStrip::look_after(const Answer& answer) {
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

void RemedyStrip::show_remedies(const Found& found) {
    if (found.source != asked_) return;
    clear();
    for (std::size_t i = 0; i < found.remedies.size(); ++i) {
        const Remedy& remedy = found.remedies[i];
        auto* button = new QToolButton;
        button->setText(QString::fromStdString(remedy.words));
        button->setToolTip(
            tr("Sets %1 to %2; undo takes it back")
                .arg(QString::fromStdString(remedy.key), QString::fromStdString(remedy.value)));
        const QString key = QString::fromStdString(remedy.key);
        const QString value = QString::fromStdString(remedy.value);
        connect(button, &QToolButton::clicked, this,
                [this, key, value] { Q_EMIT chosen(key, value); });
        row_->insertWidget(int(i) + 1, button);
    }
    setVisible(!found.remedies.empty());
    Q_EMIT this->found();
}

}  // namespace debubble::gui
