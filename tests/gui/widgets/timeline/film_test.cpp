#include "gui/widgets/timeline/film.h"

#include <gif_lib.h>
#include <gmock/gmock.h>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/parallel.h"
#include "gui/viewmodel/timeline/playing.h"
#include "gui/widgets/timeline/gif_writer.h"
#include "tests/gui/viewmodel/timeline/plans.h"
#include "tests/gui/widgets/timeline/views.h"

namespace debubble::gui {
namespace {

struct ReadGif {
    int width = 0;
    int height = 0;
    std::vector<GifWriter::Pixels> frames;  ///< as a viewer shows them
    std::vector<int> hundredths;
    std::vector<int> areas;  ///< pixels that each frame holds
    bool runs_for_ever = false;
};

struct Source {
    const std::string& bytes;
    std::size_t at = 0;
};

int take(GifFileType* file, GifByteType* to, int size) {
    auto& source = *static_cast<Source*>(file->UserData);
    const std::size_t given =
        std::min<std::size_t>(std::size_t(size), source.bytes.size() - source.at);
    source.bytes.copy(reinterpret_cast<char*>(to), given, source.at);
    source.at += given;
    return int(given);
}

ReadGif read_gif(const std::string& bytes) {
    Source source{bytes};
    int error = 0;
    GifFileType* file = DGifOpen(&source, take, &error);
    if (file == nullptr || DGifSlurp(file) == GIF_ERROR) {
        ADD_FAILURE() << "not a GIF";
        return {};
    }
    ReadGif read{file->SWidth, file->SHeight, {}, {}, {}, false};
    GifWriter::Pixels seen(std::size_t(read.width) * std::size_t(read.height));
    for (int i = 0; i < file->ImageCount; ++i) {
        const SavedImage& image = file->SavedImages[i];
        for (int e = 0; e < image.ExtensionBlockCount; ++e)
            if (image.ExtensionBlocks[e].Function == APPLICATION_EXT_FUNC_CODE)
                read.runs_for_ever = true;
        GraphicsControlBlock control;
        DGifSavedExtensionToGCB(file, i, &control);
        const GifImageDesc& area = image.ImageDesc;
        for (int y = 0; y < area.Height; ++y)
            for (int x = 0; x < area.Width; ++x) {
                const int index = image.RasterBits[y * area.Width + x];
                if (index == control.TransparentColor) continue;
                const GifColorType& c = file->SColorMap->Colors[index];
                seen[std::size_t(area.Top + y) * std::size_t(read.width) +
                     std::size_t(area.Left + x)] =
                    0xff000000U | unsigned(c.Red) << 16U | unsigned(c.Green) << 8U | c.Blue;
            }
        read.frames.push_back(seen);
        read.hundredths.push_back(control.DelayTime);
        read.areas.push_back(area.Width * area.Height);
    }
    DGifCloseFile(file, nullptr);
    return read;
}

TEST(Gif, holds_the_frames_that_were_given_and_only_what_changes) {
    constexpr std::uint32_t kWhite = 0xffffffff;
    constexpr std::uint32_t kBlue = 0xff2040c0;
    GifWriter::Pixels first(60 * 40, kWhite);
    for (std::size_t i = 0; i < 600; ++i) first[i] = kBlue;
    GifWriter::Pixels second = first;
    second[20 * 60 + 30] = kBlue;
    second[25 * 60 + 33] = kBlue;
    GifWriter gif(60, 40, {first, second});
    gif.add(first, 10);
    gif.add(second, 10);
    gif.add(second, 200);
    const ReadGif read = read_gif(gif.finish());
    EXPECT_EQ(read.width, 60);
    EXPECT_EQ(read.height, 40);
    EXPECT_TRUE(read.runs_for_ever);
    EXPECT_THAT(read.hundredths, testing::ElementsAre(10, 10, 200));
    EXPECT_THAT(read.areas, testing::ElementsAre(60 * 40, 4 * 6, 1));
    ASSERT_EQ(read.frames.size(), 3U);
    EXPECT_EQ(read.frames[1], read.frames[2]);
    // The palette has few bits for each colour.
    const auto near = [](std::uint32_t a, std::uint32_t b) {
        for (const unsigned shift : {0U, 8U, 16U})
            if (std::abs(int(a >> shift & 0xffU) - int(b >> shift & 0xffU)) > 8) return false;
        return true;
    };
    for (std::size_t i = 0; i < first.size(); ++i) {
        ASSERT_TRUE(near(read.frames[0][i], first[i])) << i;
        ASSERT_TRUE(near(read.frames[1][i], second[i])) << i;
    }
}

class FilmOfAPlan : public testing::Test {
protected:
    FilmOfAPlan() {
        view_.resize(1172, 450);
        view_.set_document(document_of(plan("1f1b", 4, 8)));
    }
    TimelineView view_;
    QTemporaryDir folder_;
};

TEST_F(FilmOfAPlan, runs_through_what_is_in_sight_and_ends_at_its_end) {
    const Film film = view_.film({640, 300});
    const std::vector<Instant> instants = instants_of(film.state.axis, 10);
    const TimeRange shown = view_.state().axis.shown();
    EXPECT_EQ(instants.size(), std::size_t(10 * kSecondsAcross) + 1);
    EXPECT_EQ(instants.front(), shown.begin);
    EXPECT_EQ(instants.back(), shown.end - Duration{1});
    EXPECT_TRUE(std::ranges::is_sorted(instants));
}

TEST_F(FilmOfAPlan, is_a_gif_in_which_a_cursor_moves) {
    const QString file = folder_.filePath("play.gif");
    std::vector<double> told;
    write_film(view_.film({640, 300}), file, ExportFormat::Gif, {},
               [&](double share) { told.push_back(share); });
    EXPECT_DOUBLE_EQ(told.back(), 1);
    const ReadGif read = read_gif(read_file(file.toStdString()));
    EXPECT_EQ(read.width, 640);
    EXPECT_EQ(read.height, 300);
    ASSERT_EQ(read.frames.size(), told.size());
    EXPECT_NE(read.frames[10], read.frames[11]);
    EXPECT_GT(read.hundredths.back(), read.hundredths.front()) << "the end stays for a while";
    EXPECT_FALSE(view_.scene().cursor) << "the window plays nothing";
}

TEST_F(FilmOfAPlan, that_nobody_wants_any_more_is_not_written) {
    std::stop_source stop;
    stop.request_stop();
    const QString file = folder_.filePath("play.gif");
    EXPECT_THROW(write_film(view_.film({640, 300}), file, ExportFormat::Gif, stop.get_token()),
                 Cancelled);
    EXPECT_FALSE(std::filesystem::exists(file.toStdString()));
}

TEST_F(FilmOfAPlan, is_a_video_where_there_is_ffmpeg_and_else_says_what_is_missing) {
    const QString file = folder_.filePath("play.webm");
    if (!QStandardPaths::findExecutable("ffmpeg").isEmpty()) {
        write_film(view_.film({320, 160}), file, ExportFormat::WebM);
        // The first bytes of EBML, the container of WebM.
        EXPECT_EQ(read_file(file.toStdString()).substr(0, 4), "\x1a\x45\xdf\xa3");
    }
    const QByteArray path = qgetenv("PATH");
    qputenv("PATH", folder_.path().toLocal8Bit());
    try {
        write_film(view_.film({320, 160}), folder_.filePath("other.webm"), ExportFormat::WebM);
        ADD_FAILURE() << "written without ffmpeg";
    } catch (const WorldError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("ffmpeg"));
    }
    qputenv("PATH", path);
}

}  // namespace
}  // namespace debubble::gui
