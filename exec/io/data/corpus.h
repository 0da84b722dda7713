#pragma once

#include <filesystem>
#include <memory>

#include "exec/io/data/tokenizer.h"

namespace debubble::exec {

enum class CorpusKind { Tokens, Text, JsonLines };

/// Documents in a file.
struct Corpus {
    CorpusKind kind = CorpusKind::Text;
    std::filesystem::path path;
    /// Where tokens are kept. Empty: beside the corpus, or where that may not be written, in
    /// debubble's folder of $XDG_CACHE_HOME (~/.cache).
    std::filesystem::path cache = {};
};

/// The tokens of a corpus: a text as it is, JSON lines with end-of-text after each document.
/// Tokenised the first time and kept as a token file; made again when the corpus's size or
/// time, or the tokenizer, is another, or when the kept tokens are damaged. Threads and
/// processes may do so at once. Throws InputError if the corpus is bad, WorldError if its
/// tokens can be kept nowhere.
std::shared_ptr<const TokenFile> open_corpus(const Corpus& corpus, const Tokenizer& tokenizer);

}  // namespace debubble::exec
