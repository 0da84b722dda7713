#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/diagnostic.h"
#include "base/file.h"
#include "exec/io/checkpoint/hf/hugging_face.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"

namespace {

namespace fs = std::filesystem;
using namespace debubble;
using namespace debubble::exec;

/// One network of every layout whose stored tensors hold several parameters.
constexpr const char* kConfigs[] = {
    R"({"model_type": "phi3", "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2,
        "num_key_value_heads": 1, "intermediate_size": 6, "vocab_size": 5,
        "max_position_embeddings": 8})",
    R"({"model_type": "gpt_oss", "num_hidden_layers": 1, "hidden_size": 8,
        "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 4, "intermediate_size": 6,
        "num_local_experts": 2, "num_experts_per_tok": 1, "vocab_size": 5, "sliding_window": 4,
        "layer_types": ["full_attention"], "max_position_embeddings": 8, "rope_theta": 10000})",
    R"({"model_type": "gpt_neox", "num_hidden_layers": 1, "hidden_size": 8,
        "num_attention_heads": 2, "intermediate_size": 6, "vocab_size": 5,
        "max_position_embeddings": 8, "rotary_pct": 0.5})",
    R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2,
        "num_key_value_heads": 1, "intermediate_size": 6, "vocab_size": 5,
        "max_position_embeddings": 8})",
};

/// Reads every parameter that the file has in the right shape.
void read_all(const HuggingFaceModel& model) {
    for (const models::Parameter& parameter : models::whole_parameters(model.architecture)) {
        std::vector<float> elements(static_cast<std::size_t>(parameter.elements()));
        auto* data = reinterpret_cast<std::byte*>(elements.data());
        const std::vector<WantedPiece> wanted =
            pieces_of(parameter, {}, 0, kinds::kParameter, DataType::Fp32, data);
        if (mismatches(model.weights, wanted).empty()) load(model.weights, wanted);
    }
}

}  // namespace

/// Any file beside a configuration has weights of that network, or is refused in words. The first
/// byte chooses the configuration.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const fs::path folder =
        fs::temp_directory_path() / ("debubble-fuzz-" + std::to_string(getpid()));
    fs::create_directories(folder);
    write_file(folder / "config.json", kConfigs[data[0] % std::size(kConfigs)]);
    write_file(folder / "model.safetensors",
               std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    try {
        read_all(open_hugging_face(folder));
    } catch (const InputError&) {
    }
    fs::remove_all(folder);
    return 0;
}
