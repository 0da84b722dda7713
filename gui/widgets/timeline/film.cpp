#include "gui/widgets/timeline/film.h"

#include <algorithm>
#include <utility>

#include <QImage>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/parallel.h"
#include "gui/viewmodel/timeline/playing.h"
#include "gui/widgets/timeline/gif_writer.h"
#include "gui/widgets/timeline/paint_frame.h"

namespace debubble::gui {
namespace {

constexpr int kGifFrames = 10;    ///< per second, since a GIF counts time in hundredths
constexpr int kVideoFrames = 25;  ///< per second
constexpr int kHeld_s = 2;        ///< time of the last frame
constexpr std::size_t kSamples = 6;
constexpr int kDeadline = 60'000;  ///< ms for ffmpeg to take a frame, and to end

/// Paints the frames of a film, one after another.
class Frames {
public:
    explicit Frames(Film film) : film_(std::move(film)) {
        film_.state.selection = {};
        film_.state.measured.reset();
        image_ = QImage(film_.size, QImage::Format_RGB32);
    }
    const QImage& at(Instant instant) {
        film_.scene.cursor = instant;
        paint_frame(image_, film_.scene, film_.state, film_.look);
        return image_;
    }
    GifWriter::Pixels pixels_at(Instant instant) {
        const QImage& image = at(instant);
        GifWriter::Pixels pixels;
        pixels.reserve(std::size_t(image.width()) * std::size_t(image.height()));
        for (int y = 0; y < image.height(); ++y) {
            const auto* line = reinterpret_cast<const std::uint32_t*>(image.constScanLine(y));
            pixels.insert(pixels.end(), line, line + image.width());
        }
        return pixels;
    }

private:
    Film film_;
    QImage image_;
};

/// Reports the progress after each frame, and gives up after a stop request.
class Progress {
public:
    Progress(std::size_t frames, const std::stop_token& stop,
             const std::function<void(double)>& told)
        : frames_(frames), stop_(stop), told_(told) {}
    void next() {
        give_up_if(stop_);
        if (told_) told_(double(++done_) / double(frames_));
    }

private:
    std::size_t frames_;
    std::size_t done_ = 0;
    const std::stop_token& stop_;
    const std::function<void(double)>& told_;
};

void write_gif(Film film, const QString& file, const std::stop_token& stop,
               const std::function<void(double)>& told) {
    const std::vector<Instant> instants = instants_of(film.state.axis, kGifFrames);
    const QSize size = film.size;
    Frames frames(std::move(film));
    std::vector<GifWriter::Pixels> samples;
    for (std::size_t i = 0; i < kSamples; ++i) {
        give_up_if(stop);
        samples.push_back(frames.pixels_at(instants[(instants.size() - 1) * i / (kSamples - 1)]));
    }
    GifWriter gif(size.width(), size.height(), samples);
    Progress progress(instants.size(), stop, told);
    for (std::size_t i = 0; i < instants.size(); ++i) {
        const bool last = i + 1 == instants.size();
        gif.add(frames.pixels_at(instants[i]), last ? 100 * kHeld_s : 100 / kGifFrames);
        progress.next();
    }
    write_file(file.toStdString(), gif.finish());
}

[[noreturn]] void fail(const QProcess& ffmpeg, QByteArray said) {
    said = said.trimmed();
    throw WorldError(
        "ffmpeg cannot write the film: " +
        (said.isEmpty() ? ffmpeg.errorString() : QString::fromLocal8Bit(said)).toStdString());
}

void give(QProcess& ffmpeg, const QImage& image) {
    for (int y = 0; y < image.height(); ++y)
        ffmpeg.write(reinterpret_cast<const char*>(image.constScanLine(y)), 4 * image.width());
    while (ffmpeg.bytesToWrite() > 0)
        if (!ffmpeg.waitForBytesWritten(kDeadline)) fail(ffmpeg, ffmpeg.readAllStandardError());
}

/// Arguments for VP9, which browsers and chats play.
QStringList ffmpeg_arguments(QSize size, const QString& to) {
    return {"-loglevel",
            "error",
            "-y",
            "-f",
            "rawvideo",
            "-pix_fmt",
            "bgra",
            "-video_size",
            QString("%1x%2").arg(size.width()).arg(size.height()),
            "-framerate",
            QString::number(kVideoFrames),
            "-i",
            "-",
            "-an",
            "-c:v",
            "libvpx-vp9",
            "-b:v",
            "0",
            "-crf",
            "30",
            "-row-mt",
            "1",
            "-deadline",
            "realtime",
            "-cpu-used",
            "6",
            "-pix_fmt",
            "yuv420p",
            "-f",
            "webm",
            to};
}

void write_webm(Film film, const QString& file, const std::stop_token& stop,
                const std::function<void(double)>& told) {
    const QString program = QStandardPaths::findExecutable("ffmpeg");
    if (program.isEmpty())
        throw WorldError(
            "there is no ffmpeg in the PATH, which writes .webm: install it, or write a .gif");
    const QTemporaryDir folder;
    if (!folder.isValid()) throw WorldError(folder.errorString().toStdString());
    const QString made = folder.filePath("film.webm");
    std::vector<Instant> instants = instants_of(film.state.axis, kVideoFrames);
    instants.insert(instants.end(), std::size_t{kHeld_s} * kVideoFrames, instants.back());
    QProcess ffmpeg;
    ffmpeg.start(program, ffmpeg_arguments(film.size, made));
    if (!ffmpeg.waitForStarted(kDeadline)) fail(ffmpeg, {});
    Frames frames(std::move(film));
    Progress progress(instants.size(), stop, told);
    for (const Instant instant : instants) {
        give(ffmpeg, frames.at(instant));
        progress.next();
    }
    ffmpeg.closeWriteChannel();
    if (!ffmpeg.waitForFinished(kDeadline) || ffmpeg.exitStatus() != QProcess::NormalExit ||
        ffmpeg.exitCode() != 0)
        fail(ffmpeg, ffmpeg.readAllStandardError());
    write_file(file.toStdString(), read_file(made.toStdString(), std::size_t{1} << 30U));
}

}  // namespace

std::vector<Instant> instants_of(const TimeAxis& axis, int frames_per_s) {
    const auto frames = static_cast<Duration::rep>(frames_per_s * kSecondsAcross);
    const TimeRange shown = axis.shown();
    std::vector<Instant> instants;
    for (Duration::rep i = 0; i < frames; ++i)
        instants.push_back(shown.begin + shown.length() * i / frames);
    instants.push_back(shown.end - Duration{1});
    return instants;
}

void write_film(Film film, const QString& file, ExportFormat format, const std::stop_token& stop,
                const std::function<void(double)>& told) {
    if (format == ExportFormat::WebM)
        write_webm(std::move(film), file, stop, told);
    else
        write_gif(std::move(film), file, stop, told);
}

}  // namespace debubble::gui
