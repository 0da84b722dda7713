#include "exec/io/checkpoint/hugging_face.h"

#include <cassert>
#include <system_error>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/io/checkpoint/safetensors_writer.h"
#include "models/graph.h"
#include "models/hf_config_writer.h"

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

}  // namespace

void export_hugging_face(const PieceSource& source, const models::Architecture& architecture,
                         DataType type, const fs::path& folder) {
    const std::string config = models::hf_config(architecture, torch_word(type));
    const std::vector<models::Parameter> parameters = models::whole_parameters(architecture);
    std::vector<NewTensor> tensors;
    std::vector<WantedPiece> wanted;
    for (const models::Parameter& parameter : parameters) {
        tensors.push_back({hugging_face_name(architecture.family, parameter.name),
                           stored_type(type), parameter.shape});
        const Slice slice{whole(parameter.shape), 0, row_major_strides(parameter.shape)};
        wanted.push_back(
            {kinds::kParameter, parameter.name, parameter.shape, type, slice, nullptr});
    }
    check_stored(source, wanted);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw WorldError(fmt::format("{}: cannot be made: {}", folder.string(), error.message()));
    SafetensorsWriter file(folder / "model.safetensors", tensors, {{"format", "pt"}});
    std::vector<std::byte> buffer;  // bytes of one tensor at a time
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        buffer.resize(tensors[i].bytes());
        wanted[i].data = buffer.data();
        load(source, std::span(&wanted[i], 1));
        file.append({reinterpret_cast<const char*>(buffer.data()), buffer.size()});
    }
    file.finish({{"format", "pt"}}, folder / "model.safetensors");
    write_durably(folder / "config.json", config);
}

}  // namespace debubble::exec
