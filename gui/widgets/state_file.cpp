#include "gui/widgets/state_file.h"

#include <cstdio>
#include <exception>
#include <map>

#include <QApplication>
#include <QEvent>
#include <QTabBar>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "schedule/action.h"

namespace debubble::gui {
namespace {

constexpr int kLookEvery = 50;  ///< milliseconds

std::string name_of(const QWidget* widget) {
    if (widget == nullptr) return "";
    const QString name = widget->objectName();
    return name.isEmpty() ? widget->metaObject()->className() : name.toStdString();
}

/// The number of computes of each pass, by the pass's letter in PyTorch's text form.
std::map<std::string, int> passes_of(const TimelineDocument& document) {
    std::map<std::string, int> count{{"F", 0}, {"I", 0}, {"W", 0}, {"B", 0}};
    for (const Span& span : document.trace.spans)
        for_each_compute(span.action, [&](const Compute& compute) {
            switch (compute.pass) {
                case Pass::Forward: ++count["F"]; break;
                case Pass::BackwardInput: ++count["I"]; break;
                case Pass::BackwardWeight: ++count["W"]; break;
                case Pass::Backward: ++count["B"]; break;
            }
        });
    return count;
}

}  // namespace

StateFile::StateFile(MainWindow& window, std::string file)
    : QObject(&window),
      window_(window),
      file_(std::move(file)),
      timeline_(window.findChild<TimelineView*>()) {
    timeline_->viewport()->installEventFilter(this);
    connect(&timer_, &QTimer::timeout, this, &StateFile::write_if_changed);
    timer_.start(kLookEvery);
}

bool StateFile::eventFilter(QObject* object, QEvent* event) {
    if (event->type() == QEvent::Paint && timeline_) painted_ = timeline_->scene().main.document;
    return QObject::eventFilter(object, event);
}

void StateFile::write_if_changed() {
    std::string now = state();
    if (now == written_) return;
    try {
        write_file(file_, now);
        written_ = std::move(now);
    } catch (const std::exception& error) {  // event handlers of Qt must not throw
        timer_.stop();
        std::fprintf(stderr, "the state of the window can no longer be written: %s\n",
                     error.what());
    }
}

std::string StateFile::state() const {
    const Scene& scene = timeline_->scene();
    nlohmann::ordered_json state;
    state["title"] = window_.windowTitle().remove("[*]").toStdString();
    state["view"] = !scene.main ? "nothing" : scene.comparison ? "comparison" : "single";
    state["ghost"] = scene.ghost();
    if (scene.main) {
        const TimelineDocument& document = *scene.main.document;
        state["schedule"] = document.trace.program.name;
        state["passes"] = passes_of(document);
    }
    state["painted"] = scene.main && painted_ == scene.main.document;
    state["focus"] = name_of(QApplication::focusWidget());
    state["popup"] = name_of(QApplication::activePopupWidget());
    if (const auto* tabs = window_.findChild<QTabBar*>("pages"))
        state["page"] = tabs->tabData(tabs->currentIndex()).toString().toStdString();
    window_.add_state(state);
    return state.dump() + "\n";
}

}  // namespace debubble::gui
