#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exec/io/checkpoint/durable_file.h"
#include "exec/io/checkpoint/safetensors.h"

namespace debubble::exec {

struct NewTensor {
    std::string name;
    StoredType type{};
    Dimensions shape;

    std::int64_t bytes() const { return elements_of(shape) * size_of(type); }
};

using Metadata = std::map<std::string, std::string>;

/// Writes one file tensor by tensor, so that no more than a part of one tensor need be in memory.
/// Throws WorldError when the disk does not take it.
class SafetensorsWriter {
public:
    /// Starts a file of tensors with distinct names, whose data will come in this order. `metadata`
    /// may be replaced at the end by values of the same length.
    SafetensorsWriter(const std::filesystem::path& path, std::vector<NewTensor> tensors,
                      const Metadata& metadata);

    /// Appends the next bytes of the data.
    void append(std::string_view bytes);
    /// The bytes of the header with this metadata, and of the whole file.
    std::string header(const Metadata& metadata) const;
    std::int64_t file_bytes() const;
    /// Completes the file once all the data has come; it appears as `path` instead of the path
    /// given first.
    void finish(const Metadata& metadata, const std::filesystem::path& path);

private:
    std::vector<NewTensor> tensors_;
    DurableFile file_;
    std::int64_t header_bytes_ = 0;
    std::int64_t appended_ = 0;
};

}  // namespace debubble::exec
