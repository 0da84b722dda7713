#pragma once

#include "exec/io/data/tokenizer.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {

/// The tokens of a file that holds {"text": "..."} in every line, a document each, and after
/// each document the tokenizer's end-of-text. Blank lines are passed over. Throws InputError
/// at the line that is anything else, or if the tokenizer has no end-of-text.
void encode_json_lines(const MappedFile& file, const Tokenizer& tokenizer, const TokenSink& sink);

}  // namespace debubble::exec
