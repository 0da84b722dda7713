#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace debubble::gui {

/// Writes an animated GIF that repeats forever. All frames share one palette, and each contains
/// only the rectangle that differs from the previous frame, with equal pixels transparent: moving a
/// cursor over a large picture costs only the pixels under it.
///
/// Pixels are 0xffRRGGBB, from the top left on, line by line.
class GifWriter {
public:
    using Pixels = std::vector<std::uint32_t>;

    /// `samples` are frames that give the palette by median cut. Precondition: the sides are
    /// positive and below 65,536, and every frame has width x height pixels.
    GifWriter(int width, int height, const std::vector<Pixels>& samples);
    ~GifWriter();
    GifWriter(const GifWriter&) = delete;
    GifWriter& operator=(const GifWriter&) = delete;

    /// Adds a frame that is shown for `hundredths` of a second.
    void add(const Pixels& pixels, int hundredths);
    /// The bytes of the file. No frame can be added afterwards.
    std::string finish();

private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
};

}  // namespace debubble::gui
