#include "gui/widgets/picture_export.h"

#include <algorithm>

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

constexpr double kFineness = 2;      ///< pixels of a PNG per pixel of the screen
constexpr int kMostPixels = 16'000;  ///< longest side of a PNG
constexpr int kDotsPerInch = 96;
constexpr double kPointsPerPixel = 72.0 / kDotsPerInch;

void write_png(TimelineView& timeline, QSize size, QIODevice& out) {
    const int longest = std::max(size.width(), size.height());
    const double ratio = std::min(kFineness, static_cast<double>(kMostPixels) / longest);
    if (!timeline.picture(size, ratio).save(&out, "PNG"))
        throw WorldError("the picture cannot be written as PNG");
}

void write_pdf(TimelineView& timeline, QSize size, QIODevice& out) {
    QPdfWriter writer(&out);
    writer.setCreator("debubble");
    writer.setResolution(kDotsPerInch);  // fonts and hatching are as large as on the screen
    writer.setPageSize(
        QPageSize(QSizeF(size) * kPointsPerPixel, QPageSize::Point, {}, QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF());
    QPainter painter;
    if (!painter.begin(&writer)) throw WorldError("the picture cannot be written as PDF");
    painter.scale(writer.width() / double(size.width()), writer.height() / double(size.height()));
    timeline.paint_page(painter, size);
}

}  // namespace

void write_picture(TimelineView& timeline, const QString& file, ExportFormat format, QSize size) {
    if (size.isEmpty()) size = timeline.export_size();
    if (format == ExportFormat::Svg) return write_file(file.toStdString(), timeline.svg(size));
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    if (format == ExportFormat::Pdf)
        write_pdf(timeline, size, buffer);
    else
        write_png(timeline, size, buffer);
    write_file(file.toStdString(), std::string_view(bytes.constData(), std::size_t(bytes.size())));
}

}  // namespace debubble::gui
