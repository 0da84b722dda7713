#include <QAction>
#include <QActionGroup>
#include <QComboBox>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>

#include "gui/viewmodel/help_words.h"
#include "gui/viewmodel/timeline/words.h"
#include "gui/widgets/colours.h"
#include "gui/widgets/command_palette.h"
#include "gui/widgets/details/details_panel.h"
#include "gui/widgets/help_sheet.h"
#include "gui/widgets/language.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/message_strip.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/what_if_panel.h"
#include "scenarios/read/read_scenario.h"
#include "trace/picture/document/link_table.h"

/// The menus. Every command is an action of the window, so the palette finds it.
namespace debubble::gui {

QAction* MainWindow::action(QMenu* menu, const QString& text, const QKeySequence& keys,
                            const QString& tip) {
    QAction* entry = menu->addAction(text);
    entry->setShortcut(keys);
    entry->setStatusTip(tip);
    entry->setToolTip(tip);
    addAction(entry);
    return entry;
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
    QAction* copied = action(edit, tr("Cop&y picture and command"), QKeySequence::Copy,
                             tr("The timeline, and the command line that shows the same"));
    connect(copied, &QAction::triggered, this, &MainWindow::copy);
    pin_ = action(edit, tr("&Compare with this plan from now on"), QKeySequence("Ctrl+K"),
                  tr("The ghost and the differences are of this plan, not of the one before"));
    pin_->setCheckable(true);
    connect(pin_, &QAction::triggered, &session_, &PlanSession::pin);
    QMenu* plan = menuBar()->addMenu(tr("&Plan"));
    schedule_ = action(plan, tr("Change the sche&dule"), QKeySequence("Ctrl+D"),
                       tr("Opens the list of schedules"));
    connect(schedule_, &QAction::triggered, this, [this] {
        auto& fields = widget<WhatIfPanel>();
        auto* box = fields.findChild<QComboBox*>("schedule");
        if (box == nullptr || !box->isEnabled()) return;
        raise_dock("what-if");
        fields.ensureWidgetVisible(box);
        box->setFocus();
        box->showPopup();
    });
    run_action_ = action(plan, tr("E&xecute the plan"), QKeySequence("F5"),
                         tr("Train on this machine, and compare what ran with what was predicted"));
    connect(run_action_, &QAction::triggered, this, &MainWindow::execute);
    show_plan_ = action(plan, tr("Show the &plan"), QKeySequence("Ctrl+1"),
                        tr("Instead of a trace or a comparison, which can be shown again"));
    connect(show_plan_, &QAction::triggered, this, &MainWindow::show_current_plan);
    compare_plans_ = action(plan, tr("&Lay it above the pinned plan"), QKeySequence("Ctrl+2"),
                            tr("On one axis, with the differences; without a pin, above the one "
                               "before; a trace in front, below the plan"));
    connect(compare_plans_, &QAction::triggered, this, &MainWindow::compare_plans);
    show_aside_ = action(plan, tr("Show the &trace again"), QKeySequence("Ctrl+3"),
                         tr("The trace or the comparison that the plan took from the screen"));
    connect(show_aside_, &QAction::triggered, this, &MainWindow::show_aside);
    QAction* sweep = action(plan, tr("&Sweep the grid"), QKeySequence("Ctrl+G"),
                            tr("Predict every plan of the grid"));
    connect(sweep, &QAction::triggered, this, [this] {
        show_page("sweep");
        auto& panel = widget<SweepPanel>();
        if (desk_.has_plan() && !panel.is_running()) panel.start();
    });
    search_ = action(plan, tr("Search the &best plan"), QKeySequence("Ctrl+Shift+G"),
                     tr("The fastest plan of the grid that fits; undo takes it back"));
    connect(search_, &QAction::triggered, this, &MainWindow::search_best);
    build_view_menu();
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    QAction* keys = action(help, tr("&Keys, colours and words"), QKeySequence("?"),
                           tr("All keys, what the colours mean, and every schedule"));
    connect(keys, &QAction::triggered, this, &MainWindow::show_help);
    QAction* about = action(help, tr("&About debubble"), {}, tr("Version and licence"));
    connect(about, &QAction::triggered, this, [this] {
        QMessageBox::about(
            this, tr("About debubble"),
            tr("<b>debubble %1</b><p>Plans, predicts, shows and runs the "
               "pipeline-parallel training "
               "of transformers.</p><p>Apache License 2.0. Made with Qt %2.</p>")
                .arg(QString::fromStdString(program_version()), QString(qVersion())));
    });
    QAction* commands = action(help, tr("&Find a command..."), QKeySequence("Ctrl+Shift+P"),
                               tr("All commands by name"));
    connect(commands, &QAction::triggered, this, &MainWindow::show_commands);
}

void MainWindow::build_file_menu() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    open_ = action(file, tr("&Open..."), QKeySequence::Open,
                   tr("A scenario, a trace, or two to compare"));
    connect(open_, &QAction::triggered, this, &MainWindow::choose_file);
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
    save_as_ = action(file, tr("Save the scenario &as..."), QKeySequence("Ctrl+Shift+S"),
                      tr("Under another name"));
    connect(save_as_, &QAction::triggered, this, &MainWindow::save_as);
    export_ = action(file, tr("&Export the timeline..."), QKeySequence("Ctrl+E"),
                     tr("SVG, PNG, PDF, a page, a film, Chrome JSON or CSV"));
    connect(export_, &QAction::triggered, this, &MainWindow::choose_export);
    file->addSeparator();
    QAction* quit = action(file, tr("&Quit"), QKeySequence("Ctrl+Q"),
                           tr("Unsaved changes are kept and offered at the next start"));
    connect(quit, &QAction::triggered, this, &MainWindow::close);
}

void MainWindow::build_view_menu() {
    QMenu* view = menuBar()->addMenu(tr("&View"));
    const auto add = [&](const QString& text, const char* keys, void (TimelineView::*slot)()) {
        // The keys are handled by the timeline, so that text fields keep their letters.
        QAction* entry = action(view, text, {}, tr("Key in the timeline: %1").arg(keys));
        connect(entry, &QAction::triggered, timeline_, slot);
    };
    add(tr("Zoom &in"), "W", &TimelineView::zoom_in);
    add(tr("Zoom &out"), "S", &TimelineView::zoom_out);
    add(tr("Show &all"), "Home", &TimelineView::fit);
    add(tr("&Focus the selection"), "F", &TimelineView::focus_selection);
    add(tr("&Next action"), ".", &TimelineView::next_op);
    add(tr("&Previous action"), ",", &TimelineView::previous_op);
    add(tr("Next &bubble"), "B", &TimelineView::next_bubble);
    add(tr("Previous bubbl&e"), "Shift+B", &TimelineView::previous_bubble);
    add(tr("&Go to what ends the bubble"), "Enter", &TimelineView::go_to_ending_action);
    add(tr("&Mark"), "M", &TimelineView::mark);
    add(tr("&Critical path"), "C", &TimelineView::toggle_critical_path);
    add(tr("Pla&y the step"), "Space", &TimelineView::toggle_play);
    QAction* memory = action(view, tr("Memor&y to its own scale"), {},
                             tr("Its lanes end at what is held, or at the limit again"));
    memory->setCheckable(true);
    connect(memory, &QAction::triggered, timeline_, &TimelineView::toggle_memory_scale);
    QAction* links =
        action(view, tr("Show the &links"), {},
               tr("A lane per rank and class of links: how much of their limit a plan uses"));
    connect(links, &QAction::triggered, this, [this] {
        const Document document = document_of(desk_.screen());
        const std::string why = document ? picture::why_no_links(*document) : std::string();
        if (!why.empty()) return messages_->say(QString::fromStdString(said("links", why)));
        timeline_->toggle_link_use();
    });
    QAction* fold = action(view, tr("Fold similar &ranks"), {},
                           tr("Of more than 32 ranks, neighbours with similar steps share a row"));
    connect(fold, &QAction::triggered, timeline_, &TimelineView::toggle_folding);
    QAction* every = action(view, tr("Show every ran&k"), {}, tr("Not only those of a brush"));
    connect(every, &QAction::triggered, timeline_, &TimelineView::show_every_rank);
    QAction* find =
        action(view, tr("Find &actions..."), QKeySequence::Find, tr("By name, kind, rank, length"));
    connect(find, &QAction::triggered, this, [this] {
        raise_dock("details");
        widget<DetailsPanel>().focus_search();
    });
    build_colour_menu(view->addMenu(tr("Colour &by")));
    build_theme_menu(view->addMenu(tr("&Theme")));
    build_language_menu(view->addMenu(tr("Lan&guage")));
    view->addSeparator();
    build_arrangement_menu(view);
}

void MainWindow::build_arrangement_menu(QMenu* menu) {
    const auto add = [&](const QString& text, const QKeySequence& keys, const QString& tip,
                         auto act) {
        QAction* entry = action(menu, text, keys, tip);
        connect(entry, &QAction::triggered, this, act);
        return entry;
    };
    for (const auto& view : views_) {
        const ViewFacts facts = view->facts();
        if (facts.command.isEmpty()) continue;
        const bool page = facts.place == ViewPlace::Middle;
        add(facts.command, facts.key, facts.tip,
            [this, page, name = facts.name, widget = view->widget()] {
                if (page) return show_page(name);
                raise_dock(name);
                widget->setFocus();
            });
    }
    fold_beside_ = add(tr("Fold the pane&ls beside"), fold_key(ViewPlace::Beside),
                       tr("Hides them, or shows them again"), [this] { fold(beside_); });
    fold_below_ = add(tr("Fold the panels &below"), fold_key(ViewPlace::Below),
                      tr("Hides them, or shows them again"), [this] { fold(below_); });
    add(tr("F&ull screen"), QKeySequence("F11"),
        tr("Without the frame of the window, or with it again"),
        [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
    add(tr("&Reset the layout"), {}, tr("Tool bar and panels as at the first start"),
        [this] { reset_layout(); });
    menu->addSeparator();
    for (const auto& docks : {beside_, below_})
        for (QDockWidget* dock : docks) {
            menu->addAction(dock->toggleViewAction());
            addAction(dock->toggleViewAction());
        }
}

void MainWindow::build_theme_menu(QMenu* menu) {
    auto* group = new QActionGroup(menu);
    const auto add = [&](const QString& text, WindowTheme theme) {
        QAction* entry = action(menu, text, {}, tr("The colours of the window"));
        entry->setCheckable(true);
        entry->setChecked(remembered_theme() == theme);
        group->addAction(entry);
        connect(entry, &QAction::triggered, this, [theme] {
            remember_theme(theme);
            use_theme(theme);
        });
    };
    add(tr("Theme of the &system"), WindowTheme::System);
    add(tr("&Light theme"), WindowTheme::Light);
    add(tr("&Dark theme"), WindowTheme::Dark);
}

/// Workers make texts too, so a new language is used from the next start on.
void MainWindow::build_language_menu(QMenu* menu) {
    auto* group = new QActionGroup(menu);
    QList<Language> all = languages();
    all.prepend({{}, tr("Language of the s&ystem")});
    for (const Language& language : all) {
        QAction* entry = action(menu, language.name, {}, tr("From the next start on"));
        entry->setCheckable(true);
        entry->setChecked(remembered_language() == language.code);
        group->addAction(entry);
        connect(entry, &QAction::triggered, this, [this, language] {
            remember_language(language.code);
            messages_->say(tr("The window speaks this language from its next start on"));
        });
    }
}

void MainWindow::build_colour_menu(QMenu* menu) {
    auto* group = new QActionGroup(menu);
    const auto add = [&](const QString& text, const QString& tip, ColourBy by) {
        QAction* entry = action(menu, text, {}, tip);
        entry->setCheckable(true);
        group->addAction(entry);
        connect(entry, &QAction::triggered, this, [this, by] { timeline_->set_colour_by(by); });
        connect(timeline_, &TimelineView::state_changed, entry,
                [this, entry, by] { entry->setChecked(timeline_->state().colour_by == by); });
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
    auto* sheet = new HelpSheet(views_, actions(), this);
    sheet->setAttribute(Qt::WA_DeleteOnClose);
    sheet->show();
}

}  // namespace debubble::gui
