#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace debubble::models {

/// The cut of one parameter of a linear y = x W by tensor parallelism: Column cuts the outputs (the
/// last dimension of [in, out]), Row the inputs, Vocabulary the tokens of an embedding
/// (arXiv:1909.08053, section 3).
enum class Sharding : std::uint8_t { Replicated, Column, Row, Vocabulary };
std::string_view word(Sharding sharding);  ///< the word in YAML

/// A line of a model's `sharding:` table. In the pattern `*` stands for any text,
/// so "h.*.attn.c_proj.*" names that projection in every layer. Later lines win.
struct ShardingOverride {
    std::string pattern;  ///< pattern of canonical (Hugging Face) parameter names
    Sharding sharding{};
    friend bool operator==(const ShardingOverride&, const ShardingOverride&) = default;

    bool matches(const std::string& parameter) const;
};

}  // namespace debubble::models
