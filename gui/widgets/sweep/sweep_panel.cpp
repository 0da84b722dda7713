#include "gui/widgets/sweep/sweep_panel.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QStandardPaths>
#include <QTableView>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/units.h"
#include "gui/viewmodel/sweep/sweep_run.h"
#include "gui/widgets/colours.h"
#include "gui/widgets/sweep/scatter_view.h"
#include "gui/widgets/sweep/sweep_model.h"

namespace debubble::gui {
namespace {

/// The folder with the files of the last sweeps; older files are removed.
std::filesystem::path results_folder() {
    constexpr std::size_t kMostKept = 50;
    const std::filesystem::path folder =
        QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation).toStdString() +
        "/sweeps";
    std::error_code error;
    std::vector<std::filesystem::directory_entry> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.path().extension() == ".csv") files.push_back(entry);
    std::ranges::sort(files, std::ranges::greater{},
                      [&](const auto& entry) { return entry.last_write_time(error); });
    for (std::size_t i = kMostKept; i < files.size(); ++i)
        std::filesystem::remove(files[i].path(), error);
    return folder;
}

}  // namespace

SweepPanel::SweepPanel(QWidget* parent) : QWidget(parent), model_(new SweepModel(table_, this)) {
    build_controls();
    lay_out();
    connect_parts();
}

SweepPanel::~SweepPanel() = default;

bool SweepPanel::is_running() const {
    return timer_.isActive();
}

void SweepPanel::set_scenario(const ScenarioText& source) {
    source_ = source;
    show_staleness();
    if (isVisible()) show_grid();
}

/// A grid that the user has typed stays.
void SweepPanel::show_grid() {
    const QString typed = grid_->toPlainText();
    if (!typed.isEmpty() && typed != grid_shown_) return;
    if (source_.text.empty() || (grid_of_ == source_ && !typed.isEmpty())) return;
    grid_of_ = source_;
    grid_shown_ = QString::fromStdString(grid_lines(source_));
    if (typed != grid_shown_) grid_->setPlainText(grid_shown_);
}

void SweepPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    show_grid();
}

void SweepPanel::set_memory_limit(std::optional<Bytes> limit) {
    if (limit_ == limit) return;
    limit_ = limit;
    refresh();
}

void SweepPanel::begin(Ask ask) {
    if (is_running()) return;
    run_.reset();
    show_grid();
    try {
        ScenarioText source = with_grid(source_, grid_->toPlainText().toStdString());
        const std::filesystem::path results = results_of(results_folder(), source);
        run_ = std::make_unique<SweepRun>(std::move(source), results, ask);
    } catch (const InputError& error) {
        Q_EMIT failed(error.diagnostics());
        return;
    }
    swept_ = source_;
    counted_.clear();
    chosen_.reset();
    best_->hide();
    plot_->select_row({});
    table_ = {};
    model_->refresh();
    refresh();
    start_->setText(tr("Stop"));
    search_->setEnabled(false);
    progress_->show();
    timer_.start();
}

void SweepPanel::stop() {
    if (run_) run_->stop();
}

void SweepPanel::poll() {
    const SweepRun::Progress progress = run_->progress();
    using State = SweepRun::State;
    if (progress.state == State::Reading) return;
    const bool over = progress.state != State::Running;
    if (progress.total > 0) {  // at least the grid was read
        if (table_.columns().empty()) {
            table_ = SweepTable(run_->grid());
            model_->refresh();
            fill_axes();
        }
        if (auto rows = run_->take_rows(); !rows.empty()) {
            table_.add(std::move(rows));
            model_->refresh();
            refresh();
        }
    }
    show_progress(progress);
    if (!over) return;
    if (progress.state == State::Failed) Q_EMIT failed(run_->mistakes());
    timer_.stop();
    start_->setText(tr("Sweep"));
    search_->setEnabled(true);
    progress_->hide();
    view_->resizeColumnsToContents();
    const auto columns = int(table_.columns().size());
    if (columns > 0) view_->setColumnWidth(columns - 1, 300);
    for (int c = 0; c < columns; ++c)
        view_->setColumnHidden(c, table_.columns()[std::size_t(c)].constant);
    if (run_->asked() == Ask::BestPlan && progress.state != State::Failed) take_best();
    Q_EMIT finished();
}

/// If the scenario has changed since, the best plan is named but not opened.
void SweepPanel::take_best() {
    const sim::SearchResult& found = run_->found();
    const bool any = found.best.has_value();
    std::string plan;
    if (any) plan = table_.plan_of(0);
    best_->setText(QString::fromStdString(search_words(found, plan, run_->grid().keys())));
    best_->show();
    if (any && found.finished && !stale_) choose_row(0);
}

void SweepPanel::show_progress(const SweepRun::Progress& progress) {
    progress_->setRange(0, std::max(int(progress.total), 1));
    progress_->setValue(int(progress.done));
    std::size_t fit = 0;
    for (const sim::SweepRow& row : table_.rows()) fit += row.fits ? 1 : 0;
    QString text = tr("%1 of %2 plans, %3 fit").arg(progress.done).arg(progress.total).arg(fit);
    if (run_->asked() == Ask::BestPlan)
        text = tr("%1 of %2 plans settled").arg(progress.done).arg(progress.total);
    if (const std::size_t duplicates = table_.duplicates(); duplicates > 0)
        text += tr("; %1 are the same plan as another one and listed once").arg(duplicates);
    if (progress.found > 0) text += tr("; %1 from an earlier sweep").arg(progress.found);
    if (progress.left) text += tr("; %1 s left").arg(progress.left->count());
    if (progress.state == SweepRun::State::Stopped) text += tr("; stopped");
    if (!progress.kept) text += tr("; not kept for later, the file of the rows cannot be written");
    if (progress.state == SweepRun::State::Failed)
        text = QString::fromStdString(run_->mistakes().front().message);
    counted_ = text;
    show_staleness();
}

/// If the scenario has changed since, the rows are grey, with the former values.
void SweepPanel::show_staleness() {
    if (table_.columns().empty()) {
        if (!counted_.isEmpty()) state_->setText(counted_);
        return;
    }
    if (source_.text == swept_.text) swept_.file = source_.file;  // saved under another name
    std::string ground = ground_of_rows(swept_, source_, run_->grid());
    if (swept_.file != source_.file) ground = title_of(swept_.file);
    stale_ = !ground.empty();
    state_->setText(stale_
                        ? tr("Of %1; sweep again. %2").arg(QString::fromStdString(ground), counted_)
                        : counted_);
    model_->set_stale(stale_);
    plot_->set_stale(stale_);
    plot_->mark_row(stale_ ? std::nullopt : table_.row_of(source_));
}

void SweepPanel::fill_axes() {
    const auto fill = [&](QComboBox* axis, std::string_view wanted) {
        const QString before = axis->currentData().toString();
        axis->clear();
        for (const SweepColumn& column : table_.columns())
            if (column.numeric)
                axis->addItem(QString::fromStdString(column.title),
                              QString::fromStdString(column.key));
        const int at = axis->findData(before);
        axis->setCurrentIndex(
            at >= 0 ? at
                    : axis->findData(QString::fromUtf8(wanted.data(), qsizetype(wanted.size()))));
    };
    fill(x_, "peak_memory_bytes");
    fill(y_, "tokens_per_s");
    colour_->clear();
    colour_->addItem(tr("one colour"));
    for (const SweepColumn& column : table_.columns())
        if (column.swept)
            colour_->addItem(QString::fromStdString(column.title).section('.', -1),
                             QString::fromStdString(column.key));
}

void SweepPanel::refresh() {
    if (x_->currentIndex() < 0 || table_.columns().empty()) return plot_->show_points({}, {}, {});
    const auto axis_of = [&](const QComboBox* box, std::size_t& column) {
        column = table_.column_of(box->currentData().toString().toStdString());
        const SweepColumn& shown = table_.columns()[column];
        ScatterView::Axis axis{QString::fromStdString(shown.title),
                               shown.better,
                               shown.key == "peak_memory_bytes" ? kGiB : 1,
                               {}};
        if (shown.key == "peak_memory_bytes" && limit_) axis.limit = double(limit_->count);
        return axis;
    };
    std::size_t x = 0;
    std::size_t y = 0;
    const ScatterView::Axis x_axis = axis_of(x_, x);
    const ScatterView::Axis y_axis = axis_of(y_, y);
    plot_->show_points(points_of(table_, model_->order(), x, y), x_axis, y_axis);
    colour_points();
    plot_->mark_row(stale_ ? std::nullopt : table_.row_of(source_));
}

/// Points of equal values of the chosen key have one colour.
void SweepPanel::colour_points() {
    const std::string key = colour_->currentData().toString().toStdString();
    if (key.empty()) return plot_->colour_rows({});
    const std::size_t column = table_.column_of(key);
    std::vector<std::string> values;
    std::vector<QColor> colours;
    for (const sim::SweepRow& row : table_.rows()) {
        const std::string& value = row.values[column];
        auto at = std::ranges::find(values, value);
        if (at == values.end()) at = values.insert(values.end(), value);
        // Hues a golden angle apart.
        const double hue = std::fmod(0.58 + 0.381966 * double(at - values.begin()), 1.0);
        colours.push_back(QColor::fromHsvF(float(hue), 0.65F, is_dark(palette()) ? 0.95F : 0.7F));
    }
    plot_->colour_rows(std::move(colours));
}

void SweepPanel::choose_row(std::size_t row) {
    chosen_ = row;
    plot_->select_row(row);
    const auto& order = model_->order();
    const auto at = std::ranges::find(order, row) - order.begin();
    if (at < std::ssize(order)) view_->selectRow(int(at));
    const sim::SweepRow& plan = table_.rows()[row];
    // Changes without an effect on the rows, such as a comment, are kept.
    Q_EMIT chosen(stale_ ? swept_ : source_, run_->grid().sweep.point(plan.index),
                  QString::fromStdString(table_.plan_of(row)));
}

void SweepPanel::write_csv(const QString& file) {
    try {
        write_file(file.toStdString(), table_.csv(model_->order()));
    } catch (const std::exception& error) {
        Q_EMIT failed({{{}, error.what(), {}}});
    }
}

}  // namespace debubble::gui
