#include "gui/widgets/what_if/yaml_editor.h"

#include <QFontDatabase>
#include <QHelpEvent>
#include <QPainter>
#include <QRegularExpression>
#include <QSyntaxHighlighter>
#include <QTextBlock>
#include <QToolTip>

#include "gui/widgets/colours.h"

namespace debubble::gui {
namespace {

/// Colours keys and comments only.
class YamlColours : public QSyntaxHighlighter {
public:
    explicit YamlColours(QPlainTextEdit* editor)
        : QSyntaxHighlighter(editor->document()), editor_(editor) {}

protected:
    void highlightBlock(const QString& text) override {
        static const QRegularExpression key(R"((?:^|[{,])\s*(?:-\s+)?([\w.]+)(?=\s*:(?:\s|$)))");
        static const QRegularExpression comment(R"((?:^|\s)(#.*)$)");
        const QPalette palette = editor_->palette();
        QTextCharFormat format;
        format.setForeground(is_dark(palette) ? QColor(0x8FB4FF) : QColor(0x1F4FA8));
        for (auto found = key.globalMatch(text); found.hasNext();) {
            const auto match = found.next();
            setFormat(int(match.capturedStart(1)), int(match.capturedLength(1)), format);
        }
        format.setForeground(palette.color(QPalette::PlaceholderText));
        if (const auto match = comment.match(text); match.hasMatch())
            setFormat(int(match.capturedStart(1)), int(match.capturedLength(1)), format);
    }

private:
    QPlainTextEdit* editor_;
};

}  // namespace

class YamlEditor::Gutter : public QWidget {
public:
    explicit Gutter(YamlEditor* editor) : QWidget(editor), editor_(editor) {}
    QSize sizeHint() const override { return {editor_->gutter_width(), 0}; }

protected:
    void paintEvent(QPaintEvent* event) override { editor_->paint_gutter(event); }

private:
    YamlEditor* editor_;
};

YamlEditor::YamlEditor(QWidget* parent) : QPlainTextEdit(parent), gutter_(new Gutter(this)) {
    setAccessibleName(tr("Scenario text"));
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setLineWrapMode(NoWrap);
    setUndoRedoEnabled(false);  // fields and text share one history
    setTabChangesFocus(true);
    new YamlColours(this);
    connect(this, &QPlainTextEdit::blockCountChanged, this, [this] { place_gutter(); });
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
        if (dy != 0)
            gutter_->scroll(0, dy);
        else
            gutter_->update(0, rect.y(), gutter_->width(), rect.height());
    });
    connect(this, &QPlainTextEdit::textChanged, this, [this] {
        if (!showing_) Q_EMIT edited(toPlainText());
    });
    place_gutter();
}

void YamlEditor::show_text(const QString& text) {
    const QString old = toPlainText();
    if (old == text) return;
    qsizetype same = 0;
    const qsizetype shorter = std::min(old.size(), text.size());
    while (same < shorter && old[same] == text[same]) ++same;
    qsizetype tail = 0;
    while (tail < shorter - same && old[old.size() - 1 - tail] == text[text.size() - 1 - tail])
        ++tail;
    showing_ = true;
    QTextCursor cursor(document());
    cursor.setPosition(int(same));
    cursor.setPosition(int(old.size() - tail), QTextCursor::KeepAnchor);
    cursor.insertText(text.mid(same, text.size() - same - tail));
    showing_ = false;
}

void YamlEditor::show_mistakes(const std::vector<Diagnostic>& mistakes, const std::string& file) {
    mistakes_.clear();
    QList<QTextEdit::ExtraSelection> marks;
    for (const Diagnostic& mistake : mistakes) {
        if (mistake.where.file != file || mistake.where.line == 0) continue;
        mistakes_.push_back(mistake);
        const QTextBlock block = document()->findBlockByNumber(mistake.where.line - 1);
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(block);
        const int column = std::clamp(mistake.where.column - 1, 0, std::max(block.length() - 1, 0));
        mark.cursor.setPosition(block.position() + column);
        mark.cursor.movePosition(QTextCursor::EndOfWord, QTextCursor::KeepAnchor);
        if (!mark.cursor.hasSelection())
            mark.cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
        mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        mark.format.setUnderlineColor(warning_colour(palette()));
        marks.append(mark);
    }
    setExtraSelections(marks);
    gutter_->update();
}

void YamlEditor::go_to(int line, int column) {
    const QTextBlock block = document()->findBlockByNumber(line - 1);
    if (!block.isValid()) return;
    QTextCursor cursor(block);
    cursor.setPosition(block.position() +
                       std::clamp(column - 1, 0, std::max(block.length() - 1, 0)));
    setTextCursor(cursor);
    centerCursor();
    setFocus();
}

int YamlEditor::gutter_width() const {
    const int digits = std::max(2, int(QString::number(blockCount()).size()));
    return 12 + fontMetrics().horizontalAdvance('9') * digits;
}

void YamlEditor::place_gutter() {
    setViewportMargins(gutter_width(), 0, 0, 0);
    const QRect area = contentsRect();
    gutter_->setGeometry(area.left(), area.top(), gutter_width(), area.height());
}

void YamlEditor::resizeEvent(QResizeEvent* event) {
    QPlainTextEdit::resizeEvent(event);
    place_gutter();
}

void YamlEditor::paint_gutter(QPaintEvent* event) {
    QPainter painter(gutter_);
    painter.setFont(font());
    painter.fillRect(event->rect(), palette().color(QPalette::Window));
    QTextBlock block = firstVisibleBlock();
    double top = blockBoundingGeometry(block).translated(contentOffset()).top();
    for (; block.isValid() && top <= event->rect().bottom(); block = block.next()) {
        const double height = blockBoundingRect(block).height();
        const bool bad = !mistake_at(block.blockNumber() + 1).isEmpty();
        if (bad) painter.fillRect(QRectF(0, top, 3, height), warning_colour(palette()));
        painter.setPen(bad ? warning_colour(palette())
                           : palette().color(QPalette::PlaceholderText));
        painter.drawText(QRectF(0, top, gutter_->width() - 6, height),
                         Qt::AlignRight | Qt::AlignVCenter,
                         QString::number(block.blockNumber() + 1));
        top += height;
    }
}

QString YamlEditor::mistake_at(int line) const {
    QStringList sentences;
    for (const Diagnostic& mistake : mistakes_)
        if (mistake.where.line == line) sentences << QString::fromStdString(mistake.message);
    return sentences.join('\n');
}

bool YamlEditor::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo)) {
            event->ignore();  // left to the window
            return false;
        }
    }
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QTextCursor cursor = cursorForPosition(viewport()->mapFromGlobal(help->globalPos()));
        QToolTip::showText(help->globalPos(), mistake_at(cursor.blockNumber() + 1), this);
        return true;
    }
    return QPlainTextEdit::event(event);
}

}  // namespace debubble::gui
