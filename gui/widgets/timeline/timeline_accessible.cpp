
#include <map>

#include <QAccessible>
#include <QAccessibleWidget>

#include "gui/viewmodel/timeline/wording.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace debubble::gui {
namespace {

/// A rank's row, or the selection.
class TimelinePart : public QAccessibleInterface {
public:
    TimelinePart(TimelineView* view, std::size_t row) : view_(view), row_(row) {}

    bool isValid() const override { return view_ != nullptr; }
    QObject* object() const override { return nullptr; }
    QAccessibleInterface* parent() const override {
        return QAccessible::queryAccessibleInterface(view_);
    }
    QAccessibleInterface* child(int) const override { return nullptr; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    void setText(QAccessible::Text, const QString&) override {}

    QString text(QAccessible::Text kind) const override {
        const RowLayout& layout = view_->scene().layout;
        if (kind != QAccessible::Name && kind != QAccessible::Description) return {};
        if (row_ >= layout.rows.size())  // the selection
            return kind == QAccessible::Name ? TimelineView::tr("Selection")
                                             : QString::fromStdString(spoken(view_->details()));
        const Device* device = view_->scene().device(layout.rows[row_], Side::A);
        if (device == nullptr) return {};
        if (kind == QAccessible::Description)
            return QString::fromStdString(spoken(details_of_step(*device)));
        const Stream* stream = view_->scene().stream(layout.rows[row_], Side::A);
        const std::string name =
            stream == nullptr ? device->name : device->name + ", " + stream->name;
        return QString::fromStdString(name);
    }
    QRect rect() const override { return view_->row_on_screen(row_); }
    QAccessible::Role role() const override {
        return row_ < view_->scene().layout.rows.size() ? QAccessible::Row
                                                        : QAccessible::StaticText;
    }
    QAccessible::State state() const override {
        QAccessible::State state;
        state.readOnly = true;
        state.invisible = rect().isEmpty();
        return state;
    }

private:
    TimelineView* view_;
    std::size_t row_;
};

/// The accessible parts of a timeline, made on demand, which live as long as the timeline.
class AccessibleTimeline : public QAccessibleWidget {
public:
    explicit AccessibleTimeline(TimelineView* view)
        : QAccessibleWidget(view, QAccessible::Table, TimelineView::tr("Timeline")), view_(view) {}
    ~AccessibleTimeline() override {
        for (const auto& [row, id] : ids_) QAccessible::deleteAccessibleInterface(id);
    }

    int childCount() const override { return int(view_->scene().layout.rows.size()) + 1; }
    QAccessibleInterface* child(int index) const override {
        if (index < 0 || index >= childCount()) return nullptr;
        const auto [found, is_new] = ids_.try_emplace(index, 0);
        if (is_new)
            found->second = QAccessible::registerAccessibleInterface(
                new TimelinePart(view_, std::size_t(index)));
        return QAccessible::accessibleInterface(found->second);
    }
    int indexOfChild(const QAccessibleInterface* wanted) const override {
        for (const auto& [row, id] : ids_)
            if (QAccessible::accessibleInterface(id) == wanted) return row;
        return -1;
    }
    QAccessibleInterface* childAt(int x, int y) const override {
        for (int i = 0; i + 1 < childCount(); ++i)
            if (view_->row_on_screen(std::size_t(i)).contains(x, y)) return child(i);
        return nullptr;
    }

private:
    TimelineView* view_;
    mutable std::map<int, QAccessible::Id> ids_;
};

QAccessibleInterface* made_for(const QString&, QObject* object) {
    auto* view = qobject_cast<TimelineView*>(object);
    return view == nullptr ? nullptr : new AccessibleTimeline(view);
}

}  // namespace

void make_timelines_accessible() {
    static const bool once = [] {
        QAccessible::installFactory(made_for);
        return true;
    }();
    Q_UNUSED(once);
}

}  // namespace debubble::gui
