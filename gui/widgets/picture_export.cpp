#include "gui/widgets/picture_export.h"

#include <QBuffer>
#include <QImage>
#include <QMarginsF>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>

#include "base/diagnostic.h"
#include "base/file.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace debubble::gui {
namespace {

constexpr double kFineness = 2;           ///< pixels of the picture for one on the screen
constexpr double kPointsPerPixel = 0.75;  ///< 96 dots an inch

void write_png(const QImage& image, QIODevice& out) {
    if (!image.save(&out, "PNG")) throw WorldError("the picture cannot be written as PNG");
}

void write_pdf(const QImage& image, QIODevice& out) {
    QPdfWriter writer(&out);
    writer.setCreator("debubble");
    const QSizeF size = image.deviceIndependentSize();
    writer.setPageSize(
        QPageSize(size * kPointsPerPixel, QPageSize::Point, {}, QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF());
    QPainter painter;
    if (!painter.begin(&writer)) throw WorldError("the picture cannot be written as PDF");
    painter.drawImage(QRectF(0, 0, writer.width(), writer.height()), image);
}

}  // namespace

void write_picture(TimelineView& timeline, const QString& file, ExportFormat format) {
    const QImage image = timeline.picture(timeline.viewport()->size(), kFineness);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (format == ExportFormat::Pdf)
        write_pdf(image, buffer);
    else
        write_png(image, buffer);
    write_file(file.toStdString(), std::string_view(bytes.constData(), std::size_t(bytes.size())));
}

}  // namespace debubble::gui
