#include "exec/io/data/images/image.h"

#include <algorithm>

#include <fmt/format.h>

#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

constexpr int kSide = 32;
constexpr std::size_t kPlane = kSide * kSide;
constexpr std::size_t kRecord = 1 + 3 * kPlane;

}  // namespace

std::vector<fs::path> cifar_files(const fs::path& path) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) return {path};
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("data_batch_") && name.ends_with(".bin"))
            files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

CifarImages::CifarImages(const std::vector<fs::path>& files) {
    for (const fs::path& path : files) {
        const std::string_view bytes = files_.emplace_back(path).bytes();
        if (bytes.empty() || bytes.size() % kRecord != 0)
            throw bad_file(path,
                           fmt::format("not a CIFAR-10 file: its {} bytes are not a multiple of {}",
                                       bytes.size(), kRecord));
        for (std::size_t at = 0; at < bytes.size(); at += kRecord) {
            records_.push_back({bytes.substr(at, kRecord), files_.size() - 1});
            const auto label = static_cast<unsigned char>(bytes[at]);
            if (label >= kCifarClasses.size())
                throw bad_file(path, fmt::format("not a CIFAR-10 file: the label of image {} is {}",
                                                 at / kRecord, label));
        }
        files_.back().check_whole();
    }
}

std::int32_t CifarImages::label(std::int64_t index) const {
    const auto label = static_cast<unsigned char>(records_[index].bytes[0]);
    check_whole(index);
    return label;
}

Image CifarImages::image(std::int64_t index) const {
    Image image{kSide, kSide, 3};
    const std::string_view planes = records_[index].bytes.substr(1);
    for (std::size_t pixel = 0; pixel < kPlane; ++pixel)
        for (std::size_t channel = 0; channel < 3; ++channel)
            image.pixels.push_back(static_cast<std::uint8_t>(planes[channel * kPlane + pixel]));
    check_whole(index);
    return image;
}

}  // namespace debubble::exec
