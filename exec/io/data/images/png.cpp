#include <png.h>

#include <fmt/format.h>

#include "exec/io/data/images/image.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {

Image decode_png(std::string_view bytes, const std::filesystem::path& file) {
    png_image reader{};
    reader.version = PNG_IMAGE_VERSION;
    const auto refuse = [&] {
        const InputError error = bad_file(file, fmt::format("damaged PNG: {}", reader.message));
        png_image_free(&reader);
        return error;
    };
    if (!png_image_begin_read_from_memory(&reader, bytes.data(), bytes.size())) throw refuse();
    if (static_cast<std::int64_t>(reader.width) * reader.height > kMostPixels) {
        png_image_free(&reader);
        throw bad_file(file, fmt::format("{} x {} pixels are more than {}", reader.width,
                                         reader.height, kMostPixels));
    }
    reader.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    reader.format = PNG_FORMAT_RGBA;  // with RGB, libpng would compose the image with a background
    Image image{static_cast<int>(reader.width), static_cast<int>(reader.height), 3};
    std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(reader));
    if (!png_image_finish_read(&reader, nullptr, pixels.data(), 0, nullptr)) throw refuse();
    image.pixels.reserve(pixels.size() / 4 * 3);
    for (std::size_t i = 0; i < pixels.size(); i += 4)
        image.pixels.insert(image.pixels.end(), &pixels[i], &pixels[i] + 3);
    return image;
}

}  // namespace debubble::exec
