#include "exec/program/tiny_data/made_up_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "base/diagnostic.h"
#include "base/file.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

void append_big_endian(std::string& bytes, std::uint32_t value) {
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xff);
}

/// The CRC of PNG (W3C, "Portable Network Graphics", annex D).
std::uint32_t crc_of(std::string_view bytes) {
    std::uint32_t crc = 0xffffffff;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

/// The checksum of zlib (RFC 1950).
std::uint32_t adler_of(std::string_view bytes) {
    std::uint32_t a = 1, b = 0;
    for (const char byte : bytes) {
        a = (a + static_cast<unsigned char>(byte)) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

void append_chunk(std::string& png, std::string_view kind, const std::string& content) {
    append_big_endian(png, static_cast<std::uint32_t>(content.size()));
    const std::string checked = std::string(kind) + content;
    png += checked;
    append_big_endian(png, crc_of(checked));
}

/// A zlib stream of blocks that are stored as they are (RFC 1951, section 3.2.4).
std::string stored(std::string_view bytes) {
    constexpr std::size_t kLongestBlock = 65535;
    std::string stream = "\x78\x01";
    for (std::size_t at = 0; at < bytes.size(); at += kLongestBlock) {
        const std::string_view block = bytes.substr(at, kLongestBlock);
        const auto size = static_cast<std::uint16_t>(block.size());
        stream += static_cast<char>(at + block.size() == bytes.size());
        for (const int word : {static_cast<int>(size), ~size}) {
            stream += static_cast<char>(word & 0xff);
            stream += static_cast<char>(word >> 8 & 0xff);
        }
        stream += block;
    }
    append_big_endian(stream, adler_of(bytes));
    return stream;
}

Image image_of(const ImageCount& count, int label, int number) {
    const auto seed = static_cast<std::uint64_t>(number) * count.classes + label;
    return made_up_image(label, count.classes, count.side, count.seed << 32 | seed);
}

/// Removes a folder, if it is still there, when this object ends.
struct RemovedFolder {
    fs::path path;
    ~RemovedFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
};

/// "class_07" where there are more than ten, so that names are in the order of labels.
std::string class_name(int label, int classes) {
    return fmt::format("class_{:0{}}", label, std::to_string(classes - 1).size());
}

}  // namespace

Image made_up_image(int label, int classes, int side, std::uint64_t seed) {
    Draws draws(seed);
    const double turn = label / static_cast<double>(classes);
    const double across = std::cos(std::numbers::pi * turn),
                 down = std::sin(std::numbers::pi * turn);
    const double phase = draws.unit();
    Image image{side, side, 3, {}};
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            const double wave =
                std::sin(2 * std::numbers::pi * (3 * (x * across + y * down) / side + phase));
            for (int channel = 0; channel < 3; ++channel) {
                const double tint = std::cos(2 * std::numbers::pi * (turn + channel / 3.0));
                const double value = 128 + 50 * wave + 40 * tint + 30 * (draws.unit() - 0.5);
                image.pixels.push_back(static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0)));
            }
        }
    }
    return image;
}

std::string png_of(const Image& image) {
    std::string header;
    append_big_endian(header, static_cast<std::uint32_t>(image.width));
    append_big_endian(header, static_cast<std::uint32_t>(image.height));
    header += std::string("\x08\x02\0\0\0", 5);  // 8 bits, red green blue, no interlace
    std::string rows;
    const std::size_t row = static_cast<std::size_t>(image.width) * 3;
    for (int y = 0; y < image.height; ++y) {
        rows += '\0';  // no filter
        rows.append(reinterpret_cast<const char*>(&image.pixels[y * row]), row);
    }
    std::string png = "\x89PNG\r\n\x1a\n";
    append_chunk(png, "IHDR", header);
    append_chunk(png, "IDAT", stored(rows));
    append_chunk(png, "IEND", "");
    return png;
}

void write_image_folder(const fs::path& folder, const ImageCount& count) {
    fs::path aside = folder;
    aside += fmt::format(".debubble-tmp-{}", ::getpid());
    const RemovedFolder removed{aside};
    for (int label = 0; label < count.classes; ++label)
        for (int number = 0; number < count.per_class; ++number)
            write_file(aside / class_name(label, count.classes) / fmt::format("{:04}.png", number),
                       png_of(image_of(count, label, number)));
    std::error_code error;
    fs::rename(aside, folder, error);
    if (error)
        throw WorldError(
            fmt::format("{}: cannot be put in place: {}", folder.string(), error.message()));
}

void write_cifar_file(const fs::path& file, const ImageCount& count) {
    std::string records;
    for (int number = 0; number < count.per_class; ++number) {
        for (int label = 0; label < count.classes; ++label) {
            const Image image = image_of(count, label, number);
            records += static_cast<char>(label);
            for (std::size_t channel = 0; channel < 3; ++channel)
                for (std::size_t at = channel; at < image.pixels.size(); at += 3)
                    records += static_cast<char>(image.pixels[at]);
        }
    }
    write_file(file, records);
}

}  // namespace debubble::exec
