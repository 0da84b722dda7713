#pragma once

#include <map>
#include <memory>

#include <QMainWindow>
#include <QTimer>

#include "gui/viewmodel/command_line.h"
#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/screen.h"
#include "gui/viewmodel/timeline/scene.h"
#include "gui/viewmodel/unsaved.h"
#include "gui/widgets/what_if/plan_session.h"
#include "gui/widgets/window_view.h"

class QLabel;
class QMenu;
class QStackedWidget;
class QTabBar;
class QToolBar;

namespace debubble::gui {

class RemedyStrip;

/// The window: pages in the middle, the timeline first, and docks around them. It knows pages and
/// docks only as WindowViews. Its own parts are files, commands, the content of the screen, and the
/// layout.
class MainWindow : public QMainWindow, private ViewHost {
    Q_OBJECT

public:
    MainWindow();
    ~MainWindow() override;

    /// Opens the files of the command line, or else the last open files.
    void open(const CommandLine& line);
    void open_files(const QStringList& files, const std::vector<std::string>& set = {});

    PlanSession& session() override { return session_; }
    const std::vector<std::unique_ptr<WindowView>>& views() const { return views_; }
    /// Adds the views' parts of the state of the window (StateFile).
    void add_state(nlohmann::ordered_json& state) const;
    QString message() const;

public Q_SLOTS:
    void choose_file();
    bool save();
    bool save_as();
    bool save_to(const QString& file);
    void export_to(const QString& file);
    void choose_export();
    void execute() override;
    /// Finds the best plan of the grid, and opens it.
    void search_best() override;
    /// Copies the timeline's picture, and the command that shows the same, to the clipboard.
    void copy();
    void show_current_plan();
    /// Shows the trace or the comparison again that the plan replaced on the screen.
    void show_aside();
    /// Shows the plan above the pinned one, or above the previous one.
    void compare_plans();
    void show_commands();
    void show_help();
    /// Lays out tool bar and docks as at the first start.
    void reset_layout();

Q_SIGNALS:
    /// The timeline shows the answer to the last question, or the strip has the reason why not.
    void settled();
    /// The film is written, or the strip has the reason why not.
    void filmed();

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    struct OpenRequest {
        std::vector<std::string> files;
        std::vector<std::string> set;
        std::optional<Shown> predicted = {};  ///< the prediction of a run; `files` holds its trace
        std::optional<Shown> below = {};      ///< another plan, which is shown below `predicted`
        std::optional<std::pair<Shown, std::size_t>> step = {};  ///< another step of a trace
    };

    void build_centre();
    void build_views();
    void add_dock(WindowView& view);
    void build_tool_bar();
    void build_menus();
    void build_arrangement_menu(QMenu* menu);
    void build_theme_menu(QMenu* menu);
    void build_language_menu(QMenu* menu);
    void build_file_menu();
    void build_view_menu();
    void build_colour_menu(QMenu* menu);
    void connect_parts();
    void make_opener();
    void film_to(const QString& file, ExportFormat format);
    QAction* action(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip);

    void take(const Opened& opened);
    void open_scenario(const ScenarioText& source);
    void show_text();
    void show_answer();
    void show_mistakes();
    void show_place(const SourceLocation& where);
    /// Shows desk_.screen(), and the titles and commands that follow from it.
    void show_screen();
    void show_status();
    void show_title_and_commands();
    void offer_way_back();
    void show_steps();
    void show_answer_line();
    QString covered_text() const;
    const Desk& desk() const override { return desk_; }
    MessageStrip& messages() override { return *messages_; }
    TimelineView& timeline() override { return *timeline_; }
    QSplitter& lanes() override { return *lanes_; }
    void show_page(const QString& name) override;
    void raise_dock(const QString& name) override;
    void uncover_plan() override;
    void show_run(const std::shared_ptr<const PredictedPlan>& plan, const QString& trace) override;
    void close_window() override { close(); }
    /// The widget of a view, for commands of the window that need more than the view's interface.
    template <class Widget>
    Widget& widget() const {
        return *findChild<Widget*>();
    }
    void select_tab(int tab);
    /// Hides the open docks among these, or shows them again.
    void fold(const QList<QDockWidget*>& docks);
    void give_height(QDockWidget* dock);
    void fill_recent();
    void add_recent(const QString& file);
    void restore();
    void remember();
    void remember_view();
    void recall_view();
    ViewState fresh_view() const;
    bool keep_unsaved();
    void offer_unsaved();
    void restore_left(const UnsavedFolder::Left& left);
    bool may_discard();
    bool may_lose_changes();

    PlanSession session_;
    Desk desk_;
    QString looked_at_;  ///< the name of the kept view of the screen; may be empty
    QString way_back_;   ///< the message that offers to show the plan again
    UnsavedFolder unsaved_;
    QTimer unsaved_timer_;

    TimelineView* timeline_ = nullptr;
    MessageStrip* messages_ = nullptr;
    QSplitter* lanes_ = nullptr;
    QStackedWidget* pages_ = nullptr;
    std::vector<QWidget*> page_of_tab_;
    QLabel* answer_line_ = nullptr;  ///< the sentence about the selection, below the lanes
    QTabBar* page_tabs_ = nullptr;
    RemedyStrip* remedies_ = nullptr;
    QTabBar* steps_ = nullptr;  ///< the steps of a trace with several on the screen
    QToolBar* tool_bar_ = nullptr;
    QList<QDockWidget*> beside_;  ///< the docks in the column next to the timeline
    QList<QDockWidget*> below_;   ///< the docks below the timeline
    /// Docks that were folded together, by the first dock of their place.
    std::map<const QDockWidget*, QList<QDockWidget*>> folded_;
    bool below_has_size_ = false;  ///< chosen by the user, or set once
    QLabel* status_ = nullptr;
    QMenu* recent_ = nullptr;
    QAction* undo_ = nullptr;
    QAction* redo_ = nullptr;
    QAction* open_ = nullptr;
    QAction* save_ = nullptr;
    QAction* pin_ = nullptr;
    QAction* run_action_ = nullptr;
    QAction* schedule_ = nullptr;
    QAction* search_ = nullptr;
    QAction* show_plan_ = nullptr;
    QAction* show_aside_ = nullptr;
    QAction* compare_plans_ = nullptr;
    QAction* save_as_ = nullptr;
    QAction* export_ = nullptr;
    QAction* fold_beside_ = nullptr;
    QAction* fold_below_ = nullptr;
    bool film_is_written_ = false;
    std::jthread filming_;  ///< writes a film
    std::vector<std::unique_ptr<WindowView>> views_;
    std::unique_ptr<LatestWins<OpenRequest, Opened>> opener_;  ///< last, since it calls back
};

}  // namespace debubble::gui
