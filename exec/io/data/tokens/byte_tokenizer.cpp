#include <array>

#include "exec/io/data/tokens/tokenizer.h"

namespace debubble::exec {
namespace {

class ByteTokenizer final : public Tokenizer {
public:
    std::int64_t vocab() const override { return kEnd + 1; }
    std::optional<std::int32_t> end_of_text() const override { return kEnd; }

    void encode(std::string_view text, const TokenSink& sink) const override {
        std::vector<std::int32_t> tokens;
        while (!text.empty()) {
            const std::string_view document = text.substr(0, text.find(kEndOfText));
            for (std::size_t begin = 0; begin < document.size(); begin += kPiece) {
                tokens.clear();
                for (const char byte : document.substr(begin, kPiece))
                    tokens.push_back(static_cast<unsigned char>(byte));
                sink(tokens);
            }
            text.remove_prefix(document.size());
            if (text.empty()) return;
            sink(std::array{kEnd});
            text.remove_prefix(kEndOfText.size());
        }
    }

    std::string decode(std::span<const std::int32_t> tokens) const override {
        std::string text;
        for (const std::int32_t token : tokens) {
            if (token == kEnd)
                text += kEndOfText;
            else if (token >= 0 && token < kEnd)
                text += static_cast<char>(token);
        }
        return text;
    }

    std::string identity() const override { return "bytes and end-of-text"; }
    std::string name() const override { return "the byte tokenizer"; }

private:
    static constexpr std::int32_t kEnd = 256;
    static constexpr std::size_t kPiece = 1 << 16;
};

}  // namespace

std::unique_ptr<Tokenizer> byte_tokenizer() {
    return std::make_unique<ByteTokenizer>();
}

}  // namespace debubble::exec
