#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/io/data/batches.h"
#include "exec/io/data/tokens/tokenizer.h"
#include "exec/io/mapped_file.h"
#include "scenarios/plan/scenario.h"

/// The data that a scenario trains on, and the corpora that it is made from.
namespace debubble::exec {

/// The data that a scenario trains on, by its keys `training.data.*` and `training.seed`.
struct TrainingData {
    Batches train;
    std::optional<Batches> eval;  ///< `data.eval`, each sample once and in order
    std::int32_t ignore_index = -100;
    std::vector<std::string> classes = {};  ///< names of the classes of images, by target
};

/// Throws InputError if the scenario names no data of the kind that its model learns from.
void check_source(const scenarios::Scenario& scenario);

/// Opens the data, and tokenises it if that was never done. Throws InputError if a key is missing,
/// a file is bad, or the data does not fit the model.
TrainingData open_training_data(const scenarios::Scenario& scenario);

enum class CorpusKind { Tokens, Text, JsonLines };

/// Documents in a file.
struct Corpus {
    CorpusKind kind = CorpusKind::Text;
    std::filesystem::path path;
    /// The folder in which tokens are kept. Unset: next to the corpus, or where that cannot be
    /// written, in debubble's folder of $XDG_CACHE_HOME (~/.cache).
    std::optional<std::filesystem::path> cache = {};
    /// The token after each document of JSON lines. Unset: the tokenizer's own.
    std::optional<std::int32_t> end_of_text = {};
};

/// The tokens of a corpus: of a text as it is, of JSON lines with end-of-text after each document.
/// It is tokenised the first time and kept as a token file, and tokenised again when the corpus's
/// size or time, the tokenizer or the token between documents has changed, or when the kept tokens
/// are damaged. Threads and processes may do so at the same time. Throws InputError if the corpus
/// is bad or of JSON lines that no token ends, WorldError if its tokens can be kept nowhere.
std::shared_ptr<const TokenFile> open_corpus(const Corpus& corpus, const Tokenizer& tokenizer);

/// Encodes a file that holds {"text": "..."} in every line: each line is a document, followed by
/// the token `end_of_text`. Blank lines are passed over. Throws InputError at a line that is
/// anything else.
void encode_json_lines(const MappedFile& file, const Tokenizer& tokenizer, std::int32_t end_of_text,
                       const TokenSink& sink);

/// The number of documents in such a file: of its lines that are not blank.
std::int64_t count_json_lines(const MappedFile& file);

}  // namespace debubble::exec
