#pragma once

#include <filesystem>
#include <memory>

#include "exec/io/data/tokenizer.h"

namespace debubble::exec {

/// From `path`: a tokenizer.json of Hugging Face, a vocab.json with its merges.txt beside it,
/// or a folder with either. An empty path stands for the bytes. Throws InputError.
std::unique_ptr<Tokenizer> make_tokenizer(const std::filesystem::path& path);

}  // namespace debubble::exec
