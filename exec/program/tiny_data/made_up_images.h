#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "exec/io/data/images/image.h"

/// Pictures that can be told apart by the direction of their stripes and by their colour.
namespace debubble::exec {

/// A colour picture of one of `classes` classes; those of a class differ by their noise.
Image made_up_image(int label, int classes, int side, std::uint64_t seed);

/// The bytes of a PNG, not compressed. Precondition: three channels.
std::string png_of(const Image& image);

struct ImageCount {
    int classes = 2;
    int per_class = 1;
    int side = 32;
    std::uint64_t seed = 0;
};

/// A folder for each class with its PNGs. The folder has its name when it is whole.
void write_image_folder(const std::filesystem::path& folder, const ImageCount& count);

/// A file of CIFAR-10's binary version. Precondition: at most ten classes; the side is CIFAR's, 32.
void write_cifar_file(const std::filesystem::path& file, const ImageCount& count);

}  // namespace debubble::exec
