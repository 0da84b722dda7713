#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <QKeySequence>
#include <QObject>
#include <QString>
#include <nlohmann/json_fwd.hpp>

#include "gui/viewmodel/screen.h"

class QScrollArea;
class QSplitter;
class QWidget;

/// The interface of views: a view is a page in the middle of the window or a dock around it, and
/// ViewHost is the window for a view. The window builds tabs, docks, commands and lines of help
/// from the facts of views, and gives them the content of the screen. A view reports the user's
/// wishes by the signals of its widget, which its constructor connects.
namespace debubble::gui {

class MessageStrip;
class PlanSession;
class TimelineView;

class ViewHost {
public:
    virtual PlanSession& session() = 0;
    virtual const Desk& desk() const = 0;
    virtual MessageStrip& messages() = 0;
    virtual TimelineView& timeline() = 0;
    virtual QSplitter& lanes() = 0;  ///< the page of the timeline
    virtual void show_page(const QString& name) = 0;
    virtual void raise_dock(const QString& name) = 0;
    /// Shows the plan instead of a trace or a comparison. The page stays.
    virtual void uncover_plan() = 0;
    virtual void search_best() = 0;
    virtual void execute() = 0;
    /// Shows the trace of a run below its prediction, if there is one.
    virtual void show_run(const std::shared_ptr<const PredictedPlan>& plan,
                          const QString& trace) = 0;
    virtual void close_window() = 0;

protected:
    ~ViewHost() = default;
};

enum class ViewPlace : std::uint8_t {
    Middle,
    Beside,  ///< a dock in the column next to the timeline
    Below,   ///< a dock below the timeline, folded at first
};

/// A key or a gesture, and its effect.
struct ViewKey {
    QString keys;
    QString meaning;
};

struct ViewFacts {
    QString name;  ///< its name in saved layouts and in the state file
    ViewPlace place{};
    QString title;  ///< title of its tab or dock
    QString line;   ///< its description in the help sheet
    /// The command that shows it, in the menu of views, with its key and its tip. A dock without
    /// one is shown by its place's key and by its own entry.
    QString command = {};
    QKeySequence key = {};
    QString tip = {};
    std::vector<ViewKey> keys = {};  ///< its own keys, in a section of the help sheet
    bool scrolls = false;            ///< has scroll bars if its place is too small
};

/// The key that folds and shows the docks of a place; pages have none.
QKeySequence fold_key(ViewPlace place);
/// The key that shows a view: its own, or that of its place.
QKeySequence key_of(const ViewFacts& facts);

/// The state of the plan, which enables commands.
struct PlanState {
    bool open = false;    ///< a plan is open
    bool edited = false;  ///< the plan is on the screen and can be changed
    bool stale = false;   ///< the shown plan is that of the previous text
};

class WindowView {
public:
    explicit WindowView(ViewHost& host) : host_(host) {}
    virtual ~WindowView() = default;
    WindowView(const WindowView&) = delete;
    WindowView& operator=(const WindowView&) = delete;

    virtual ViewFacts facts() const = 0;
    virtual QWidget* widget() = 0;

    virtual void show(const Screen& /*screen*/) {}
    /// Shows a changed text of the scenario. Its answer follows.
    virtual void show_text(const ScenarioText& /*text*/) {}
    virtual void show_answer(const Answer& /*answer*/) {}
    /// Shows the mistakes of an answer at their places.
    virtual void show_mistakes(const Answer& /*answer*/) {}
    virtual void show_state(const PlanState& /*state*/) {}
    /// The view's page is now in front, or no longer.
    virtual void front_changed(bool /*front*/) {}
    /// Whether the window may close now; asks the user about losses.
    virtual bool may_close() { return true; }
    /// Adds the view's part of the state of the window (StateFile).
    virtual void add_state(nlohmann::ordered_json& /*state*/) const {}

protected:
    /// The text of the plan on the screen; empty if the plan is not the last answer's, in which
    /// case a view cannot change it.
    ScenarioText text_of(const Screen& screen) const;

    ViewHost& host_;
    QObject context_;  ///< context of connections, so that none outlives the view
};

/// All views, pages from the left to the right, then docks from the top down.
std::vector<std::unique_ptr<WindowView>> make_views(ViewHost& host);

}  // namespace debubble::gui
