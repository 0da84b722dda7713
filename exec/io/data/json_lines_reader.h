#pragma once

#include "exec/io/data/tokenizer.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {

/// Encodes a file that holds {"text": "..."} in every line: each line is a document, followed by
/// the tokenizer's end-of-text. Blank lines are passed over. Throws InputError at a line that is
/// anything else, or if the tokenizer has no end-of-text.
void encode_json_lines(const MappedFile& file, const Tokenizer& tokenizer, const TokenSink& sink);

}  // namespace debubble::exec
