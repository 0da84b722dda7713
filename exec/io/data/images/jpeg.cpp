#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

#include <array>

#include <fmt/format.h>

#include "exec/io/data/images/image.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace {

/// An error handler for libjpeg, whose own handler ends the program.
struct Errors {
    jpeg_error_mgr manager;  ///< the first member: libjpeg knows the whole by its address
    std::jmp_buf give_up;
    std::array<char, JMSG_LENGTH_MAX> message;
};

[[noreturn]] void give_up(j_common_ptr info) {
    auto* const errors = reinterpret_cast<Errors*>(info->err);
    errors->manager.format_message(info, errors->message.data());
    std::longjmp(errors->give_up, 1);
}

/// The only warning that does no harm to the picture is that of bytes between two segments.
void warn(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA) give_up(info);
}

/// Decodes by plain C only, since between setjmp and longjmp no destructor would run. Returns false
/// if the decoder gave up.
bool decode(jpeg_decompress_struct& info, Errors& errors, std::string_view bytes, Image& image) {
    if (setjmp(errors.give_up)) return false;
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info, TRUE);
    if (static_cast<std::int64_t>(info.image_width) * info.image_height > kMostPixels)
        ERREXIT1(&info, JERR_IMAGE_TOO_BIG, JPEG_MAX_DIMENSION);
    const bool is_grey = info.jpeg_color_space == JCS_GRAYSCALE;
    const bool is_cmyk = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    info.out_color_space = is_grey ? JCS_GRAYSCALE : is_cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&info);
    image.width = static_cast<int>(info.output_width);
    image.height = static_cast<int>(info.output_height);
    image.channels = info.output_components;
    image.pixels.resize(static_cast<std::size_t>(image.width) * image.height * image.channels);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = &image.pixels[static_cast<std::size_t>(info.output_scanline) * image.width *
                                     image.channels];
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    return true;
}

/// Converts inverted CMYK to RGB: Adobe stores 255 for no ink.
void cmyk_to_rgb(Image& image) {
    const std::size_t pixels = static_cast<std::size_t>(image.width) * image.height;
    for (std::size_t i = 0; i < pixels; ++i)
        for (std::size_t c = 0; c < 3; ++c)
            image.pixels[3 * i + c] = static_cast<std::uint8_t>(
                (image.pixels[4 * i + c] * image.pixels[4 * i + 3] + 127) / 255);
    image.pixels.resize(3 * pixels);
    image.channels = 3;
}

}  // namespace

Image decode_jpeg(std::string_view bytes, const std::filesystem::path& file) {
    Errors errors{};
    jpeg_decompress_struct info{};
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = give_up;
    errors.manager.emit_message = warn;
    Image image;
    const bool done = decode(info, errors, bytes, image);
    jpeg_destroy_decompress(&info);
    if (!done) throw bad_file(file, fmt::format("damaged JPEG: {}", errors.message.data()));
    if (image.channels == 4) cmyk_to_rgb(image);
    return image;
}

}  // namespace debubble::exec
