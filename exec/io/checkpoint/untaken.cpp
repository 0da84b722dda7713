#include "exec/io/checkpoint/hf/hugging_face.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/core/pieces/pieces.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"

namespace debubble::exec {
namespace {

constexpr std::size_t kMostNamed = 8;

/// Whether a tensor is a buffer: a causal mask, or the frequencies of rotary positions.
bool is_no_weight(const std::string& name) {
    constexpr std::array kBuffers{".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq"};
    return std::ranges::any_of(kBuffers, [&](const char* end) { return name.ends_with(end); });
}

/// The parameters of the whole network, as checkpoints name them.
std::set<std::string> parameters_of(const models::Architecture& model) {
    std::set<std::string> names;
    for (const models::Parameter& parameter : models::whole_parameters(model))
        names.insert(stored_name(parameter));
    for (const models::Buffer& buffer : models::whole_buffers(model)) names.insert(buffer.name);
    return names;
}

}  // namespace

std::optional<std::string> note_of_untaken(const PieceSource& weights,
                                           const models::Architecture& model) {
    const std::set<std::string> taken = parameters_of(model);
    std::vector<std::string> named;
    std::size_t count = 0;
    for (const auto& [key, tensor] : weights.tensors) {
        const std::string& name = key.second;
        const bool is_tied_head = model.tied_embedding && name == "lm_head.weight";
        if (taken.contains(name) || is_tied_head || is_no_weight(name)) continue;
        if (++count <= kMostNamed) named.push_back(tensor.pieces.front().entry);
    }
    if (count == 0) return std::nullopt;
    const std::string more =
        count > named.size() ? fmt::format(" and {} more", count - named.size()) : "";
    return fmt::format("{} of {} {} not a parameter of the model and not taken: {}{}",
                       count == 1 ? "1 tensor" : fmt::format("{} tensors", count), weights.name,
                       count == 1 ? "is" : "are", fmt::join(named, ", "), more);
}

}  // namespace debubble::exec
