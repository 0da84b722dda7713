#include "exec/io/data/data_set.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/io/data/images/image.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

bool is_image(const fs::path& path) {
    std::string ending = path.extension().string();
    std::ranges::transform(ending, ending.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

/// The wanted entries of a folder, sorted, without hidden ones.
template <class Wanted>
std::vector<fs::path> entries(const fs::path& folder, const Wanted& wanted) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder))
        if (!entry.path().filename().string().starts_with('.') && wanted(entry))
            found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

std::vector<fs::path> class_folders(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error)) throw bad_file(path, "no such file");
    auto folders = entries(path, [](const auto& entry) { return entry.is_directory(); });
    if (folders.empty())
        throw bad_file(path, "the folder has no folder for a class, and no data_batch_*.bin");
    return folders;
}

class ImageDataSet : public DataSet {
public:
    explicit ImageDataSet(const ImageRules& rules) : rules_(rules) {}

    Batch batch_of(std::int64_t samples) const final {
        return {Tensor({samples, rules_.channels, rules_.side, rules_.side}),
                Tensor({samples}, DataType::Int32)};
    }

    std::int64_t read(std::int64_t sample, std::int64_t row, Batch& batch) const final {
        const std::vector<float> values = fit(image(sample), rules_.side, rules_.channels);
        const std::size_t plane = values.size() / rules_.channels;
        float* const out = batch.inputs.as<float>().data + row * std::ssize(values);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t channel = i / plane;
            out[i] = (values[i] - of(rules_.mean, channel)) / of(rules_.deviation, channel);
        }
        batch.targets.as<std::int32_t>()[row] = label(sample);
        return counted(sample);
    }

    void read_nothing(std::int64_t row, Batch& batch) const final {
        const auto inputs = batch.inputs.as<float>();
        const std::int64_t size = inputs.size() / inputs.shape[0];
        std::fill_n(inputs.data + row * size, size, 0.0f);
        batch.targets.as<std::int32_t>()[row] = rules_.ignore_index;
    }

    std::int64_t counted(std::int64_t sample) const final {
        return label(sample) == rules_.ignore_index ? 0 : 1;
    }

private:
    virtual Image image(std::int64_t sample) const = 0;
    virtual std::int32_t label(std::int64_t sample) const = 0;
    static float of(const std::vector<float>& values, std::size_t channel) {
        return values.size() == 1 ? values[0] : values[channel];
    }

    ImageRules rules_;
};

class FolderOfClasses final : public ImageDataSet {
public:
    FolderOfClasses(const fs::path& path, const std::vector<std::string>& classes,
                    const ImageRules& rules)
        : ImageDataSet(rules) {
        for (const fs::path& folder : class_folders(path)) {
            const auto found = std::ranges::find(classes, folder.filename().string());
            if (found == classes.end())
                throw bad_file(folder,
                               fmt::format("not a class of the training, whose classes are {}",
                                           fmt::join(classes, ", ")));
            const auto files = entries(folder, [](const auto& entry) {
                return entry.is_regular_file() && is_image(entry.path());
            });
            if (files.empty()) throw bad_file(folder, "the class has no JPEG and no PNG");
            for (const fs::path& file : files)
                samples_.push_back({file, static_cast<std::int32_t>(found - classes.begin())});
        }
    }
    std::int64_t samples() const override { return std::ssize(samples_); }
    bool is_of_many_files() const override { return true; }

private:
    struct Sample {
        fs::path file;
        std::int32_t label;
    };
    Image image(std::int64_t sample) const override {
        const MappedFile file(samples_[sample].file);
        return file.whole([&](std::string_view bytes) { return decode_image(bytes, file.path()); });
    }
    std::int32_t label(std::int64_t sample) const override { return samples_[sample].label; }

    std::vector<Sample> samples_;
};

class CifarDataSet final : public ImageDataSet {
public:
    CifarDataSet(const fs::path& path, const ImageRules& rules)
        : ImageDataSet(rules), images_(cifar_files(path)) {}
    std::int64_t samples() const override { return images_.size(); }

private:
    Image image(std::int64_t sample) const override { return images_.image(sample); }
    std::int32_t label(std::int64_t sample) const override { return images_.label(sample); }

    CifarImages images_;
};

}  // namespace

std::vector<std::string> image_classes(const fs::path& path) {
    if (!cifar_files(path).empty()) return {kCifarClasses.begin(), kCifarClasses.end()};
    std::vector<std::string> names;
    for (const fs::path& folder : class_folders(path)) names.push_back(folder.filename().string());
    return names;
}

std::unique_ptr<DataSet> open_images(const fs::path& path, const std::vector<std::string>& classes,
                                     const ImageRules& rules) {
    if (!cifar_files(path).empty()) return std::make_unique<CifarDataSet>(path, rules);
    return std::make_unique<FolderOfClasses>(path, classes, rules);
}

}  // namespace debubble::exec
