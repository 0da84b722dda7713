#pragma once

#include <filesystem>
#include <memory>

#include "exec/io/data/tokens/tokenizer.h"

namespace debubble::exec {

/// The tokenizer at `path`: a tokenizer.json of Hugging Face, a vocab.json with its merges.txt next
/// to it, or a folder with either. An empty path means bytes. Throws InputError.
std::unique_ptr<Tokenizer> make_tokenizer(const std::filesystem::path& path);

}  // namespace debubble::exec
