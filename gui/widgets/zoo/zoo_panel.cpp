#include "gui/widgets/zoo/zoo_panel.h"

#include <algorithm>

#include <QBuffer>
#include <QHeaderView>
#include <QHelpEvent>
#include <QImage>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QToolTip>

#include "base/diagnostic.h"
#include "gui/viewmodel/timeline/words.h"
#include "gui/widgets/colours.h"
#include "text/wording.h"

namespace debubble::gui {
namespace {

constexpr int kPicture = 1;  ///< the column of pictures
constexpr int kRowHeight = 40;
constexpr int kPinnedHeight = 100;
constexpr int kTipWidth = 900;
constexpr int kTipLine = 16;  ///< height of a rank's line in the enlarged picture

/// The image of a small timeline, whose lines are a pixel high.
QImage image_of(const SmallTimeline& small, bool dark) {
    const auto& lines = dark ? small.dark : small.light;
    QImage image(small.width, int(lines.size()), QImage::Format_RGB32);
    for (std::size_t y = 0; y < lines.size(); ++y)
        std::copy(lines[y].begin(), lines[y].end(),
                  reinterpret_cast<std::uint32_t*>(image.scanLine(int(y))));
    return image;
}

/// Paints the small timelines, with the ranks' lines stretched to the height of the row.
class SmallTimelineDelegate : public QStyledItemDelegate {
public:
    SmallTimelineDelegate(const std::vector<ZooRow>& rows, const std::vector<std::size_t>& order,
                          const std::vector<std::string>& pinned, QObject* parent)
        : QStyledItemDelegate(parent), rows_(rows), order_(order), pinned_(pinned) {}

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        const auto at = std::size_t(index.row());
        if (at >= order_.size() || rows_[order_[at]].picture.light.empty()) return;
        painter->setRenderHint(QPainter::SmoothPixmapTransform, false);
        painter->drawImage(QRectF(option.rect).adjusted(4, 3, -4, -3),
                           image_of(rows_[order_[at]].picture, is_dark(option.palette)));
    }
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
        const bool pinned = std::size_t(index.row()) < pinned_.size();
        return {320, pinned ? kPinnedHeight : kRowHeight};
    }

private:
    const std::vector<ZooRow>& rows_;
    const std::vector<std::size_t>& order_;
    const std::vector<std::string>& pinned_;
};

}  // namespace

ZooPanel::ZooPanel(QWidget* parent) : QTreeWidget(parent) {
    setObjectName("zoo");
    setAccessibleName(tr("Schedules of the plan"));
    setHeaderLabels({tr("schedule"), tr("step, on one axis"), tr("step"), tr("bubble"),
                     tr("exposed"), tr("peak"), tr("memory")});
    setRootIsDecorated(false);
    setAllColumnsShowFocus(true);
    setItemDelegateForColumn(kPicture, new SmallTimelineDelegate(rows_, order_, pinned_, this));
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    header()->setSectionResizeMode(kPicture, QHeaderView::Stretch);
    connect(this, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) {
        const ZooRow* row = row_of(item);
        if (row == nullptr || !row->possible()) return;
        Q_EMIT chosen(with_schedule(asked_, *row), QString::fromStdString(row->schedule));
    });
    worker_ = std::make_unique<LatestWins<ScenarioText, Result>>(
        [](const ScenarioText& source, const std::stop_token& stop) {
            return result_of(source, stop);
        },
        [this](Result result) {
            QMetaObject::invokeMethod(
                this, [this, result = std::move(result)] { take(result); }, Qt::QueuedConnection);
        });
    say(tr("No plan is open"));
}

ZooPanel::~ZooPanel() = default;

ZooPanel::Result ZooPanel::result_of(const ScenarioText& source, const std::stop_token& stop) {
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
    setEnabled(false);  // the rows are those of the previous text
    if (isVisible()) ask();
}

void ZooPanel::ask() {
    if (source_.text.empty() || asked_ == source_) return;
    asked_ = source_;
    if (rows_.empty()) say(tr("Every schedule is predicted ..."));
    worker_->ask(source_);
}

void ZooPanel::take(const Result& result) {
    if (result.source != source_) return;
    setEnabled(true);
    rows_ = result.rows;
    if (!result.mistake.empty()) return say(QString::fromStdString(result.mistake));
    list();
    Q_EMIT rows_ready();
}

void ZooPanel::list() {
    clear();
    order_ = pinned_first(rows_, pinned_);
    for (const std::size_t row : order_) add(rows_[row]);
}

const ZooRow* ZooPanel::row_of(const QTreeWidgetItem* item) const {
    const int at = item == nullptr ? -1 : indexOfTopLevelItem(const_cast<QTreeWidgetItem*>(item));
    return at < 0 || std::size_t(at) >= order_.size() ? nullptr : &rows_[order_[std::size_t(at)]];
}

/// The current row stays the current one at its new position.
void ZooPanel::toggle_pin(const ZooRow& row) {
    const std::string name = row.schedule;
    if (std::erase(pinned_, name) == 0) pinned_.push_back(name);
    list();
    for (std::size_t i = 0; i < order_.size(); ++i)
        if (rows_[order_[i]].schedule == name) setCurrentItem(topLevelItem(int(i)));
}

void ZooPanel::keyPressEvent(QKeyEvent* event) {
    const ZooRow* row = row_of(currentItem());
    if (event->key() != Qt::Key_Space || row == nullptr || !row->possible())
        return QTreeWidget::keyPressEvent(event);
    toggle_pin(*row);
}

/// Shows the picture under the pointer, enlarged.
bool ZooPanel::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QTreeWidget::viewportEvent(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const ZooRow* row = row_of(itemAt(help->pos()));
    if (row == nullptr || !row->possible() || columnAt(help->pos().x()) != kPicture)
        return QTreeWidget::viewportEvent(event);
    const QImage image = image_of(row->picture, is_dark(palette()))
                             .scaled(kTipWidth, kTipLine * int(row->picture.light.size()));
    QByteArray bytes;
    QBuffer buffer(&bytes);
    image.save(&buffer, "PNG");
    const QString words = tr("<b>%1</b>: step %2. Enter takes it, Space pins it.")
                              .arg(QString::fromStdString(row->schedule).toHtmlEscaped(),
                                   QString::fromStdString(text::time_text(row->step_s)));
    QToolTip::showText(help->globalPos(),
                       words + QStringLiteral("<br><img src='data:image/png;base64,%1'>")
                                   .arg(QString::fromLatin1(bytes.toBase64())),
                       viewport());
    return true;
}

void ZooPanel::add(const ZooRow& row) {
    const auto words = [](const std::string& text) { return QString::fromStdString(text); };
    QString name = words(row.schedule);
    if (row.stages_per_rank > 1) name += tr(", %1 stages a rank").arg(row.stages_per_rank);
    auto* item = new QTreeWidgetItem(this, {name + '\n' + words(said("schedules", row.summary))});
    item->setToolTip(
        0, tr("%1: Enter takes it, Space pins it").arg(words(said("schedules", row.summary))));
    if (std::ranges::find(pinned_, row.schedule) != pinned_.end())
        item->setText(0, name + tr(" (pinned)") + '\n' + words(said("schedules", row.summary)));
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
    item->setText(2, words(step_words(row, rows_, pinned_)));
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
    order_.clear();
    auto* item = new QTreeWidgetItem(this, {words});
    item->setFirstColumnSpanned(true);
}

void ZooPanel::showEvent(QShowEvent* event) {
    QTreeWidget::showEvent(event);
    ask();
}

}  // namespace debubble::gui
