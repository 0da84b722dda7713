#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/core/pieces/pieces.h"
#include "exec/core/tensor.h"
#include "exec/io/checkpoint/durable_file.h"
#include "exec/io/mapped_file.h"

/// Hugging Face's file format of named tensors: the header's length in 8 little-endian
/// bytes, a JSON object {name: {dtype, shape, data_offsets}}, then the data without a gap
/// (github.com/huggingface/safetensors, README "Format").
namespace debubble::exec {

/// The element types of the format, by its names.
enum class StoredType : std::uint8_t {
    Bool,
    U8,
    I8,
    F8E4M3,
    F8E5M2,
    U16,
    I16,
    F16,
    BF16,
    U32,
    I32,
    F32,
    U64,
    I64,
    F64,
};
std::string_view word(StoredType type);  ///< its spelling in the format, such as "BF16"
std::int64_t size_of(StoredType type);
std::optional<StoredType> stored_type(std::string_view word);
StoredType stored_type(DataType type);
/// The type of this project; nothing for types that its tensors do not have.
std::optional<DataType> data_type(StoredType type);

struct SafetensorsEntry {
    std::string name;
    StoredType type{};
    Dimensions shape;
    std::int64_t begin = 0;  ///< bytes, from the start of the file
    std::int64_t bytes = 0;
};

struct SafetensorsHeader {
    /// Bytes of length and JSON, after which the data starts.
    std::int64_t bytes = 0;
    std::vector<SafetensorsEntry> entries;  ///< in the order of their data
    std::map<std::string, std::string> metadata;
};

/// The longest header; longer ones are refused, as Hugging Face's own reader refuses them.
inline constexpr std::size_t kLongestSafetensorsHeader = 100'000'000;

/// Parses the header of a file's bytes. Throws InputError that names `file`, the tensor and the
/// numbers unless every tensor has a known type, as many bytes as its shape needs and a name of its
/// own, and the tensors fill the file without overlap, hole or rest.
SafetensorsHeader parse_safetensors(std::string_view bytes, const std::string& file);

/// A file whose header is checked and whose data lies mapped in memory, at any alignment.
struct SafetensorsFile {
    std::shared_ptr<const MappedFile> file;
    SafetensorsHeader header;

    std::string_view data(const SafetensorsEntry& entry) const {
        return file->bytes().substr(entry.begin, entry.bytes);
    }
};
SafetensorsFile open_safetensors(const std::filesystem::path& path);

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
