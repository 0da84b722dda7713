#include "gui/widgets/what_if/what_if_panel.h"

#include <algorithm>

#include <QAbstractItemView>
#include <QComboBox>
#include <QFormLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpressionValidator>
#include <QStandardItemModel>
#include <QVBoxLayout>
#include <QWheelEvent>

#include "gui/widgets/colours.h"
#include "gui/widgets/what_if/whole_names.h"

namespace debubble::gui {
namespace {

QString text(const std::string& s) {
    return QString::fromStdString(s);
}

/// Blocks the signals of a box while the program changes it.
class SignalsBlocked {
public:
    explicit SignalsBlocked(QObject* object)
        : object_(object), before_(object->blockSignals(true)) {}
    ~SignalsBlocked() { object_->blockSignals(before_); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    QObject* object_;
    bool before_;
};

void add_choice(QComboBox* box, const FieldChoice& choice) {
    box->addItem(text(choice.value), text(choice.value));
    const int at = box->count() - 1;
    if (!choice.help.empty()) box->setItemData(at, text(choice.help), Qt::ToolTipRole);
    if (!choice.why_not) return;
    box->setItemData(at, text(*choice.why_not), Qt::ToolTipRole);
    if (auto* model = qobject_cast<QStandardItemModel*>(box->model()))
        model->item(at)->setEnabled(false);
}

/// Whether both lists have the same fields.
bool same_keys(const std::vector<Field>& a, const std::vector<Field>& b) {
    return std::ranges::equal(a, b, [](const Field& x, const Field& y) {
        return x.key == y.key && x.applies() == y.applies();
    });
}

}  // namespace

WhatIfPanel::WhatIfPanel(QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    delta_ = new QLabel;
    delta_->setObjectName("delta");
    delta_->setWordWrap(true);
    delta_->setAccessibleName(tr("Difference to the plan before"));
    delta_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(delta_);
    form_ = new QFormLayout;
    form_->setRowWrapPolicy(QFormLayout::WrapLongRows);
    form_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form_->setVerticalSpacing(3);
    column->addLayout(form_);
    column->addStretch();
    setWidget(page);
}

void WhatIfPanel::clear() {
    while (form_->rowCount() > 0) form_->removeRow(0);
    rows_.clear();
}

void WhatIfPanel::show_fields(const std::vector<Field>& fields) {
    if (fields.empty()) return;  // the text is not a scenario, so the fields stay
    if (!same_keys(fields, fields_)) {
        clear();
        FieldGroup group = FieldGroup::Job;
        for (const Field& field : fields) {
            if (!field.applies()) continue;
            if (field.group != group) add_heading(field.group);
            group = field.group;
            rows_[field.key] = make_row(field);
        }
    }
    fields_ = fields;
    refill();
}

WhatIfPanel::Row WhatIfPanel::make_row(const Field& field) {
    Row row;
    row.box = new QComboBox;
    row.box->setObjectName(text(field.key));
    row.box->setAccessibleName(text(field.label));
    row.box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    row.box->setMinimumContentsLength(8);
    row.box->setFocusPolicy(Qt::StrongFocus);
    row.box->installEventFilter(this);
    if (!field.whole) new WholeNames(row.box);
    const QString key = text(field.key);
    if (field.whole) {
        row.box->setEditable(true);
        row.box->setInsertPolicy(QComboBox::NoInsert);
        row.box->setCompleter(nullptr);
        static const QRegularExpression number("auto|[1-9][0-9]{0,8}");
        row.box->lineEdit()->installEventFilter(this);
        row.box->lineEdit()->setValidator(new QRegularExpressionValidator(number, row.box));
        connect(row.box->lineEdit(), &QLineEdit::textEdited, this, [this, key, box = row.box] {
            if (box->lineEdit()->hasAcceptableInput()) Q_EMIT changed(key, box->lineEdit()->text());
        });
    }
    connect(row.box, &QComboBox::activated, this,
            [this, key, box = row.box](int at) { Q_EMIT changed(key, box->itemText(at)); });
    row.label = new QLabel(text(field.label));
    row.label->setBuddy(row.box);
    row.complaint = new QLabel;
    row.complaint->setObjectName("complaint:" + key);
    row.complaint->setWordWrap(true);
    row.complaint->hide();
    auto* column = new QVBoxLayout;
    column->setSpacing(1);
    column->addWidget(row.box);
    column->addWidget(row.complaint);
    form_->addRow(row.label, column);
    return row;
}

void WhatIfPanel::add_heading(FieldGroup group) {
    const std::string name = name_of(group);
    auto* heading = new QLabel(QString::fromUtf8(name.data(), qsizetype(name.size())));
    heading->setObjectName("group");
    heading->setContentsMargins(0, 6, 0, 0);
    QFont bold = heading->font();
    bold.setBold(true);
    heading->setFont(bold);
    form_->addRow(heading);
}

void WhatIfPanel::fill(const Row& row, const Field& field) {
    const SignalsBlocked box(row.box);
    const QString value = text(field.value);
    const bool typing = row.box->isEditable() && row.box->lineEdit()->hasFocus();
    if (!row.box->view()->isVisible()) {
        row.box->clear();
        for (const FieldChoice& choice : field.choices) add_choice(row.box, choice);
        if (!field.whole && row.box->findText(value) < 0) row.box->insertItem(0, value);
    }
    const int at = row.box->findText(value);
    if (!row.box->isEditable() || at >= 0) row.box->setCurrentIndex(at);
    if (row.box->isEditable() && !(typing && row.box->lineEdit()->text() == value))
        row.box->setEditText(value);
    QString help = text(field.why_not ? *field.why_not : field.help);
    if (field.follows && !field.why_not) help += tr(" (follows from the rest)");
    row.box->setEnabled(!field.why_not);
    row.label->setEnabled(!field.why_not);
    row.box->setToolTip(help);
    row.label->setToolTip(help);
    row.box->setAccessibleDescription(help);
    QFont font = row.box->font();
    font.setItalic(field.follows && !field.why_not);
    row.box->setFont(font);
}

void WhatIfPanel::show_complaints(const std::map<std::string, QString>& complaints) {
    const QColor colour = warning_colour(palette());
    for (const auto& [key, row] : rows_) {
        const auto found = complaints.find(key);
        const bool bad = found != complaints.end();
        row.complaint->setVisible(bad);
        row.complaint->setText(bad ? found->second : QString());
        // The form's height for a wrapped label is too small.
        row.complaint->setMinimumHeight(
            bad ? row.complaint->heightForWidth(std::max(row.box->width(), 1)) : 0);
        QPalette palette = row.complaint->palette();
        palette.setColor(QPalette::WindowText, colour);
        row.complaint->setPalette(palette);
        if (bad && !complaints_.contains(key)) ensureWidgetVisible(row.box);
    }
    complaints_ = complaints;
}

void WhatIfPanel::show_delta(const QString& line, picture::Verdict verdict) {
    delta_->setText(line);
    delta_->setVisible(!line.isEmpty());
    QPalette palette = delta_->palette();
    palette.setColor(QPalette::WindowText, verdict == picture::Verdict::Better
                                               ? good_colour(this->palette())
                                           : verdict == picture::Verdict::Worse
                                               ? warning_colour(this->palette())
                                               : this->palette().color(QPalette::WindowText));
    delta_->setPalette(palette);
}

void WhatIfPanel::show_written(const std::map<std::string, std::string>& values) {
    for (Field& field : fields_) {
        const auto written = values.find(field.key);
        if (written == values.end()) continue;
        field.value = written->second;
        field.follows = false;
    }
    refill();
}

void WhatIfPanel::refill() {
    for (const Field& field : fields_)
        if (const auto row = rows_.find(field.key); row != rows_.end()) fill(row->second, field);
}

/// Typed words that are not a value are not in the text either, so the field shows its value again.
void WhatIfPanel::leave(const QLineEdit* editor) {
    if (editor->hasAcceptableInput()) return;
    for (const Field& field : fields_)
        if (const auto row = rows_.find(field.key);
            row != rows_.end() && row->second.box->lineEdit() == editor)
            fill(row->second, field);
}

bool WhatIfPanel::eventFilter(QObject* object, QEvent* event) {
    // Scrolling the form must not change the plan under the pointer.
    // The scroll bars, whose events pass this filter too, still scroll it.
    if (event->type() == QEvent::Wheel && qobject_cast<QComboBox*>(object) != nullptr &&
        !static_cast<QWidget*>(object)->hasFocus()) {
        event->ignore();
        return true;
    }
    const auto* editor = qobject_cast<QLineEdit*>(object);
    if (editor != nullptr && event->type() == QEvent::FocusOut) leave(editor);
    if (event->type() == QEvent::ShortcutOverride) {  // a box sends it to its editor
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
            event->ignore();  // left to the window, since fields and text share its history
            return true;
        }
    }
    return QScrollArea::eventFilter(object, event);
}

}  // namespace debubble::gui
