#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/core/pieces/slice.h"
#include "models/architecture.h"
#include "models/graph.h"

/// How classes of transformers name and store the parameters of a network: most as tensors of their
/// own, in the shape that they have here, and some as parts of a tensor.
namespace debubble::exec {

/// A part of a parameter's name, and what transformers says instead.
struct RenamedPart {
    std::string_view here;
    std::string_view there;
};

/// The form in which a layer's three weights of queries, keys and values are stored.
enum class StoredQkv : std::uint8_t {
    Apart,
    Rows,   ///< one tensor: the rows of queries, then those of keys and of values
    Heads,  ///< one tensor: of every head its queries', keys' and values' rows
};

struct HuggingFaceLayout {
    std::string_view type;  ///< `model_type`
    /// Names that belong to the base model, which may have been saved without it, begin so.
    std::string_view base = "model.";
    bool bare = false;  ///< names here lack that beginning
    std::span<const RenamedPart> names = {};
    StoredQkv qkv = StoredQkv::Apart;
    std::string_view qkv_name = {};  ///< of the one tensor, in place of "q_proj"
    bool joined_gates = false;       ///< gate_up_proj: the gate's rows, then those of up_proj
    /// The experts of a layer are one tensor [experts, inputs, outputs], in which columns of the
    /// gate and of up_proj take turns (gpt-oss).
    bool stacked_experts = false;
};

/// The layout of a `model_type`; of one that is not known here it is that of Llama.
const HuggingFaceLayout& hugging_face_layout(std::string_view type);

/// The name in a file that has all of a network, of a tensor whose name may lack the base model's
/// prefix.
std::string full_name(const HuggingFaceLayout& layout, std::string_view stored);
/// The name here of a tensor that is stored as it is.
std::string canonical_name(const HuggingFaceLayout& layout, std::string_view full);

/// Whether a tensor of this name, canonical or in a file, belongs to a head, which is stored next
/// to the base model.
bool is_head(std::string_view name);

struct StoredParameter {
    std::string tensor;  ///< full name of the stored tensor
    Dimensions shape;    ///< shape of the whole stored tensor
    /// Boxes that make up the parameter, each with its place in the stored tensor.
    std::vector<Slice> places;
    double minus = 0;  ///< the stored values are the parameter's minus this
};

StoredParameter stored_parameter(const HuggingFaceLayout& layout,
                                 const models::Architecture& architecture,
                                 const models::Parameter& parameter);
}  // namespace debubble::exec
