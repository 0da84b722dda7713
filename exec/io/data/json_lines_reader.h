#pragma once

#include "exec/io/data/tokens/tokenizer.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {

/// Encodes a file that holds {"text": "..."} in every line: each line is a document, followed by
/// the token `end_of_text`. Blank lines are passed over. Throws InputError at a line that is
/// anything else.
void encode_json_lines(const MappedFile& file, const Tokenizer& tokenizer, std::int32_t end_of_text,
                       const TokenSink& sink);

/// The number of documents in such a file: of its lines that are not blank.
std::int64_t count_json_lines(const MappedFile& file);

}  // namespace debubble::exec
