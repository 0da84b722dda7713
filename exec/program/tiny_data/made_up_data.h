#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exec/io/data/images/image.h"

/// The content of small data: text in a language that nobody speaks, whose tokens have the shape of
/// a real tokenizer's, and pictures that can be distinguished.
namespace debubble::exec {

/// A byte-level BPE: 256 bytes, then syllables of two letters, then words of one to three
/// syllables with the space before them, each of which is one token.
struct MadeUpLanguage {
    std::vector<std::string> tokens;  ///< the bytes of each token; end-of-text is the one after
    std::vector<std::pair<std::string, std::string>> merges;  ///< two tokens each, earliest first
    std::vector<std::string> words;                           ///< with the space before them
};

/// The language with this many tokens, end-of-text among them: at least 257, at most 2^18. Those
/// beyond are never used.
MadeUpLanguage made_up_language(std::int64_t vocab);

/// Numbers that are the same on every machine.
class Draws {
public:
    explicit Draws(std::uint64_t seed) : engine_(seed) {}
    double unit();                          ///< from 0 to below 1
    std::int64_t below(std::int64_t size);  ///< from 0 to below `size`
    /// The same with small numbers most often, as for words of a language: most of them are below
    /// size / 16.
    std::int64_t skewed(std::int64_t size);

private:
    std::mt19937_64 engine_;
};

/// Text of this many words, in sentences.
std::string made_up_text(const MadeUpLanguage& language, std::int64_t words, Draws& draws);

/// tokenizer.json of Hugging Face, and the pair of files in which GPT-2 was published.
std::string tokenizer_json(const MadeUpLanguage& language);
std::string vocab_json(const MadeUpLanguage& language);
std::string merges_txt(const MadeUpLanguage& language);

// Pictures that differ in the direction of their stripes and in their colour.

/// A colour picture of one of `classes` classes; those of a class differ by their noise.
Image made_up_image(int label, int classes, int side, std::uint64_t seed);

/// The bytes of a PNG, not compressed. Precondition: three channels.
std::string png_of(const Image& image);

struct ImageCount {
    int classes = 2;
    int per_class = 1;
    int side = 32;
    std::uint64_t seed = 0;
};

/// A folder for each class with its PNGs. The folder has its name when it is whole.
void write_image_folder(const std::filesystem::path& folder, const ImageCount& count);

/// A file of CIFAR-10's binary version. Precondition: at most ten classes; the side is CIFAR's, 32.
void write_cifar_file(const std::filesystem::path& file, const ImageCount& count);

}  // namespace debubble::exec
