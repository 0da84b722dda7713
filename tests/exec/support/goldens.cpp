#include "tests/exec/support/goldens.h"

#include <cstring>
#include <stdexcept>

#include "exec/io/checkpoint/safetensors.h"
#include "tests/support/source_folder.h"

namespace debubble::exec {

Shape shape_of(const Dimensions& shape) {
    switch (shape.size()) {
        case 0: return {};
        case 1: return {shape[0]};
        case 2: return {shape[0], shape[1]};
        case 3: return {shape[0], shape[1], shape[2]};
        case 4: return {shape[0], shape[1], shape[2], shape[3]};
    }
    throw std::runtime_error("no golden has more than four dimensions");
}

Goldens::Goldens(const std::string& name) {
    const SafetensorsFile file = open_safetensors(
        (source_folder() / "tests/exec/goldens" / (name + ".safetensors")).string());
    for (const SafetensorsEntry& entry : file.header.entries) {
        Tensor tensor(shape_of(entry.shape), data_type(entry.type).value());
        std::memcpy(tensor.view().data, file.data(entry).data(), file.data(entry).size());
        tensors_.emplace(entry.name, std::move(tensor));
    }
}

const Tensor& Goldens::operator[](const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) throw std::runtime_error("no golden is named " + name);
    return found->second;
}

}  // namespace debubble::exec
