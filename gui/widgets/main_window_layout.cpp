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

#include "gui/widgets/main_window.h"
#include "gui/widgets/message_strip.h"
#include "gui/widgets/timeline/timeline_view.h"
#include "gui/widgets/what_if/remedy_strip.h"

/// The layout of the window: pages in the middle, a column of docks left of them, and docks below
/// them, which are folded at first.
namespace debubble::gui {
namespace {

/// One line that is cut off to its width; the whole text is in the tool tip.
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

/// The panel with scroll bars if it needs them, so that no font cuts it off.
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
    lanes_ = new QSplitter(Qt::Vertical);
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

void MainWindow::add_dock(WindowView& view) {
    const ViewFacts facts = view.facts();
    QWidget* widget = facts.scrolls ? scrolled(view.widget()) : view.widget();
    auto* dock = new QDockWidget(facts.title);
    dock->setObjectName(facts.name);  // the name in saveState()
    dock->setWidget(widget);
    // Qt treats a dock under another one as visible: without this, it would get keys unseen.
    QSizePolicy policy = widget->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    widget->setSizePolicy(policy);
    connect(dock, &QDockWidget::visibilityChanged, widget, &QWidget::setVisible);
    addDockWidget(Qt::LeftDockWidgetArea, dock);
    (facts.place == ViewPlace::Beside ? beside_ : below_) << dock;
}

void MainWindow::build_views() {
    views_ = make_views(*this);
    page_tabs_ = new QTabBar;
    QStringList titles;
    for (const auto& view : views_) {
        const ViewFacts facts = view->facts();
        if (facts.place != ViewPlace::Middle) {
            add_dock(*view);
            continue;
        }
        QWidget* page = facts.scrolls ? scrolled(view->widget()) : view->widget();
        if (pages_->indexOf(page) < 0) pages_->addWidget(page);
        page_of_tab_.push_back(page);
        page_tabs_->setTabData(page_tabs_->addTab(facts.title), facts.name);
        titles << facts.title;
    }
    page_tabs_->setObjectName("pages");
    page_tabs_->setAccessibleName(tr("Pages: %1").arg(titles.join(", ")));
    page_tabs_->setDrawBase(false);
    page_tabs_->setUsesScrollButtons(false);  // in a narrow window, commands are hidden, not pages
    connect(page_tabs_, &QTabBar::currentChanged, this, &MainWindow::select_tab);
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
}

void MainWindow::build_tool_bar() {
    tool_bar_ = new QToolBar(tr("Tool bar"));
    tool_bar_->setObjectName("tool-bar");
    tool_bar_->setToolButtonStyle(Qt::ToolButtonTextOnly);
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

/// The layout of the first start. The column of docks is as wide as its fields need; the docks
/// below the timeline are folded.
void MainWindow::reset_layout() {
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
    const int most = width() * 17 / 100;  // most of the window is left to the lanes
    resizeDocks({beside_[0]}, {std::min(letters * fontMetrics().averageCharWidth(), most)},
                Qt::Horizontal);
    resizeDocks({beside_[0], beside_[1]}, {600, 400}, Qt::Vertical);
    below_has_size_ = false;
    show_page("timeline");
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

/// Gives a height to docks that were never shown, for which Qt has no size to restore.
void MainWindow::give_height(QDockWidget* dock) {
    if (below_has_size_ || !below_.contains(dock)) return;
    below_has_size_ = true;
    resizeDocks({dock}, {16 * fontMetrics().height()}, Qt::Vertical);
}

void MainWindow::raise_dock(const QString& name) {
    auto* dock = findChild<QDockWidget*>(name);
    dock->show();
    dock->raise();
    dock->widget()->show();  // at once, so that it can get the focus
    give_height(dock);
}

void MainWindow::select_tab(int tab) {
    const QString name = page_tabs_->tabData(tab).toString();
    for (const auto& view : views_) {
        const ViewFacts facts = view->facts();
        if (facts.place == ViewPlace::Middle) view->front_changed(facts.name == name);
    }
    pages_->setCurrentWidget(page_of_tab_[tab]);
    show_answer_line();
}

void MainWindow::show_page(const QString& name) {
    for (int tab = 0; tab < page_tabs_->count(); ++tab)
        if (page_tabs_->tabData(tab).toString() == name) page_tabs_->setCurrentIndex(tab);
}

}  // namespace debubble::gui
