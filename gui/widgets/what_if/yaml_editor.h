#pragma once

#include <vector>

#include <QPlainTextEdit>

#include "base/diagnostic.h"

namespace debubble::gui {

/// The scenario's text with line numbers. Mistakes are underlined, and explained on hover. Undo is
/// the window's.
class YamlEditor : public QPlainTextEdit {
    Q_OBJECT

public:
    explicit YamlEditor(QWidget* parent = nullptr);

    /// Changes only the lines that differ, which keeps cursor and view.
    void show_text(const QString& text);
    /// Shows the mistakes of this file; those of other files are not shown here.
    void show_mistakes(const std::vector<Diagnostic>& mistakes, const std::string& file);
    void go_to(int line, int column);

Q_SIGNALS:
    void edited(const QString& text);  ///< edited by the user, not by show_text()

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    class Gutter;
    int gutter_width() const;
    void paint_gutter(QPaintEvent* event);
    void place_gutter();
    QString mistake_at(int line) const;

    Gutter* gutter_ = nullptr;
    std::vector<Diagnostic> mistakes_;
    bool showing_ = false;
};

}  // namespace debubble::gui
