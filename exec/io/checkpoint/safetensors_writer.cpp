#include "exec/io/checkpoint/safetensors.h"

#include <cassert>
#include <cstring>

#include <nlohmann/json.hpp>

namespace debubble::exec {

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     std::vector<NewTensor> tensors, const Metadata& metadata)
    : tensors_(std::move(tensors)), file_(path) {
    const std::string first = header(metadata);
    header_bytes_ = static_cast<std::int64_t>(first.size());
    file_.append(first);
}

void SafetensorsWriter::append(std::string_view bytes) {
    file_.append(bytes);
    appended_ += static_cast<std::int64_t>(bytes.size());
}

std::string SafetensorsWriter::header(const Metadata& metadata) const {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (!metadata.empty()) json["__metadata__"] = metadata;
    std::int64_t begin = 0;
    for (const NewTensor& tensor : tensors_) {
        assert(!json.contains(tensor.name) && "tensors of a file have names of their own");
        const std::int64_t end = begin + tensor.bytes();
        nlohmann::ordered_json entry;
        entry["dtype"] = word(tensor.type);
        entry["shape"] = tensor.shape;
        entry["data_offsets"] = {begin, end};
        json[tensor.name] = std::move(entry);
        begin = end;
    }
    std::string text = json.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the data
    const std::uint64_t length = text.size();
    std::string bytes(sizeof length, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes + text;
}

std::int64_t SafetensorsWriter::file_bytes() const {
    return header_bytes_ + appended_;
}

void SafetensorsWriter::finish(const Metadata& metadata, const std::filesystem::path& path) {
    const std::string last = header(metadata);
    assert(static_cast<std::int64_t>(last.size()) == header_bytes_ && "values of the same length");
    file_.overwrite(0, last);
    file_.put_in_place(path);
}

}  // namespace debubble::exec
