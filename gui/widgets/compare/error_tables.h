#pragma once

#include <QCoreApplication>
#include <QTreeWidget>

#include "gui/viewmodel/timeline/pairing.h"
#include "gui/viewmodel/what_if/figures.h"

/// The differences of two timelines as tables.
namespace debubble::gui {

/// The times of the actions of a kind or a stage on both sides, and their differences: errors of a
/// prediction, or changes between two plans by kind and by rank.
class ErrorTable : public QTreeWidget {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::ErrorTable)

public:
    explicit ErrorTable(QWidget* parent = nullptr);
    void show_errors(const Pairing& pairing);

private:
    QTreeWidgetItem* add_group(const QString& title);
    void add_errors(const QString& title, const std::vector<ErrorRow>& rows);
    void add_sums(const QString& title, const std::vector<SumRow>& rows);
};

/// All figures of both sides, with the different ones highlighted.
class FiguresTable : public QTreeWidget {
    Q_DECLARE_TR_FUNCTIONS(debubble::gui::FiguresTable)

public:
    explicit FiguresTable(QWidget* parent = nullptr);
    void show_rows(const std::vector<ComparedRow>& rows);
};

/// The actions with the largest differences, one per row.
class WorstTable : public QTreeWidget {
    Q_OBJECT

public:
    explicit WorstTable(QWidget* parent = nullptr);
    /// `a`: the document of side A.
    void show_worst(const Pairing& pairing, const TimelineDocument& a);

Q_SIGNALS:
    /// The user chose this action of side A.
    void chosen(quint32 span);
};

}  // namespace debubble::gui
