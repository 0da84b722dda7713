#include "gui/widgets/timeline/gif_writer.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>
#include <gif_lib.h>

#include "base/diagnostic.h"

namespace debubble::gui {
namespace {

constexpr int kColours = 255;
constexpr GifByteType kTransparent = 255;  ///< the palette's last entry
constexpr std::size_t kMostSampled = 4'000'000;

[[noreturn]] void fail(int code) {
    const char* words = GifErrorString(code);
    throw WorldError(fmt::format("the GIF cannot be made: {}", words == nullptr ? "?" : words));
}

GifByteType channel(std::uint32_t pixel, unsigned shift) {
    return static_cast<GifByteType>(pixel >> shift & 0xffU);
}

/// The colours of the samples by median cut (giflib's, after Heckbert 1982).
std::vector<GifColorType> palette_of(const std::vector<GifWriter::Pixels>& samples) {
    std::size_t all = 0;
    for (const auto& sample : samples) all += sample.size();
    const std::size_t step = std::max<std::size_t>(all / kMostSampled, 1);
    std::vector<GifByteType> red;
    std::vector<GifByteType> green;
    std::vector<GifByteType> blue;
    for (const auto& sample : samples)
        for (std::size_t i = 0; i < sample.size(); i += step) {
            red.push_back(channel(sample[i], 16));
            green.push_back(channel(sample[i], 8));
            blue.push_back(channel(sample[i], 0));
        }
    std::vector<GifByteType> indices(red.size());
    std::vector<GifColorType> palette(256);
    int size = kColours;
    if (GifQuantizeBuffer(static_cast<unsigned>(red.size()), 1, &size, red.data(), green.data(),
                          blue.data(), indices.data(), palette.data()) == GIF_ERROR)
        fail(E_GIF_ERR_NOT_ENOUGH_MEM);
    palette.resize(static_cast<std::size_t>(size));
    return palette;
}

struct Patch {
    int left = 0;
    int top = 0;
    int width = 0;
    int height = 0;
};

}  // namespace

struct GifWriter::Stream {
    Stream(int wide, int high, const std::vector<Pixels>& samples)
        : width(wide), height(high), palette(palette_of(samples)) {
        int error = 0;
        file = EGifOpen(&bytes, &Stream::take, &error);
        if (file == nullptr) fail(error);
        EGifSetGifVersion(file, true);
        std::vector<GifColorType> entries = palette;
        entries.resize(256);
        ColorMapObject* map = GifMakeMapObject(256, entries.data());
        const int put = EGifPutScreenDesc(file, width, height, 8, 0, map);
        GifFreeMapObject(map);
        check(put);
        run_for_ever();
    }
    ~Stream() {
        if (file != nullptr) EGifCloseFile(file, nullptr);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    static int take(GifFileType* file, const GifByteType* data, int size) {
        static_cast<std::string*>(file->UserData)
            ->append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
        return size;
    }
    void check(int result) const {
        if (result == GIF_ERROR) fail(file->Error);
    }

    /// The extension of Netscape Navigator 2.0: zero repetitions mean no end.
    void run_for_ever() {
        check(EGifPutExtensionLeader(file, APPLICATION_EXT_FUNC_CODE));
        check(EGifPutExtensionBlock(file, 11, "NETSCAPE2.0"));
        const GifByteType repeat[] = {1, 0, 0};
        check(EGifPutExtensionBlock(file, sizeof repeat, repeat));
        check(EGifPutExtensionTrailer(file));
    }

    /// The palette's entry nearest to a colour. A picture has few colours, and each is looked up
    /// once.
    GifByteType index_of(std::uint32_t pixel) {
        const auto [known, added] = indices.try_emplace(pixel & 0xffffffU);
        if (!added) return known->second;
        int least = std::numeric_limits<int>::max();
        for (std::size_t i = 0; i < palette.size(); ++i) {
            const int red = palette[i].Red - channel(pixel, 16);
            const int green = palette[i].Green - channel(pixel, 8);
            const int blue = palette[i].Blue - channel(pixel, 0);
            const int far = red * red + green * green + blue * blue;
            if (far >= least) continue;
            least = far;
            known->second = static_cast<GifByteType>(i);
        }
        return known->second;
    }

    /// The rectangle in which two frames differ; a single pixel if they are equal.
    Patch changed(const std::vector<GifByteType>& frame) const {
        if (before.empty()) return {0, 0, width, height};
        int left = width;
        int right = 0;
        int top = height;
        int bottom = 0;
        for (int y = 0; y < height; ++y) {
            const auto line = frame.begin() + std::ptrdiff_t{y} * width;
            const auto old = before.begin() + std::ptrdiff_t{y} * width;
            const auto first = std::mismatch(line, line + width, old).first;
            if (first == line + width) continue;
            top = std::min(top, y);
            bottom = y + 1;
            left = std::min(left, static_cast<int>(first - line));
            int last = width;
            while (line[last - 1] == old[last - 1]) --last;
            right = std::max(right, last);
        }
        return bottom == 0 ? Patch{0, 0, 1, 1} : Patch{left, top, right - left, bottom - top};
    }

    void put(const std::vector<GifByteType>& frame, int hundredths) {
        GraphicsControlBlock control{};
        control.DisposalMode = DISPOSE_DO_NOT;
        control.DelayTime = hundredths;
        control.TransparentColor = before.empty() ? NO_TRANSPARENT_COLOR : kTransparent;
        GifByteType block[4];
        check(EGifPutExtension(file, GRAPHICS_EXT_FUNC_CODE,
                               static_cast<int>(EGifGCBToExtension(&control, block)), block));
        const Patch area = changed(frame);
        check(EGifPutImageDesc(file, area.left, area.top, area.width, area.height, false, nullptr));
        std::vector<GifByteType> line(static_cast<std::size_t>(area.width));
        for (int y = area.top; y < area.top + area.height; ++y) {
            const std::size_t from = static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                                     static_cast<std::size_t>(area.left);
            for (std::size_t x = 0; x < line.size(); ++x)
                line[x] = !before.empty() && frame[from + x] == before[from + x] ? kTransparent
                                                                                 : frame[from + x];
            check(EGifPutLine(file, line.data(), area.width));
        }
    }

    int width;
    int height;
    std::vector<GifColorType> palette;
    std::unordered_map<std::uint32_t, GifByteType> indices;
    std::vector<GifByteType> before;  ///< the previous frame, as indices into the palette
    std::string bytes;
    GifFileType* file = nullptr;
};

GifWriter::GifWriter(int width, int height, const std::vector<Pixels>& samples)
    : stream_(std::make_unique<Stream>(width, height, samples)) {}

GifWriter::~GifWriter() = default;

void GifWriter::add(const Pixels& pixels, int hundredths) {
    assert(pixels.size() == std::size_t(stream_->width) * std::size_t(stream_->height));
    std::vector<GifByteType> frame(pixels.size());
    for (std::size_t i = 0; i < pixels.size(); ++i)
        frame[i] =
            i > 0 && pixels[i] == pixels[i - 1] ? frame[i - 1] : stream_->index_of(pixels[i]);
    stream_->put(frame, hundredths);
    stream_->before = std::move(frame);
}

std::string GifWriter::finish() {
    int error = 0;
    GifFileType* file = std::exchange(stream_->file, nullptr);
    if (EGifCloseFile(file, &error) == GIF_ERROR) fail(error);
    return std::move(stream_->bytes);
}

}  // namespace debubble::gui
