#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "exec/core/tensor.h"
#include "exec/io/data/tokens/token_file.h"

/// The sets of samples that a training reads: of tokens, and of images.
namespace debubble::exec {

/// A microbatch as a model takes it.
struct Batch {
    Tensor inputs;   ///< int32 [samples, T] tokens, or fp32 [samples, channels, height, width]
    Tensor targets;  ///< int32 [samples, T], or [samples] classes
    std::int64_t counted = 0;  ///< number of targets that are not ignored
};

/// A set of samples in the order of storage. Any number of threads may read one.
class DataSet {
public:
    virtual ~DataSet() = default;
    virtual std::int64_t samples() const = 0;  ///< number of samples, at least one
    /// Whether every sample is a file of its own: then reading many takes long, in order too.
    virtual bool is_of_many_files() const { return false; }
    virtual Batch batch_of(std::int64_t samples) const = 0;
    /// Writes a sample to a row of a batch of batch_of(). Returns the number of targets that count.
    virtual std::int64_t read(std::int64_t sample, std::int64_t row, Batch& batch) const = 0;
    /// Fills a row with targets that are all ignored.
    virtual void read_nothing(std::int64_t row, Batch& batch) const = 0;
    /// The number that read() would return.
    virtual std::int64_t counted(std::int64_t sample) const = 0;
};

/// The SHA-256 of the samples as a training sees them, whatever files they come from:
/// equal data has equal fingerprints on every host. Of data of more than 64 MiB (tokens and
/// targets, or pixels) only as many samples count as fit into that size, at equal distances from
/// the first to the last, and at most 2048 where images are files of their own, since a read from a
/// cold disk takes milliseconds. A change of a few samples in between may then go unseen. Throws
/// InputError where the data is bad.
std::string fingerprint(const DataSet& data);

// Data sets of tokens: inputs and targets are int32 [samples, T], targets shifted by one.

struct TokenRules {
    std::int64_t seq_length = 1;       ///< T, in tokens
    std::int64_t vocab = 1;            ///< the model's vocabulary: tokens must be below it
    std::int32_t ignore_index = -100;  ///< a target of this value does not count
    std::int32_t pad_token = 0;        ///< input after a document's end; below vocab
};

/// The file cut every T tokens: sample k is tokens kT .. kT + T. The remainder at the end is not
/// shown. Throws InputError if the file is too short for one sample, or has a token that the model
/// does not know.
std::unique_ptr<DataSet> packed_tokens(std::shared_ptr<const TokenFile> file,
                                       const TokenRules& rules);

/// A sample for each document, that is, up to and including each `end_of_text`: its first T + 1
/// tokens, then padding. Documents of fewer than two tokens, which have nothing to predict, are
/// left out. Throws InputError if no document is left, or as above.
std::unique_ptr<DataSet> padded_documents(std::shared_ptr<const TokenFile> file,
                                          std::int32_t end_of_text, const TokenRules& rules);

// Data sets of images: inputs fp32 [samples, channels, side, side], targets int32 [samples]. A
// path is a folder that has a folder of JPEG and PNG files for each class, or, for CIFAR-10's
// binary version, a file or the folder with its data_batch_*.bin.

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
