#include <algorithm>

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QLabel>
#include <QPainter>
#include <QScreen>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QStatusBar>
#include <QStyle>
#include <QTabBar>
#include <QToolBar>
#include <QVBoxLayout>

#include "gui/widgets/bill/bill_panel.h"
#include "gui/widgets/bill/tornado_view.h"
#include "gui/widgets/compare/compare_panel.h"
#include "gui/widgets/details_panel.h"
#include "gui/widgets/main_window.h"
#include "gui/widgets/message_strip.h"
#include "gui/widgets/run/run_panel.h"
#include "gui/widgets/sweep/sweep_panel.h"
#include "gui/widgets/tensor_panel.h"
#include "gui/widgets/timeline/overview_view.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/remedy_strip.h"
#include "gui/widgets/what_if/summary_panel.h"
#include "gui/widgets/what_if/what_if_panel.h"
#include "gui/widgets/what_if/yaml_editor.h"
#include "gui/widgets/whole_run/run_page.h"
#include "gui/widgets/zoo/zoo_panel.h"

/// The room of the window: the timeline and the sweep in the middle, a column of questions and
/// answers beside them, and panels below that are folded until they are needed.
namespace debubble::gui {
namespace {

/// One line that is never wider than its place; the rest of the text is in the tool tip.
class Line : public QLabel {
public:
    QSize minimumSizeHint() const override { return {0, QLabel::minimumSizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        style()->drawItemText(
            &painter, contentsRect(), Qt::AlignLeft | Qt::AlignVCenter, palette(), isEnabled(),
            fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width()),
            foregroundRole());
    }
};

/// The panel with scroll bars where its place is too small, so that no font cuts it off.
QScrollArea* scrolled(QWidget* panel) {
    auto* area = new QScrollArea;
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    area->setWidget(panel);
    return area;
}

}  // namespace

void MainWindow::build_centre() {
    timeline_ = new TimelineView;
    sweep_ = new SweepPanel;
    messages_ = new MessageStrip;
    remedies_ = new RemedyStrip;
    steps_ = new QTabBar;
    steps_->setObjectName("steps");
    steps_->setAccessibleName(tr("Steps of the trace"));
    steps_->setExpanding(false);
    steps_->setUsesScrollButtons(true);
    steps_->hide();
    answer_line_ = new QLabel;
    answer_line_->setObjectName("answer-line");
    answer_line_->setAccessibleName(tr("The selection in a sentence"));
    answer_line_->setTextFormat(Qt::RichText);
    answer_line_->setTextInteractionFlags(Qt::TextBrowserInteraction);
    answer_line_->setFocusPolicy(Qt::ClickFocus);
    answer_line_->setWordWrap(true);
    answer_line_->setContentsMargins(8, 3, 8, 3);
    answer_line_->hide();
    pages_ = new QStackedWidget;
    bill_ = new BillPanel;
    tornado_ = new TornadoView;
    auto* where_it_goes = new QSplitter;
    where_it_goes->addWidget(bill_);
    where_it_goes->addWidget(tornado_);
    where_it_goes->setStretchFactor(0, 3);
    where_it_goes->setStretchFactor(1, 2);
    where_it_goes->setSizes({1000, 420});
    where_it_goes->hide();
    where_it_goes_ = where_it_goes;
    auto* lanes = new QSplitter(Qt::Vertical);
    lanes->addWidget(where_it_goes_);
    lanes->addWidget(timeline_);
    lanes->setStretchFactor(0, 1);
    lanes->setStretchFactor(1, 1);
    lanes->setChildrenCollapsible(false);
    lanes->setSizes({400, 500});
    pages_->addWidget(lanes);
    pages_->addWidget(scrolled(sweep_));
    zoo_ = new ZooPanel;
    pages_->addWidget(zoo_);
    overview_ = new OverviewView;
    pages_->addWidget(overview_);
    whole_run_ = new RunPage;
    pages_->addWidget(whole_run_);
    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(messages_);
    column->addWidget(remedies_);
    column->addWidget(steps_);
    column->addWidget(pages_, 1);
    column->addWidget(answer_line_);
    setCentralWidget(centre);
    status_ = new Line;
    statusBar()->addWidget(status_, 1);
}

QDockWidget* MainWindow::add_dock(const char* name, const QString& title, QWidget* widget) {
    auto* dock = new QDockWidget(title);
    dock->setObjectName(name);  // the name by which saveState() knows it
    dock->setWidget(widget);
    // A dock behind another one counts as visible: without this, keys would go into it unseen.
    QSizePolicy policy = widget->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    widget->setSizePolicy(policy);
    connect(dock, &QDockWidget::visibilityChanged, widget, &QWidget::setVisible);
    addDockWidget(Qt::LeftDockWidgetArea, dock);
    return dock;
}

void MainWindow::build_docks() {
    what_if_ = new WhatIfPanel;
    summary_ = new SummaryPanel;
    details_ = new DetailsPanel(timeline_);
    text_ = new YamlEditor;
    run_ = new RunPanel;
    compare_ = new ComparePanel(timeline_);
    tensors_ = new TensorPanel;
    beside_ = {add_dock("what-if", tr("What if"), what_if_),
               add_dock("summary", tr("Summary"), summary_),
               add_dock("details", tr("Details"), details_)};
    below_ = {add_dock("text", tr("Scenario"), text_),
              add_dock("run", tr("Execute"), scrolled(run_)),
              add_dock("compare", tr("Compare"), scrolled(compare_)),
              add_dock("tensors", tr("Tensors"), tensors_)};
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
}

void MainWindow::build_tool_bar() {
    tool_bar_ = new QToolBar(tr("Tool bar"));
    tool_bar_->setObjectName("tool-bar");
    tool_bar_->setToolButtonStyle(Qt::ToolButtonTextOnly);
    page_tabs_ = new QTabBar;
    page_tabs_->setObjectName("pages");
    page_tabs_->setAccessibleName(
        tr("Timeline, sweep, where the step goes, schedules, all ranks, or the whole run"));
    page_tabs_->setDrawBase(false);
    page_tabs_->setUsesScrollButtons(false);  // where room is scarce, commands go, not pages
    // The names by which the state file knows them.
    for (const auto& [name, title] :
         {std::pair("timeline", tr("Timeline")), std::pair("sweep", tr("Sweep")),
          std::pair("bill", tr("Where it goes")), std::pair("schedules", tr("Schedules")),
          std::pair("ranks", tr("All ranks")), std::pair("run", tr("Run"))})
        page_tabs_->setTabData(page_tabs_->addTab(title), name);
    connect(page_tabs_, &QTabBar::currentChanged, this, &MainWindow::turn_to_page);
    tool_bar_->addWidget(page_tabs_);
    tool_bar_->addSeparator();
    const auto add = [&](QAction* action, const QString& name) {
        action->setIconText(name);
        tool_bar_->addAction(action);
    };
    add(open_, tr("Open"));
    add(save_, tr("Save"));
    add(undo_, tr("Undo"));
    add(redo_, tr("Redo"));
    add(pin_, tr("Pin"));
    add(compare_plans_, tr("Compare"));
    add(search_, tr("Search"));
    add(run_action_, tr("Execute"));
    tool_bar_->addSeparator();
    add(fold_beside_, tr("Panels beside"));
    add(fold_below_, tr("Panels below"));
    addToolBar(tool_bar_);
}

/// The arrangement of the first start. The column beside the timeline is as wide as its fields
/// need; what is below the timeline is folded.
void MainWindow::lay_out_afresh() {
    const QSize room = screen()->availableSize() - QSize(16, 48);  // the frame of the window
    constexpr QSize kComfortable(1600, 1000);
    if (!isVisible()) resize(kComfortable.boundedTo(room));
    addToolBar(Qt::TopToolBarArea, tool_bar_);
    tool_bar_->show();
    for (const auto& docks : {beside_, below_})
        for (QDockWidget* dock : docks) {
            dock->setFloating(false);
            removeDockWidget(dock);
        }
    for (QDockWidget* dock : beside_) {
        addDockWidget(Qt::LeftDockWidgetArea, dock);
        dock->show();
    }
    tabifyDockWidget(beside_[1], beside_[2]);
    beside_[1]->raise();
    for (QDockWidget* dock : below_) {
        addDockWidget(Qt::BottomDockWidgetArea, dock);
        if (dock != below_[0]) tabifyDockWidget(below_[0], dock);
        dock->hide();
    }
    folded_.clear();
    constexpr int kWide = 1700;
    const int letters = width() < kWide ? 39 : 50;
    const int most = width() * 17 / 100;  // the lanes are what the window is for
    resizeDocks({beside_[0]}, {std::min(letters * fontMetrics().averageCharWidth(), most)},
                Qt::Horizontal);
    resizeDocks({beside_[0], beside_[1]}, {600, 400}, Qt::Vertical);
    below_has_size_ = false;
    show_page(timeline_);
}

void MainWindow::fold(const QList<QDockWidget*>& docks) {
    QList<QDockWidget*> open;
    for (QDockWidget* dock : docks)
        if (!dock->isHidden() && !dock->isFloating()) open << dock;
    for (QDockWidget* dock : open) dock->hide();
    QList<QDockWidget*>& folded = folded_[docks.front()];
    if (!open.isEmpty()) {
        folded = open;
        return;
    }
    for (QDockWidget* dock : folded.isEmpty() ? docks : folded) dock->show();
    give_height(docks.front());
}

/// Docks that were never shown have no size that Qt could restore.
void MainWindow::give_height(QDockWidget* dock) {
    if (below_has_size_ || !below_.contains(dock)) return;
    below_has_size_ = true;
    resizeDocks({dock}, {16 * fontMetrics().height()}, Qt::Vertical);
}

void MainWindow::raise_dock(const QString& name) {
    auto* dock = findChild<QDockWidget*>(name);
    dock->show();
    dock->raise();
    dock->widget()->show();  // at once, so that it can take the focus
    give_height(dock);
}

/// The bill stands above the lanes, in which its parts are lit.
void MainWindow::turn_to_page(int tab) {
    where_it_goes_->setVisible(tab == 2);
    pages_->setCurrentIndex(tab == 1 ? 1 : tab >= 3 ? tab - 1 : 0);
    if (tab != 2 && timeline_->scene().lit.any()) timeline_->light({});
    show_answer_line();
}

void MainWindow::show_page(const QWidget* page) {
    page_tabs_->setCurrentIndex(page == timeline_    ? 0
                                : page == bill_      ? 2
                                : page == zoo_       ? 3
                                : page == overview_  ? 4
                                : page == whole_run_ ? 5
                                                     : 1);
}

}  // namespace debubble::gui
