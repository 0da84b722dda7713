#include "exec/io/data/images/image.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace {

/// The weights with which one output pixel takes the pixels of a row or column.
struct Taps {
    int first = 0;
    std::vector<float> weights;
};

/// The taps of `count` output pixels from `begin` on, when `from` pixels are resized to `to`.
std::vector<Taps> triangle_taps(int from, std::int64_t to, std::int64_t begin, int count) {
    const double scale = from / static_cast<double>(to);
    const double reach = std::max(scale, 1.0);  // half the base of the triangle, in input pixels
    std::vector<Taps> taps(count);
    for (int i = 0; i < count; ++i) {
        const double centre = (static_cast<double>(begin + i) + 0.5) * scale;
        const int first = std::max(static_cast<int>(centre - reach + 0.5), 0);
        const int last = std::min(static_cast<int>(centre + reach + 0.5), from);
        double sum = 0;
        for (int x = first; x < last; ++x)
            sum += std::max(1 - std::abs(x + 0.5 - centre) / reach, 0.0);
        taps[i].first = first;
        for (int x = first; x < last; ++x)
            taps[i].weights.push_back(
                static_cast<float>(std::max(1 - std::abs(x + 0.5 - centre) / reach, 0.0) / sum));
    }
    return taps;
}

/// One channel of the image, [height, width], values from 0 to 1.
std::vector<float> channel_of(const Image& image, int channel, int channels) {
    constexpr std::array kBt601{0.299f, 0.587f, 0.114f};
    const std::size_t pixels = static_cast<std::size_t>(image.width) * image.height;
    std::vector<float> values(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
        const std::uint8_t* const pixel = &image.pixels[i * image.channels];
        float value = pixel[image.channels == 1 ? 0 : channel];
        if (channels == 1 && image.channels == 3)
            value = kBt601[0] * pixel[0] + kBt601[1] * pixel[1] + kBt601[2] * pixel[2];
        values[i] = value / 255;
    }
    return values;
}

}  // namespace

Image decode_image(std::string_view bytes, const std::filesystem::path& file) {
    if (bytes.starts_with("\x89PNG")) return decode_png(bytes, file);
    if (bytes.starts_with("\xff\xd8")) return decode_jpeg(bytes, file);
    throw bad_file(file, "neither a JPEG nor a PNG");
}

std::vector<float> fit(const Image& image, int side, int channels) {
    const int shorter = std::min(image.width, image.height);
    const auto taps_along = [&](int length) {
        const std::int64_t to = static_cast<std::int64_t>(side) * length / shorter;
        const auto begin = std::llrint(static_cast<double>(to - side) / 2);
        return triangle_taps(length, to, begin, side);
    };
    const std::vector<Taps> across = taps_along(image.width);
    const std::vector<Taps> down = taps_along(image.height);

    std::vector<float> out;
    std::vector<float> narrow(static_cast<std::size_t>(image.height) * side);
    for (int channel = 0; channel < channels; ++channel) {
        const std::vector<float> values = channel_of(image, channel, channels);
        for (int y = 0; y < image.height; ++y) {
            const float* const row = &values[static_cast<std::size_t>(y) * image.width];
            for (int x = 0; x < side; ++x) {
                float sum = 0;
                for (std::size_t k = 0; k < across[x].weights.size(); ++k)
                    sum += across[x].weights[k] * row[across[x].first + k];
                narrow[static_cast<std::size_t>(y) * side + x] = sum;
            }
        }
        for (int y = 0; y < side; ++y) {
            for (int x = 0; x < side; ++x) {
                float sum = 0;
                for (std::size_t k = 0; k < down[y].weights.size(); ++k)
                    sum += down[y].weights[k] * narrow[(down[y].first + k) * side + x];
                out.push_back(std::min(sum, 1.0F));  // taps add up to 1 except for rounding
            }
        }
    }
    return out;
}

}  // namespace debubble::exec
