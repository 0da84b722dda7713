#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/diagnostic.h"
#include "exec/io/data/tokens/bpe.h"

namespace debubble::exec {

/// A description encodes any text, or refuses a byte of it, and gives the text back.
static void use(const BpeDescription& description) {
    const auto tokenizer = bpe_tokenizer(description);
    const std::string text = "I'll say: 12 caf\u00e9s\n\n  \xff\xfe\u65e5<|endoftext|>";
    const auto tokens = tokenizer->encode(text);
    for (const std::int32_t token : tokens)
        if (token < 0 || token >= tokenizer->vocab()) std::abort();
    const bool changes = description.add_prefix_space || !description.added.empty();
    if (!changes && tokenizer->decode(tokens) != text) std::abort();
}

}  // namespace debubble::exec

/// Any bytes: a tokenizer.json, or a vocab.json and, after the first empty line, a merges.txt,
/// or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace debubble;
    using namespace debubble::exec;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        use(read_tokenizer_json(text, "tokenizer.json"));
    } catch (const InputError&) {
    }
    try {
        const std::size_t cut = std::min(text.find("\n\n"), text.size());
        use(read_vocab_and_merges(text.substr(0, cut), text.substr(cut), "vocab.json",
                                  "merges.txt"));
    } catch (const InputError&) {
    }
    return 0;
}
