#include "exec/io/checkpoint/hf/hugging_face.h"

#include <cassert>
#include <map>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/core/pieces/pieces.h"
#include "exec/io/checkpoint/hf/layout.h"
#include "exec/io/checkpoint/safetensors.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/hf/hf_config.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

/// The name of a type in config.json.
const char* torch_word(DataType type) {
    switch (type) {
        case DataType::Fp64: return "float64";
        case DataType::Fp32: return "float32";
        case DataType::Fp16: return "float16";
        case DataType::Bf16: return "bfloat16";
        case DataType::Int32: break;
    }
    assert(false && "weights are floating-point numbers");
    return "";
}

/// A tensor of the file, and the pieces of parameters that fill it.
struct ExportedTensor {
    NewTensor tensor;
    std::vector<WantedPiece> pieces;
    double minus = 0;
};

std::vector<ExportedTensor> exported_tensors(const HuggingFaceLayout& layout,
                                             const models::Architecture& architecture,
                                             DataType type) {
    std::vector<ExportedTensor> tensors;
    std::map<std::string, std::size_t> by_name;
    for (const models::Parameter& parameter : models::whole_parameters(architecture)) {
        const StoredParameter stored = stored_parameter(layout, architecture, parameter);
        const auto [at, fresh] = by_name.try_emplace(stored.tensor, tensors.size());
        if (fresh)
            tensors.push_back({{stored.tensor, stored_type(type), stored.shape}, {}, stored.minus});
        for (const Slice& place : stored.places)
            tensors[at->second].pieces.push_back(
                {kinds::kParameter, parameter.name, parameter.shape, type, place, nullptr});
    }
    for (const models::Buffer& buffer : models::whole_buffers(architecture)) {
        models::Parameter named;
        named.name = buffer.name;
        named.shape = buffer.shape;
        const std::string name = stored_parameter(layout, architecture, named).tensor;
        tensors.push_back({{name, stored_type(DataType::Fp32), buffer.shape},
                           {piece_of<std::byte>(buffer, nullptr)},
                           0});
    }
    return tensors;
}

/// Fills `bytes` with the elements of a tensor.
void fill(const PieceSource& source, ExportedTensor& tensor, std::vector<std::byte>& bytes) {
    bytes.resize(tensor.tensor.bytes());
    for (WantedPiece& piece : tensor.pieces) piece.data = bytes.data();
    if (tensor.minus == 0) return load(source, tensor.pieces);
    const Dimensions& shape = tensor.tensor.shape;
    std::vector<double> exact(elements_of(shape));
    std::vector<WantedPiece> pieces = tensor.pieces;
    for (WantedPiece& piece : pieces) {
        piece.type = DataType::Fp64;
        piece.data = reinterpret_cast<std::byte*>(exact.data());
    }
    load(source, pieces);
    const Slice all{whole(shape), 0, row_major_strides(shape)};
    copy_box(all.box, all, DataType::Fp64, reinterpret_cast<const std::byte*>(exact.data()), all,
             tensor.pieces.front().type, bytes.data(), -tensor.minus);
}

}  // namespace

void export_hugging_face(const PieceSource& source, const models::Architecture& architecture,
                         DataType type, const fs::path& folder) {
    const models::HfConfig config = models::hf_config(architecture, torch_word(type));
    std::vector<ExportedTensor> tensors =
        exported_tensors(hugging_face_layout(config.type), architecture, type);
    std::vector<NewTensor> headers;
    std::vector<WantedPiece> wanted;
    for (const ExportedTensor& tensor : tensors) {
        headers.push_back(tensor.tensor);
        wanted.insert(wanted.end(), tensor.pieces.begin(), tensor.pieces.end());
    }
    check_stored(source, wanted);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw WorldError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
    SafetensorsWriter file(folder / "model.safetensors", headers, {{"format", "pt"}});
    std::vector<std::byte> buffer;  // bytes of one tensor at a time
    for (ExportedTensor& tensor : tensors) {
        fill(source, tensor, buffer);
        file.append({reinterpret_cast<const char*>(buffer.data()), buffer.size()});
    }
    file.finish({{"format", "pt"}}, folder / "model.safetensors");
    write_durably(folder / "config.json", config.text);
}

}  // namespace debubble::exec
