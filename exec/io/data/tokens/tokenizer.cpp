#include "exec/io/data/tokens/tokenizer.h"

namespace debubble::exec {

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
    std::vector<std::int32_t> all;
    encode(text, [&](std::span<const std::int32_t> tokens) {
        all.insert(all.end(), tokens.begin(), tokens.end());
    });
    return all;
}

}  // namespace debubble::exec
