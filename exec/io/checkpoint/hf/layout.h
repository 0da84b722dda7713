#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exec/core/pieces/pieces.h"
#include "models/graph/graph.h"
#include "models/network/architecture.h"

/// The names and shapes under which the classes of transformers store the parameters of a network:
/// most as tensors of their own, in the shape that they have here, and some as parts of a tensor.
namespace debubble::exec {

/// The form in which a layer's three weights of queries, keys and values are stored.
enum class StoredQkv : std::uint8_t {
    Apart,
    Rows,   ///< one tensor: the rows of queries, then those of keys and of values
    Heads,  ///< one tensor, as here, but of every head its queries', keys' and values' rows
};

/// The form in which the experts of a layer are stored.
enum class StoredExperts : std::uint8_t {
    Apart,
    InTurn,  ///< [experts, inputs, outputs]: columns of the gate and of up_proj alternate
    Halves,  ///< the same, with the gate's columns before those of up_proj
};

struct HuggingFaceLayout {
    std::string_view type;  ///< `model_type`
    /// Names that belong to the base model, which may have been saved without it, begin so.
    std::string_view base = "model.";
    bool bare = false;  ///< names here lack that beginning
    StoredQkv qkv = StoredQkv::Apart;
    /// The rotated pairs of columns of queries and keys are neighbours; here they are half a head
    /// apart.
    bool neighbours = false;
    bool joined_gates = false;  ///< gate_up_proj: the gate's rows, then those of up_proj
    StoredExperts experts = StoredExperts::Apart;
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

    /// True if the stored tensor, whose canonical name is `name`, is the parameter as it is.
    bool is(const models::Parameter& parameter, std::string_view name) const;
};

StoredParameter stored_parameter(const HuggingFaceLayout& layout,
                                 const models::Architecture& architecture,
                                 const models::Parameter& parameter);
}  // namespace debubble::exec
