#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace debubble::exec {

/// Pixels row by row, with the channels of a pixel together: grey, or red, green and blue.
struct Image {
    int width = 0;
    int height = 0;
    int channels = 3;
    std::vector<std::uint8_t> pixels = {};
};

/// The most pixels of an image; larger ones are refused as hostile.
inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;

/// Decodes a JPEG or PNG, told apart by content. Alpha is dropped. Throws InputError if it is
/// neither or is damaged, WorldError if this program was built without the library that reads it.
Image decode_image(std::string_view bytes, const std::filesystem::path& file);

Image decode_jpeg(std::string_view bytes, const std::filesystem::path& file);
Image decode_png(std::string_view bytes, const std::filesystem::path& file);

/// The image as a model takes it: the shorter side is resized to `side` (bilinear, averaging where
/// it shrinks, as Pillow and torchvision do), and its middle is cut out. Returns [channels, side,
/// side], values from 0 to 1. Colours become grey by ITU-R BT.601, grey becomes three equal
/// channels. Precondition: channels is 1 or 3.
std::vector<float> fit(const Image& image, int side, int channels);

}  // namespace debubble::exec
