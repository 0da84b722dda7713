#pragma once

#include <filesystem>
#include <string_view>

#include "exec/io/data/tokens/bpe_tokenizer.h"

namespace debubble::exec {

/// Reads a tokenizer.json of Hugging Face: byte-level BPE that splits words by GPT-2's expression
/// or by one of its own (as Llama 3's does), without a normalizer. Tokens that a post-processor
/// would add to a text are not added. Throws InputError; `file` is its name.
BpeDescription read_tokenizer_json(std::string_view text, const std::filesystem::path& file);

/// Reads a vocab.json and a merges.txt, the form in which GPT-2 was published.
BpeDescription read_vocab_and_merges(std::string_view vocab, std::string_view merges,
                                     const std::filesystem::path& vocab_file,
                                     const std::filesystem::path& merges_file);

}  // namespace debubble::exec
