#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace debubble::exec {

/// Pixels row by row, the channels of a pixel together: one of grey, or red, green and blue.
struct Image {
    int width = 0;
    int height = 0;
    int channels = 3;
    std::vector<std::uint8_t> pixels = {};
};

/// Larger images are taken for hostile.
inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;

/// A JPEG or PNG by its content. Alpha is dropped. Throws InputError if it is neither or is
/// damaged, WorldError if this program was built without the library that reads it.
Image decode_image(std::string_view bytes, const std::filesystem::path& file);

Image decode_jpeg(std::string_view bytes, const std::filesystem::path& file);
Image decode_png(std::string_view bytes, const std::filesystem::path& file);

/// As a model takes it: the shorter side resized to `side` (bilinear, averaging where it
/// shrinks, as Pillow and torchvision do), its middle cut out. Returns [channels, side, side],
/// 0 to 1. Colours become grey by ITU-R BT.601, grey becomes three equal channels.
/// Precondition: channels is 1 or 3.
std::vector<float> fit(const Image& image, int side, int channels);

}  // namespace debubble::exec
