#pragma once

#include <memory>

#include <QMainWindow>
#include <QTimer>

#include "gui/viewmodel/command_line.h"
#include "gui/viewmodel/latest_wins.h"
#include "gui/viewmodel/opened.h"
#include "gui/viewmodel/timeline/scene.h"
#include "gui/viewmodel/unsaved.h"
#include "gui/viewmodel/what_if/figures.h"
#include "gui/widgets/what_if/plan_session.h"

class QLabel;
class QMenu;

namespace debubble::gui {

class ComparePanel;
class DetailsPanel;
class MessageStrip;
class RunPanel;
class SummaryPanel;
class SweepPanel;
class TimelineView;
class WhatIfPanel;
class YamlEditor;

/// The window: a timeline in the middle, with questions and answers around it.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    MainWindow();
    ~MainWindow() override;

    /// Opens the files of the command line, or else those that were open last.
    void open(const CommandLine& line);
    void open_files(const QStringList& files, const std::vector<std::string>& set = {});

    PlanSession& session() { return session_; }
    QString message() const;

public Q_SLOTS:
    void choose_file();
    bool save();
    bool save_as();
    bool save_to(const QString& file);
    void export_to(const QString& file);
    void choose_export();
    void execute();
    void show_current_plan();
    /// Shows the plan above the pinned one, or above the one before.
    void compare_plans();
    void show_commands();
    void show_help();

Q_SIGNALS:
    /// The timeline shows the last question's answer, or the strip says why not.
    void settled();

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
    };

    void build_docks();
    QDockWidget* add_dock(const char* name, const QString& title, Qt::DockWidgetArea area,
                          QWidget* widget);
    void build_menus();
    void build_file_menu();
    void build_view_menu();
    void build_colour_menu(QMenu* menu);
    void connect_parts();
    QAction* action(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip);

    void take(const Opened& opened);
    void show_text();
    void show_answer();
    void show_mistakes();
    void show_plan(const std::shared_ptr<const PredictedPlan>& plan);
    void show_comparison(const Opened& opened);
    void show_traces(const Opened& opened);
    void show_instead_of_plan(const Opened& opened, const QString& what);
    std::vector<SummaryRow> figures_of(const Document& document) const;
    void raise_dock(const QString& name);
    void show_title();
    void set_plan_open(bool open);
    void fill_recent();
    void add_recent(const QString& file);
    void restore();
    void remember();
    void look_at(const QString& name);
    void remember_view();
    void recall_view();
    ViewState fresh_view() const;
    void keep_unsaved();
    void offer_unsaved();
    void take_up(const ScenarioText& left);

    PlanSession session_;
    bool plan_open_ = false;  ///< otherwise traces are looked at
    std::vector<Shown> traces_;
    QString looked_at_;    ///< the file whose view is remembered; empty until it is shown
    bool recall_ = false;  ///< recall the view when it is shown for the first time
    UnsavedFolder unsaved_;
    QTimer unsaved_timer_;

    TimelineView* timeline_ = nullptr;
    MessageStrip* messages_ = nullptr;
    WhatIfPanel* what_if_ = nullptr;
    SummaryPanel* summary_ = nullptr;
    YamlEditor* text_ = nullptr;
    SweepPanel* sweep_ = nullptr;
    RunPanel* run_ = nullptr;
    ComparePanel* compare_ = nullptr;
    DetailsPanel* details_ = nullptr;
    std::shared_ptr<const PredictedPlan> executing_;  ///< the plan of the run under way
    std::shared_ptr<const PredictedPlan> below_;      ///< the lower one of two compared plans
    QLabel* status_ = nullptr;
    QMenu* recent_ = nullptr;
    QAction* undo_ = nullptr;
    QAction* redo_ = nullptr;
    QAction* save_ = nullptr;
    QAction* pin_ = nullptr;
    QAction* run_action_ = nullptr;
    std::unique_ptr<LatestWins<OpenRequest, Opened>> opener_;  ///< last, since it calls back
};

}  // namespace debubble::gui
