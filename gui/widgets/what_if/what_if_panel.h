#pragma once

#include <map>
#include <string>
#include <vector>

#include <QScrollArea>

#include "gui/viewmodel/what_if/field.h"
#include "trace/picture/timeline.h"

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;

namespace debubble::gui {

/// A form with a row per field, in groups. Fields that cannot apply are hidden. A value that cannot
/// be chosen is grey, with the reason; the reason why a plan cannot be built is under the field
/// that causes it.
class WhatIfPanel : public QScrollArea {
    Q_OBJECT

public:
    explicit WhatIfPanel(QWidget* parent = nullptr);

    void show_fields(const std::vector<Field>& fields);
    /// Shows the written values, by key, of a text that is not a possible scenario.
    void show_written(const std::map<std::string, std::string>& values);
    /// Shows the fields' values again after one of them was chosen and refused.
    void refill();
    const std::vector<Field>& fields() const { return fields_; }
    /// Shows sentences by the key of their field, and none at other fields.
    void show_complaints(const std::map<std::string, QString>& complaints);
    /// Shows a line such as "step -7.3 %, ...".
    void show_delta(const QString& line, picture::Verdict verdict);

Q_SIGNALS:
    void changed(const QString& key, const QString& value);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    struct Row {
        QLabel* label = nullptr;
        QComboBox* box = nullptr;
        QLabel* complaint = nullptr;
    };
    Row make_row(const Field& field);
    void fill(const Row& row, const Field& field);
    void clear();
    void add_heading(FieldGroup group);
    void leave(const QLineEdit* editor);

    QFormLayout* form_ = nullptr;
    QLabel* delta_ = nullptr;
    std::vector<Field> fields_;
    std::map<std::string, Row> rows_;
    std::map<std::string, QString> complaints_;
};

}  // namespace debubble::gui
