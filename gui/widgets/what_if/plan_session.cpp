#include "gui/widgets/what_if/plan_session.h"

#include <algorithm>

#include "gui/viewmodel/what_if/part_keys.h"

namespace debubble::gui {
namespace {

constexpr std::size_t kMostPlansKept = 4;  ///< most kept plans; each may have a million actions

}  // namespace

PlanSession::PlanSession(QObject* parent) : QObject(parent) {
    debounce_.setSingleShot(true);
    debounce_.setInterval(kDebounce);
    worker_ = std::make_unique<LatestWins<ScenarioText, Answer>>(
        [](const ScenarioText& source, const std::stop_token& stop) {
            return gui::answer(source, stop);
        },
        [this](Answer answer) {
            QMetaObject::invokeMethod(
                this, [this, answer = std::move(answer)] { take(answer); }, Qt::QueuedConnection);
        });
    connect(&debounce_, &QTimer::timeout, this, [this] { worker_->ask(history_.now()); });
}

std::shared_ptr<const PredictedPlan> PlanSession::reference() const {
    if (pinned_) return pinned_;
    if (history_.before().text == history_.now().text) return nullptr;
    for (const auto& [text, plan] : recent_)
        if (text == history_.before().text) return plan;
    return nullptr;
}

void PlanSession::start(const ScenarioText& source) {
    recent_.clear();
    pinned_ = nullptr;
    answer_ = {};
    last_changed_.clear();
    history_.start(source);
    busy_ = true;
    debounce_.stop();
    worker_->ask(source);  // asked at once, since it was not typed
    Q_EMIT text_changed();
}

void PlanSession::set_field(const QString& key, const QString& value) {
    const std::string name = key.toStdString();
    try {
        last_changed_ = name;
        change(with_change(history_.now(), name, value.toStdString()), name);
    } catch (const InputError& error) {
        Q_EMIT refused(QString::fromStdString(error.diagnostics().front().message));
    }
}

void PlanSession::set_text(const QString& text) {
    last_changed_.clear();
    change({text.toStdString(), history_.now().file}, "text");
}

void PlanSession::set_keys(const ScenarioText& ground, const std::vector<scenarios::Override>& keys,
                           const QString& what) {
    try {
        ScenarioText source = ground;
        for (const scenarios::Override& key : keys) source = with_part_key(std::move(source), key);
        last_changed_.clear();
        change(std::move(source), what.toStdString());
    } catch (const InputError& error) {
        Q_EMIT refused(QString::fromStdString(error.diagnostics().front().message));
    }
}

void PlanSession::undo() {
    if (!history_.can_undo()) return;
    last_changed_.clear();
    history_.undo();
    moved();
}

void PlanSession::redo() {
    if (!history_.can_redo()) return;
    last_changed_.clear();
    history_.redo();
    moved();
}

void PlanSession::pin(bool on) {
    pinned_ = on ? answer_.plan : nullptr;
    Q_EMIT answered();
}

void PlanSession::saved(const QString& file) {
    ScenarioText source = history_.now();
    if (source.file != file.toStdString()) {
        source.file = file.toStdString();
        history_.change(std::move(source), "file");
        history_.saved();
        moved();  // relative paths in the text now start in another folder
        return;
    }
    history_.saved();
    Q_EMIT text_changed();
}

void PlanSession::change(ScenarioText source, const std::string& what) {
    if (source == history_.now()) return;
    history_.change(std::move(source), what);
    moved();
}

void PlanSession::moved() {
    busy_ = true;
    worker_->forget();  // its answer is outdated
    debounce_.start();
    Q_EMIT text_changed();
}

void PlanSession::take(Answer answer) {
    // The text has changed since the question.
    if (answer.source != history_.now()) return;
    busy_ = false;
    answer_ = std::move(answer);
    if (answer_.plan) {
        std::erase_if(recent_, [&](const auto& r) { return r.first == answer_.source.text; });
        recent_.emplace_front(answer_.source.text, answer_.plan);
        if (recent_.size() > kMostPlansKept) recent_.pop_back();
    }
    Q_EMIT answered();
}

}  // namespace debubble::gui
