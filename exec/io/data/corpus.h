#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "exec/io/data/tokens/tokenizer.h"

namespace debubble::exec {

enum class CorpusKind { Tokens, Text, JsonLines };

/// Documents in a file.
struct Corpus {
    CorpusKind kind = CorpusKind::Text;
    std::filesystem::path path;
    /// The folder in which tokens are kept. Empty: next to the corpus, or where that cannot be
    /// written, in debubble's folder of $XDG_CACHE_HOME (~/.cache).
    std::filesystem::path cache = {};
    /// The token after each document of JSON lines. Unset: the tokenizer's own.
    std::optional<std::int32_t> end_of_text = {};
};

/// The tokens of a corpus: of a text as it is, of JSON lines with end-of-text after each document.
/// It is tokenised the first time and kept as a token file, and tokenised again when the corpus's
/// size or time, the tokenizer or the token between documents has changed, or when the kept tokens
/// are damaged. Threads and processes may do so at the same time. Throws InputError if the corpus
/// is bad or of JSON lines that no token ends, WorldError if its tokens can be kept nowhere.
std::shared_ptr<const TokenFile> open_corpus(const Corpus& corpus, const Tokenizer& tokenizer);

}  // namespace debubble::exec
