#pragma once

#include <memory>

#include "exec/io/data/data_set.h"
#include "exec/io/data/tokens/token_file.h"

/// Data sets of tokens: inputs and targets are int32 [samples, T], targets shifted by one.
namespace debubble::exec {

struct TokenRules {
    std::int64_t seq_length = 1;       ///< T, in tokens
    std::int64_t vocab = 1;            ///< the model's vocabulary: tokens must be below it
    std::int32_t ignore_index = -100;  ///< a target of this value does not count
    std::int32_t pad_token = 0;        ///< input after a document's end; below vocab
};

/// The file cut every T tokens: sample k is tokens kT .. kT + T. The remainder at the end is not
/// shown. Throws InputError if the file is too short for one sample, or has a token that the model
/// does not know.
std::unique_ptr<DataSet> packed_tokens(std::shared_ptr<const TokenFile> file,
                                       const TokenRules& rules);

/// A sample for each document, that is, up to and including each `end_of_text`: its first T + 1
/// tokens, then padding. Documents of fewer than two tokens, which have nothing to predict, are
/// left out. Throws InputError if no document is left, or as above.
std::unique_ptr<DataSet> padded_documents(std::shared_ptr<const TokenFile> file,
                                          std::int32_t end_of_text, const TokenRules& rules);

}  // namespace debubble::exec
