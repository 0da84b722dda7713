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
    Extents shape;

    std::int64_t bytes() const { return elements_of(shape) * size_of(type); }
};

using Metadata = std::map<std::string, std::string>;

/// Writes one file tensor by tensor, so that no more than a part of one need be in memory.
/// Throws WorldError when the disk does not take it.
class SafetensorsWriter {
public:
    /// Tensors of distinct names, whose data will come in this order. `metadata` may be
    /// given anew at the end, with values as long as these.
    SafetensorsWriter(const std::filesystem::path& path, std::vector<NewTensor> tensors,
                      const Metadata& metadata);

    /// The next bytes of the data.
    void append(std::string_view bytes);
    /// The header's bytes with this metadata, and the file's in all.
    std::string header(const Metadata& metadata) const;
    std::int64_t file_bytes() const;
    /// Once all the data has come; `path` takes the place of the one given first.
    void finish(const Metadata& metadata, const std::filesystem::path& path);

private:
    std::vector<NewTensor> tensors_;
    DurableFile file_;
    std::int64_t header_bytes_ = 0;
    std::int64_t appended_ = 0;
};

}  // namespace debubble::exec
