#pragma once

#include <string>

#include <QObject>
#include <QPointer>
#include <QTimer>

#include "gui/viewmodel/timeline/document.h"

class QWidget;

namespace debubble::gui {

class MainWindow;
class TimelineView;

/// Writes the state of the window to a file as JSON at every change, for scripts that use the
/// window by keys and pointer and wait for its answers. Unlike a picture of the screen, it does not
/// depend on fonts, style and colours. The environment variable DEBUBBLE_GUI_STATE=FILE enables it.
///
/// Keys: `page`, the one in the middle (`timeline`, `sweep`, `bill`, `schedules`, `ranks` or
/// `run`); `run` of a plan with a length of training, once its page was visible: `points` of its
/// curve, `days`, `goodput`, `save_every` steps, and whether they are of the previous plan
/// (`stale`); `title`; `view` (`nothing`, `single` or `comparison`); `ghost`; `schedule` and
/// `passes` of the main document (how many computes of each pass it has); `painted`, whether the
/// timeline was painted since the document came; `focus` and `popup`, the object names of the
/// widget that keys go to and of the list that is open, or the class of one without a name;
/// `sweep_points`, drawn in the plot; `sweep_rows`, of the last sweep, once it has ended (0
/// before).
class StateFile : public QObject {
    Q_OBJECT

public:
    StateFile(MainWindow& window, std::string file);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    void write_if_changed();
    std::string state() const;

    MainWindow& window_;
    std::string file_;
    std::string written_;
    QPointer<TimelineView> timeline_;
    Document painted_;  ///< the document that the timeline painted last
    QTimer timer_;
};

}  // namespace debubble::gui
