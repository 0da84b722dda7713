#include <QComboBox>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/widgets/save_dialog.h"
#include "gui/widgets/sweep/scatter_view.h"
#include "gui/widgets/sweep/sweep_model.h"
#include "gui/widgets/sweep/sweep_panel.h"

/// The parts of the panel, their positions and connections.
namespace debubble::gui {
namespace {

constexpr int kResultsPoll =
    150;  ///< milliseconds; a table of 10,000 rows is sorted in a few of them

template <class Widget>
Widget* named(Widget* widget, const char* name, const QString& accessible) {
    widget->setObjectName(name);
    widget->setAccessibleName(accessible);
    return widget;
}

QWidget* column_of(std::initializer_list<QWidget*> widgets, QHBoxLayout* top) {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(4, 4, 4, 4);
    column->addLayout(top);
    for (QWidget* widget : widgets) column->addWidget(widget);
    return page;
}

}  // namespace

void SweepPanel::build_controls() {
    grid_ = named(new QPlainTextEdit, "sweep-grid", tr("Grid: a key and its values per line"));
    grid_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    grid_->setTabChangesFocus(true);
    grid_->setLineWrapMode(QPlainTextEdit::NoWrap);
    grid_->setToolTip(tr("A key and its values per line; 'where' holds conditions"));
    start_ = named(new QPushButton(tr("Sweep")), "sweep-start", tr("Start or stop the sweep"));
    search_ = named(new QPushButton(tr("Search")), "search-start",
                    tr("Find the best plan of the grid, and take it"));
    search_->setToolTip(tr("The fastest plan that fits; those that cannot be it are not played"));
    progress_ = named(new QProgressBar, "sweep-progress", tr("Progress of the sweep"));
    progress_->hide();
    state_ = new QLabel(tr("A plan per point of the grid"));
    state_->setWordWrap(true);
    filter_ = named(new QLineEdit, "sweep-filter", tr("Filter of the table"));
    filter_->setPlaceholderText(tr("Filter: fits, zb-h1, tensor=4, peak<70, !impossible ..."));
    filter_->setClearButtonEnabled(true);
    csv_ = named(new QPushButton(tr("CSV...")), "sweep-csv", tr("Write the table as CSV"));
    view_ = named(new QTableView, "sweep-table", tr("Plans of the sweep"));
    view_->setModel(model_);
    view_->setTabKeyNavigation(false);
    view_->setSortingEnabled(true);
    view_->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    view_->setSelectionBehavior(QAbstractItemView::SelectRows);
    view_->setSelectionMode(QAbstractItemView::SingleSelection);
    view_->verticalHeader()->setDefaultSectionSize(view_->fontMetrics().height() + 4);
    view_->verticalHeader()->hide();
    x_ = named(new QComboBox, "sweep-x", tr("Across"));
    y_ = named(new QComboBox, "sweep-y", tr("Up"));
    colour_ = named(new QComboBox, "sweep-colour", tr("Coloured by"));
    plot_ = new ScatterView;
    plot_->words_of_row = [this](std::size_t row) {
        return QString::fromStdString(table_.plan_of(row));
    };
    best_ = named(new QLabel, "search-best", tr("The best plan"));
    best_->setWordWrap(true);
    best_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    best_->hide();
}

void SweepPanel::lay_out() {
    auto* run = new QHBoxLayout;
    run->addWidget(start_);
    run->addWidget(search_);
    auto* find = new QHBoxLayout;
    find->addWidget(filter_, 1);
    find->addWidget(csv_);
    auto* axes = new QHBoxLayout;
    axes->addWidget(new QLabel(tr("up")));
    axes->addWidget(y_, 1);
    axes->addWidget(new QLabel(tr("across")));
    axes->addWidget(x_, 1);
    axes->addWidget(new QLabel(tr("colour")));
    axes->addWidget(colour_, 1);
    auto* results = new QSplitter(Qt::Vertical);
    results->addWidget(column_of({plot_}, axes));
    results->addWidget(column_of({view_}, find));
    results->setStretchFactor(0, 3);
    results->setStretchFactor(1, 2);
    results->setSizes({600, 400});
    auto* splitter = new QSplitter;
    splitter->addWidget(column_of({progress_, state_, grid_}, run));
    splitter->addWidget(column_of({best_, results}, new QHBoxLayout));
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({300, 900});
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(splitter);
}

void SweepPanel::connect_parts() {
    timer_.setInterval(kResultsPoll);
    connect(&timer_, &QTimer::timeout, this, &SweepPanel::poll);
    connect(start_, &QPushButton::clicked, this, [this] { is_running() ? stop() : start(); });
    connect(search_, &QPushButton::clicked, this, &SweepPanel::search);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        model_->set_filter(text.toStdString());
        refresh();
    });
    connect(csv_, &QPushButton::clicked, this, [this] {
        const QString file =
            ask_where_to_save(this, tr("Write the table"), "results.csv", {{tr("Table"), "csv"}});
        if (!file.isEmpty()) write_csv(file);
    });
    connect(view_, &QTableView::clicked, this, [this](const QModelIndex& index) {
        choose_row(model_->order()[std::size_t(index.row())]);
    });
    connect(view_, &QTableView::activated, this, [this](const QModelIndex& index) {
        choose_row(model_->order()[std::size_t(index.row())]);
        Q_EMIT opened();
    });
    connect(plot_, &ScatterView::chosen, this, &SweepPanel::choose_row);
    for (QComboBox* axis : {x_, y_, colour_})
        connect(axis, &QComboBox::activated, this, [this] { refresh(); });
}

}  // namespace debubble::gui
