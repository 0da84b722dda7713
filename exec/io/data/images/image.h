#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "exec/io/mapped_file.h"

/// Images, decoded from files or from CIFAR-10's records.
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

/// Decodes a JPEG or PNG, recognised by content. Alpha is dropped. Throws InputError if it is
/// neither or is damaged, WorldError if this program was built without the library that reads it.
Image decode_image(std::string_view bytes, const std::filesystem::path& file);

Image decode_jpeg(std::string_view bytes, const std::filesystem::path& file);
Image decode_png(std::string_view bytes, const std::filesystem::path& file);

/// The image as a model takes it: the shorter side is resized to `side` (bilinear, averaging where
/// it shrinks, as Pillow and torchvision do), and its middle is cut out. Returns [channels, side,
/// side], values from 0 to 1. Colours become grey by ITU-R BT.601, grey becomes three equal
/// channels. Precondition: channels is 1 or 3.
std::vector<float> fit(const Image& image, int side, int channels);

// CIFAR-10's binary version (cs.toronto.edu/~kriz/cifar.html): records of a label byte and
// 32 x 32 bytes of red, then of green, then of blue.

inline constexpr std::array<std::string_view, 10> kCifarClasses{
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};

/// The files of `path`: itself if it is a file, the data_batch_*.bin of a folder, sorted; none for
/// another folder or if it does not exist.
std::vector<std::filesystem::path> cifar_files(const std::filesystem::path& path);

/// The records of several files, one after the other. Any number of threads may read.
class CifarImages {
public:
    /// Throws InputError if a file is not made of records or a label is above 9.
    explicit CifarImages(const std::vector<std::filesystem::path>& files);

    std::int64_t size() const { return std::ssize(records_); }
    std::int32_t label(std::int64_t index) const;
    Image image(std::int64_t index) const;

private:
    struct Record {
        std::string_view bytes;
        std::size_t file = 0;  ///< index in files_
    };
    /// Throws FileCut unless the image's file is whole.
    void check_whole(std::int64_t index) const { files_[records_[index].file].check_whole(); }

    std::vector<MappedFile> files_;
    std::vector<Record> records_;
};

}  // namespace debubble::exec
