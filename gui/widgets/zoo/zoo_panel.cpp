#include "gui/widgets/zoo/zoo_panel.h"

#include <QHeaderView>
#include <QImage>
#include <QPainter>
#include <QStyledItemDelegate>

#include "base/diagnostic.h"
#include "gui/widgets/colours.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

constexpr int kPicture = 1;  ///< the column of pictures
constexpr int kRowHeight = 40;

/// Paints the small timelines, each line of a rank as high as the row has room for it.
class SmallTimelineDelegate : public QStyledItemDelegate {
public:
    SmallTimelineDelegate(const std::vector<ZooRow>& rows, QObject* parent)
        : QStyledItemDelegate(parent), rows_(rows) {}

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const auto row = std::size_t(index.row());
        if (row >= rows_.size()) return;
        const SmallTimeline& small = rows_[row].picture;
        const auto& lines = is_dark(option.palette) ? small.dark : small.light;
        if (lines.empty()) return;
        QImage image(small.width, int(lines.size()), QImage::Format_RGB32);
        for (std::size_t y = 0; y < lines.size(); ++y)
            std::copy(lines[y].begin(), lines[y].end(),
                      reinterpret_cast<std::uint32_t*>(image.scanLine(int(y))));
        painter->setRenderHint(QPainter::SmoothPixmapTransform, false);
        painter->drawImage(QRectF(option.rect).adjusted(4, 3, -4, -3), image);
    }
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {320, kRowHeight};
    }

private:
    const std::vector<ZooRow>& rows_;
};

}  // namespace

ZooPanel::ZooPanel(QWidget* parent) : QTreeWidget(parent) {
    setObjectName("zoo");
    setAccessibleName(tr("Schedules of the plan"));
    setHeaderLabels({tr("schedule"), tr("step, on one axis"), tr("step"), tr("bubble"),
                     tr("exposed"), tr("peak"), tr("memory")});
    setRootIsDecorated(false);
    setAllColumnsShowFocus(true);
    setItemDelegateForColumn(kPicture, new SmallTimelineDelegate(rows_, this));
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    header()->setSectionResizeMode(kPicture, QHeaderView::Stretch);
    connect(this, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) {
        const auto at = std::size_t(indexOfTopLevelItem(item));
        if (at >= rows_.size() || !rows_[at].possible()) return;
        Q_EMIT chosen(with_schedule(asked_, rows_[at]), QString::fromStdString(rows_[at].schedule));
    });
    worker_ = std::make_unique<LatestWins<ScenarioText, Made>>(
        [](const ScenarioText& source, const std::stop_token& stop) {
            return made_of(source, stop);
        },
        [this](Made made) {
            QMetaObject::invokeMethod(
                this, [this, made = std::move(made)] { take(made); }, Qt::QueuedConnection);
        });
    say(tr("No plan is open"));
}

ZooPanel::~ZooPanel() = default;

ZooPanel::Made ZooPanel::made_of(const ScenarioText& source, const std::stop_token& stop) {
    try {
        return {source, schedule_zoo(source, stop), {}};
    } catch (const InputError& error) {
        return {source, {}, error.diagnostics().front().message};
    }
}

void ZooPanel::set_scenario(const ScenarioText& source) {
    if (source_ == source) return;
    source_ = source;
    if (source_.text.empty()) return say(tr("No plan is open"));
    setEnabled(false);  // the rows are those of the text before
    if (isVisible()) ask();
}

void ZooPanel::ask() {
    if (source_.text.empty() || asked_ == source_) return;
    asked_ = source_;
    if (rows_.empty()) say(tr("Every schedule is predicted ..."));
    worker_->ask(source_);
}

void ZooPanel::take(const Made& made) {
    if (made.source != source_) return;
    clear();
    setEnabled(true);
    rows_ = made.rows;
    if (!made.mistake.empty()) return say(QString::fromStdString(made.mistake));
    for (const ZooRow& row : rows_) add(row);
    Q_EMIT made_rows();
}

void ZooPanel::add(const ZooRow& row) {
    const auto words = [](const std::string& text) { return QString::fromStdString(text); };
    QString name = words(row.schedule);
    if (row.stages_per_rank > 1) name += tr(", %1 stages a rank").arg(row.stages_per_rank);
    auto* item = new QTreeWidgetItem(this, {name + '\n' + words(row.summary)});
    item->setToolTip(0, tr("%1: Enter takes it").arg(words(row.summary)));
    if (row.present) {
        QFont bold = font();
        bold.setBold(true);
        item->setFont(0, bold);
    }
    if (!row.possible()) {
        item->setText(6, tr("cannot be had"));
        for (int column = 0; column < columnCount(); ++column) {
            item->setToolTip(column, words(*row.why_not));
            item->setForeground(column, palette().color(QPalette::Disabled, QPalette::Text));
        }
        return;
    }
    item->setText(2, words(text::time_text(row.step_s)));
    item->setText(3, words(text::percent(row.bubble)));
    item->setText(4, words(text::percent(row.exposed)));
    item->setText(5, words(text::gib_text(row.peak)) + " GiB");
    item->setText(6, row.fits ? tr("fits") : tr("does not fit"));
    for (int column = 2; column < 6; ++column)
        item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    if (!row.fits) item->setForeground(6, warning_colour(palette()));
}

void ZooPanel::say(const QString& words) {
    clear();
    rows_.clear();
    auto* item = new QTreeWidgetItem(this, {words});
    item->setFirstColumnSpanned(true);
}

void ZooPanel::showEvent(QShowEvent* event) {
    QTreeWidget::showEvent(event);
    ask();
}

}  // namespace debubble::gui
