#include "exec/data/tokenizer.h"

#include "exec/bad_file.h"

namespace debubble::exec {

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
    std::vector<std::int32_t> all;
    encode(text, [&](std::span<const std::int32_t> tokens) {
        all.insert(all.end(), tokens.begin(), tokens.end());
    });
    return all;
}

std::unique_ptr<Tokenizer> make_tokenizer(const std::filesystem::path& path) {
    if (path.empty()) return byte_tokenizer();
    throw bad_file(path, "tokenizers of Hugging Face cannot be read yet");
}

}  // namespace debubble::exec
