#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "exec/io/data/data_set.h"

/// Data sets of images: inputs fp32 [samples, channels, side, side], targets int32 [samples]. A
/// path is a folder that has a folder of JPEG and PNG files for each class, or, for CIFAR-10's
/// binary version, a file or the folder with its data_batch_*.bin.
namespace debubble::exec {

struct ImageRules {
    int side = 224;  ///< side of the model's images, in pixels
    int channels = 3;
    std::int32_t ignore_index = -100;
    /// A value v from 0 to 1 becomes (v - mean) / deviation; one number, or one per channel.
    std::vector<float> mean{0.5f};
    std::vector<float> deviation{0.5f};
};

/// The names of the classes in order: the folders' names sorted, or CIFAR-10's ten. Throws
/// InputError if the path is none of the above.
std::vector<std::string> image_classes(const std::filesystem::path& path);

/// Opens the images class by class, and in a class by file name; CIFAR-10's in their order. Images
/// are decoded when they are read. Throws InputError if there are none or one belongs to another
/// class.
std::unique_ptr<DataSet> open_images(const std::filesystem::path& path,
                                     const std::vector<std::string>& classes,
                                     const ImageRules& rules);

}  // namespace debubble::exec
