#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "exec/program/tiny_data/made_up_data.h"
#include "scenarios/plan/scenario.h"

/// Small data, made where a scenario looks for its own.
namespace debubble::exec {

/// Makes small data where a scenario looks for its own (`training.data`): text in a made-up
/// language and a tokenizer for it, token files or images, of the lengths, vocabulary and classes
/// of the scenario. Returns a sentence for each file or folder. Throws InputError, before anything
/// is written, if the scenario names no data, or data that is there already or lies outside the
/// folder where the program runs.
std::vector<std::string> make_tiny_data(const scenarios::Scenario& scenario);

// The files of small data, each with what writes it. Data of another seed is other data of the
// same kind.

/// One file or folder to make.
struct MadeFile {
    std::string key;  ///< of the scenario, which names it
    std::filesystem::path path;
    std::string content;  ///< for a sentence
    std::function<void(const std::filesystem::path&)> write;
};

/// The size of a corpus: the number of samples, and their tokens.
struct CorpusSize {
    std::int64_t samples = 0;
    std::int64_t length = 0;
};

/// The size for a scenario. Throws InputError if its sequences are not small.
CorpusSize corpus_size_for(const scenarios::Scenario& scenario);

/// Documents are concatenated, if `pack`; else some are shorter than a sample.
MadeFile json_lines_item(const CorpusSize& amount, bool pack, const MadeUpLanguage& language,
                         int seed);
MadeFile text_item(const CorpusSize& amount, const MadeUpLanguage& language, int seed);
MadeFile tokens_item(const CorpusSize& amount, const scenarios::Scenario& scenario, int seed);
/// `cifar`: a file of CIFAR-10's form, else a folder of PNGs. Throws InputError if the model tells
/// too many classes apart.
MadeFile images_item(const scenarios::Scenario& scenario, bool cifar, int seed);
/// A tokenizer.json or, where the path ends so, a vocab.json. Throws InputError for other endings.
MadeFile tokenizer_item(const std::filesystem::path& path, const MadeUpLanguage& language);

}  // namespace debubble::exec
