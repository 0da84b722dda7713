#include "tests/exec/goldens.h"

#include <cstring>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace debubble::exec {

namespace {

Shape shape_of(const nlohmann::json& extents) {
    const auto at = [&](std::size_t axis) { return extents.at(axis).get<std::int64_t>(); };
    switch (extents.size()) {
        case 0: return {};
        case 1: return {at(0)};
        case 2: return {at(0), at(1)};
        case 3: return {at(0), at(1), at(2)};
        default: return {at(0), at(1), at(2), at(3)};
    }
}

}  // namespace

Goldens::Goldens(const std::string& name) {
    const std::string file = read_file(std::string(DEBUBBLE_SOURCE_DIR) + "/tests/exec/goldens/" +
                                       name + ".safetensors");
    std::uint64_t header = 0;
    std::memcpy(&header, file.data(), sizeof header);
    const std::size_t data = sizeof header + header;
    const auto entries = nlohmann::json::parse(file.substr(sizeof header, header));
    for (const auto& [key, entry] : entries.items()) {
        Tensor tensor(shape_of(entry.at("shape")),
                      entry.at("dtype") == "I32" ? DataType::Int32 : DataType::Fp32);
        const auto begin = data + entry.at("data_offsets").at(0).get<std::size_t>();
        const auto bytes = static_cast<std::size_t>(tensor.bytes());
        if (begin + bytes > file.size()) throw std::runtime_error(name + " is cut short");
        std::memcpy(tensor.view().data, file.data() + begin, bytes);
        tensors_.emplace(key, std::move(tensor));
    }
}

const Tensor& Goldens::operator[](const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw std::runtime_error("no golden is named " + name);
    return found->second;
}

}  // namespace debubble::exec
