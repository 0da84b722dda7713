#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "exec/io/data/images/image.h"
#include "exec/io/mapped_file.h"

/// CIFAR-10's binary version (cs.toronto.edu/~kriz/cifar.html): records of a label byte and
/// 32 x 32 bytes of red, then of green, then of blue.
namespace debubble::exec {

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
