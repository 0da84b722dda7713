#include <QAction>
#include <QActionGroup>
#include <QComboBox>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>

#include "gui/widgets/command_palette.h"
#include "gui/widgets/details_panel.h"
#include "gui/widgets/help_sheet.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/what_if_panel.h"
#include "scenarios/read_scenario.h"

/// The menus. Every command is an action of the window, so that the palette finds it.
namespace debubble::gui {

QAction* MainWindow::action(QMenu* menu, const QString& text, const QKeySequence& keys,
                            const QString& tip) {
    QAction* made = menu->addAction(text);
    made->setShortcut(keys);
    made->setStatusTip(tip);
    made->setToolTip(tip);
    addAction(made);
    return made;
}

void MainWindow::build_menus() {
    build_file_menu();
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    undo_ =
        action(edit, tr("&Undo the what-if"), QKeySequence::Undo, tr("Return to the plan before"));
    connect(undo_, &QAction::triggered, &session_, &PlanSession::undo);
    redo_ = action(edit, tr("&Redo the what-if"), {}, tr("Apply the change again"));
    redo_->setShortcuts({QKeySequence("Ctrl+Y"), QKeySequence("Ctrl+Shift+Z")});
    connect(redo_, &QAction::triggered, &session_, &PlanSession::redo);
    undo_->setEnabled(false);
    redo_->setEnabled(false);
    pin_ = action(edit, tr("&Compare with this plan from now on"), QKeySequence("Ctrl+K"),
                  tr("The ghost and the differences are of this plan, not of the one before"));
    pin_->setCheckable(true);
    connect(pin_, &QAction::triggered, &session_, &PlanSession::pin);
    QMenu* plan = menuBar()->addMenu(tr("&Plan"));
    QAction* schedule = action(plan, tr("Change the sche&dule"), QKeySequence("Ctrl+D"),
                               tr("Opens the list of schedules"));
    connect(schedule, &QAction::triggered, this, [this] {
        auto* box = what_if_->findChild<QComboBox*>("schedule");
        if (box == nullptr || !box->isEnabled()) return;
        raise_dock("what-if");
        what_if_->ensureWidgetVisible(box);
        box->setFocus();
        box->showPopup();
    });
    run_action_ = action(plan, tr("E&xecute the plan"), QKeySequence("F5"),
                         tr("Train on this machine, and compare what ran with what was predicted"));
    connect(run_action_, &QAction::triggered, this, &MainWindow::execute);
    QAction* shown =
        action(plan, tr("Show the &plan"), QKeySequence("Ctrl+1"), tr("Instead of a comparison"));
    connect(shown, &QAction::triggered, this, &MainWindow::show_current_plan);
    QAction* both = action(plan, tr("&Lay it above the pinned plan"), QKeySequence("Ctrl+2"),
                           tr("On one axis, with the differences; without a pin, above the one "
                              "before"));
    connect(both, &QAction::triggered, this, &MainWindow::compare_plans);
    QAction* sweep = action(plan, tr("&Sweep the grid"), QKeySequence("Ctrl+G"),
                            tr("Predict every plan of the grid"));
    connect(sweep, &QAction::triggered, this, [this] {
        raise_dock("sweep");
        if (plan_open_ && !sweep_->is_running()) sweep_->start();
    });
    build_view_menu();
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    QAction* keys = action(help, tr("&Keys and colours"), QKeySequence("?"),
                           tr("All keys and what the colours mean"));
    connect(keys, &QAction::triggered, this, &MainWindow::show_help);
    QAction* commands = action(help, tr("&Find a command..."), QKeySequence("Ctrl+Shift+P"),
                               tr("All commands by name"));
    connect(commands, &QAction::triggered, this, &MainWindow::show_commands);
}

void MainWindow::build_file_menu() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    QAction* open = action(file, tr("&Open..."), QKeySequence::Open,
                           tr("A scenario, a trace, or two to compare"));
    connect(open, &QAction::triggered, this, &MainWindow::choose_file);
    recent_ = file->addMenu(tr("Open &recent"));
    connect(recent_, &QMenu::aboutToShow, this, &MainWindow::fill_recent);
    QMenu* shipped = file->addMenu(tr("Open a &shipped scenario"));
    shipped->setStyleSheet("QMenu { menu-scrollable: 1; }");
    for (const std::string& name : scenarios::shipped_scenarios()) {
        const QString text = QString::fromStdString(name);
        connect(shipped->addAction(text), &QAction::triggered, this,
                [this, text] { open_files({text}); });
    }
    file->addSeparator();
    save_ = action(file, tr("&Save the scenario"), QKeySequence::Save, tr("As YAML"));
    connect(save_, &QAction::triggered, this, &MainWindow::save);
    QAction* as = action(file, tr("Save the scenario &as..."), QKeySequence("Ctrl+Shift+S"),
                         tr("Under another name"));
    connect(as, &QAction::triggered, this, &MainWindow::save_as);
    QAction* write = action(file, tr("&Export the timeline..."), QKeySequence("Ctrl+E"),
                            tr("SVG, PNG, PDF, Chrome JSON or CSV"));
    connect(write, &QAction::triggered, this, &MainWindow::choose_export);
    file->addSeparator();
    QAction* quit = action(file, tr("&Quit"), QKeySequence("Ctrl+Q"),
                           tr("Unsaved changes are kept and offered at the next start"));
    connect(quit, &QAction::triggered, this, &MainWindow::close);
}

void MainWindow::build_view_menu() {
    QMenu* view = menuBar()->addMenu(tr("&View"));
    const auto add = [&](const QString& text, const char* keys, void (TimelineView::*slot)()) {
        // The keys belong to the timeline: they must not take letters from text fields.
        QAction* made = action(view, text, {}, tr("Key in the timeline: %1").arg(keys));
        connect(made, &QAction::triggered, timeline_, slot);
    };
    add(tr("Zoom &in"), "W", &TimelineView::zoom_in);
    add(tr("Zoom &out"), "S", &TimelineView::zoom_out);
    add(tr("Show &all"), "Home", &TimelineView::fit);
    add(tr("&Focus the selection"), "F", &TimelineView::focus_selection);
    add(tr("&Next action"), ".", &TimelineView::next_op);
    add(tr("&Previous action"), ",", &TimelineView::previous_op);
    add(tr("&Mark"), "M", &TimelineView::mark);
    add(tr("&Critical path"), "C", &TimelineView::toggle_critical_path);
    QAction* find =
        action(view, tr("Find &actions..."), QKeySequence::Find, tr("By name, kind, rank, length"));
    connect(find, &QAction::triggered, this, [this] {
        raise_dock("details");
        details_->focus_search();
    });
    build_colour_menu(view->addMenu(tr("Colour &by")));
    view->addSeparator();
    for (QDockWidget* dock : findChildren<QDockWidget*>()) {
        view->addAction(dock->toggleViewAction());
        addAction(dock->toggleViewAction());
    }
}

void MainWindow::build_colour_menu(QMenu* menu) {
    auto* group = new QActionGroup(menu);
    const auto add = [&](const QString& text, const QString& tip, ColourBy by) {
        QAction* made = action(menu, text, {}, tip);
        made->setCheckable(true);
        group->addAction(made);
        connect(made, &QAction::triggered, this, [this, by] { timeline_->set_colour_by(by); });
        connect(timeline_, &TimelineView::state_changed, made,
                [this, made, by] { made->setChecked(timeline_->state().colour_by == by); });
    };
    add(tr("Colour by &kind"), tr("Forward, backward, communication, optimizer"), ColourBy::Kind);
    add(tr("Colour by &microbatch"), tr("A colour per microbatch"), ColourBy::MicroBatch);
    add(tr("Colour by &stage"), tr("A colour per stage of the model"), ColourBy::Stage);
    add(tr("Colour by &error"), tr("In a comparison: blue where A is shorter, red where longer"),
        ColourBy::Error);
    group->actions().front()->setChecked(true);
}

void MainWindow::show_commands() {
    auto* palette = new CommandPalette(actions(), this);
    palette->setAttribute(Qt::WA_DeleteOnClose);
    palette->popup();
}

void MainWindow::show_help() {
    auto* sheet = new HelpSheet(actions(), this);
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    sheet->show();
}

}  // namespace debubble::gui
