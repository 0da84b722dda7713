#include "gui/widgets/whole_run/run_page.h"

#include <cmath>

#include <QEvent>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "gui/widgets/colours.h"
#include "gui/widgets/whole_run/interval_slider.h"
#include "gui/widgets/whole_run/nodes_view.h"
#include "gui/widgets/whole_run/strip_view.h"
#include "sim/report/report.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

constexpr int kPartBars = 1;  ///< the column of bars
constexpr int kPartFrom = Qt::UserRole;
constexpr int kPartTo = Qt::UserRole + 1;
constexpr int kPartCause = Qt::UserRole + 2;

/// Draws the bar of a cause, which begins at the end of the previous cause. Below the useful work
/// the axis spans only the lost time, since a percent of the whole run is hardly a pixel.
class LossDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const QRectF place = QRectF(option.rect).adjusted(6, 4, -6, -4);
        QRectF bar = place;
        bar.setLeft(place.left() + place.width() * index.data(kPartFrom).toDouble());
        bar.setRight(std::max(place.left() + place.width() * index.data(kPartTo).toDouble(),
                              bar.left() + 1));
        const auto cause = static_cast<sim::RunTime>(index.data(kPartCause).toInt());
        const auto theme = is_dark(option.palette) ? picture::Theme::Dark : picture::Theme::Light;
        if (!(option.state & QStyle::State_Enabled)) painter->setOpacity(0.35);
        painter->fillRect(bar, colour_of(colour_of(cause, theme)));
        painter->setOpacity(1);
    }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        return QStyledItemDelegate::sizeHint(option, index) + QSize(0, 6);
    }
};

QTreeWidget* make_waterfall() {
    auto* tree = new QTreeWidget;
    tree->setObjectName("run-waterfall");
    tree->setAccessibleName(RunPage::tr("Where the run's time goes"));
    tree->setHeaderLabels({RunPage::tr("of the mean run"),
                           RunPage::tr("of the run; below, of what is lost"),
                           RunPage::tr("takes")});
    tree->setRootIsDecorated(false);
    tree->setAllColumnsShowFocus(true);
    tree->setItemDelegateForColumn(kPartBars, new LossDelegate(tree));
    tree->header()->setStretchLastSection(false);
    tree->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    tree->header()->setSectionResizeMode(kPartBars, QHeaderView::Stretch);
    return tree;
}

/// A key as a line of YAML: "training: {tokens: 30B}".
QString yaml_line(const scenarios::Override& key) {
    const auto words = [](const std::string& text) { return QString::fromStdString(text); };
    const auto dot = key.first.find('.');
    if (dot == std::string::npos) return words(key.first + ": " + key.second);
    return QString("%1: {%2: %3}")
        .arg(words(key.first.substr(0, dot)), words(key.first.substr(dot + 1)), words(key.second));
}

}  // namespace

RunPage::RunPage(QWidget* parent) : QWidget(parent) {
    setObjectName("whole-run");
    setAccessibleName(tr("The whole training run"));
    missing_ = new QLabel;
    missing_->setObjectName("run-missing");
    missing_->setAccessibleName(tr("What the scenario does not say"));
    missing_->setTextFormat(Qt::RichText);
    missing_->setTextInteractionFlags(Qt::TextBrowserInteraction);
    missing_->setWordWrap(true);
    missing_->setContentsMargins(10, 8, 10, 8);
    headline_ = new QLabel;
    headline_->setObjectName("run-headline");
    headline_->setAccessibleName(tr("The run in a line"));
    headline_->setWordWrap(true);
    headline_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    headline_->setContentsMargins(10, 6, 10, 4);
    nodes_ = new NodesView;
    waterfall_ = make_waterfall();
    interval_ = new IntervalSlider;
    strip_ = new StripView;
    auto* right_column = new QSplitter(Qt::Vertical);
    right_column->addWidget(waterfall_);
    right_column->addWidget(interval_);
    right_column->setChildrenCollapsible(false);
    right_column->setStretchFactor(0, 3);
    right_column->setStretchFactor(1, 2);
    auto* above = new QSplitter(Qt::Horizontal);
    above->addWidget(nodes_);
    above->addWidget(right_column);
    above->setChildrenCollapsible(false);
    above->setSizes({500, 500});
    auto* all = new QSplitter(Qt::Vertical);
    all->addWidget(above);
    all->addWidget(strip_);
    all->setChildrenCollapsible(false);
    all->setStretchFactor(0, 1);
    all->setSizes({600, 130});
    parts_ = all;
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(missing_);
    column->addWidget(headline_);
    column->addWidget(parts_, 1);
    column->addStretch(0);
    connect_parts();
    make_workers();
    show_state();
}

RunPage::~RunPage() = default;

void RunPage::connect_parts() {
    connect(nodes_, &NodesView::chosen, this, [this](int nodes) {
        if (!source_.text.empty()) Q_EMIT turned(with_nodes(source_, nodes), tr("number of nodes"));
    });
    connect(interval_, &IntervalSlider::chosen, this, [this](std::int64_t steps) {
        if (!source_.text.empty())
            Q_EMIT turned(with_interval(source_, *run(), steps), tr("interval of saves"));
    });
    connect(interval_, &IntervalSlider::best_chosen, this, [this] {
        if (!source_.text.empty())
            Q_EMIT turned(with_best_interval(source_), tr("interval of saves"));
    });
    connect(missing_, &QLabel::linkActivated, this, [this](const QString& link) {
        if (!plan_ || source_.text.empty()) return;
        for (const auto& key : missing_run_keys(plan_->scenario, plan_->prediction.parameters))
            if (QString::fromStdString(key.first) == link)
                Q_EMIT turned(with_run_key(source_, key), link);
    });
}

void RunPage::make_workers() {
    curve_worker_ = std::make_unique<LatestWins<Question, Curve>>(
        [](const Question& question, const std::stop_token& stop) {
            const std::vector<int> nodes = nodes_around(question.plan->scenario);
            return Curve{question.plan, runs_over_nodes(question.source, nodes, stop)};
        },
        [this](Curve curve) {
            QMetaObject::invokeMethod(
                this, [this, curve = std::move(curve)]() mutable { take_curve(std::move(curve)); },
                Qt::QueuedConnection);
        });
    worker_ = std::make_unique<LatestWins<Plan, Result>>(
        [](const Plan& plan, const std::stop_token& stop) {
            return Result{plan, run_view_of(plan->scenario, *plan->prediction.run, stop)};
        },
        [this](Result result) {
            QMetaObject::invokeMethod(
                this, [this, result = std::move(result)]() mutable { take(std::move(result)); },
                Qt::QueuedConnection);
        });
}

const sim::RunPlan* RunPage::run() const {
    return plan_ && plan_->prediction.run ? &*plan_->prediction.run : nullptr;
}

const sim::RunPlan* RunPage::shown_run() const {
    return made_of_ && made_of_->prediction.run ? &*made_of_->prediction.run : nullptr;
}

void RunPage::set_plan(std::shared_ptr<const PredictedPlan> plan, const ScenarioText& source) {
    source_ = source;
    if (plan_ == plan) return;
    plan_ = std::move(plan);
    if (run() == nullptr) {
        worker_->forget();
        curve_worker_->forget();
        asked_ = made_of_ = nullptr;
        nodes_->show_points({}, 0, {});
        strip_->show_strip({});
    } else if (isVisible()) {
        ask();
    }
    show_state();
}

void RunPage::set_stale(bool stale) {
    stale_ = stale;
    show_state();
}

void RunPage::ask() {
    if (run() == nullptr || asked_ == plan_) return;
    asked_ = plan_;
    nodes_->setEnabled(false);  // its points are those of the previous plan
    worker_->ask(plan_);
    if (source_.text.empty())
        curve_worker_->forget();
    else
        curve_worker_->ask({plan_, source_});
}

void RunPage::take(Result result) {
    if (result.plan != plan_ || !result.view) return;
    made_of_ = plan_;
    show_waterfall(result.view->parts);
    interval_->show_curve(std::move(result.view->intervals));
    strip_->show_strip(std::move(result.view->strip));
    show_state();
    Q_EMIT ready();
}

void RunPage::take_curve(Curve curve) {
    if (curve.plan != plan_) return;
    const scenarios::Scenario& scenario = plan_->scenario;
    nodes_->show_points(std::move(curve.points), scenario.gpus / scenario.cluster.gpus_per_node,
                        QString::fromStdString(run()->currency));
    nodes_->setEnabled(true);
    Q_EMIT curve_ready();
}

void RunPage::show_waterfall(const std::vector<WaterfallPart>& parts) {
    waterfall_->clear();
    const double useful = parts.empty() ? 0 : parts.front().to;
    for (const WaterfallPart& part : parts) {
        auto* row = new QTreeWidgetItem(
            waterfall_,
            {QString::fromStdString(part.name), {}, QString::fromStdString(part.takes)});
        const bool lost = part.spent != sim::RunTime::Useful;
        const double whole = lost ? 1 - useful : 1;
        row->setData(kPartBars, kPartFrom, lost ? (part.from - useful) / whole : 0.0);
        row->setData(kPartBars, kPartTo, lost ? (part.to - useful) / whole : useful);
        row->setData(kPartBars, kPartCause, static_cast<int>(part.spent));
        row->setToolTip(kPartBars, lost ? tr("Of all that is lost, %1 of the run")
                                              .arg(QString::fromStdString(text::percent(whole)))
                                        : tr("Of the whole run"));
    }
}

QString RunPage::headline() const {
    const sim::RunPlan& plan = *run();
    const sim::RunFigures& figures = plan.figures;
    const auto span = [](double s) { return QString::fromStdString(sim::span_words(s)); };
    if (!std::isfinite(figures.p50_s)) return tr("The run does not end: it fails too often");
    QString words =
        tr("%1 for %2 tokens")
            .arg(span(figures.p50_s), QString::fromStdString(text::count_text(plan.tokens)));
    if (figures.draws > 1)
        words += tr(", from %1 (P5) to %2 (P95)").arg(span(figures.p5_s), span(figures.p95_s));
    words += tr("; %1 of the time is useful")
                 .arg(QString::fromStdString(text::percent(figures.goodput())));
    if (figures.job.failures.sum() > 0)
        words += tr("; a failure every %1").arg(span(figures.job.mttf()));
    if (plan.cost)
        words += QString("; %1 %2").arg(QString::fromStdString(text::rate_text(*plan.cost)),
                                        QString::fromStdString(plan.currency));
    return words;
}

QString RunPage::missing() const {
    if (!plan_) return tr("No plan is open");
    QStringList sentences;
    for (const auto& key : missing_run_keys(plan_->scenario, plan_->prediction.parameters)) {
        const bool tokens = key.first == "training.tokens";
        const QString what = tokens
                                 ? tr("The scenario does not say how long it trains. Type %1")
                                 : tr("Nothing stops this run, so nothing of it is lost. Type %1");
        const QString typed = yaml_line(key).toHtmlEscaped();
        sentences << what.arg(
            source_.text.empty()
                ? typed
                : QString("<a href=\"%1\">%2</a>").arg(QString::fromStdString(key.first), typed));
    }
    return sentences.join("<br>");
}

void RunPage::show_state() {
    const QString lacks = missing();
    const bool has_run = run() != nullptr;
    missing_->setText(lacks);
    missing_->setVisible(!lacks.isEmpty());
    headline_->setVisible(has_run);
    parts_->setVisible(has_run);
    if (!has_run) return;
    headline_->setText(headline());
    QStringList lines;
    for (const sim::RunLine& line : sim::run_lines(*run()))
        lines << QString::fromStdString(line.name + ": " + line.words);
    headline_->setToolTip(lines.join('\n'));
    headline_->setEnabled(!stale_);
    parts_->setEnabled(!stale_);
    for (QWidget* part : std::initializer_list<QWidget*>{waterfall_, interval_, strip_})
        part->setEnabled(made_of_ == plan_);
}

void RunPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    ask();
}

void RunPage::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) waterfall_->viewport()->update();
}

}  // namespace debubble::gui
