#include "exec/io/data/tokens/tokenizer.h"

#include "base/file.h"
#include "exec/io/data/tokens/bpe.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongestFile = 64u << 20;  // bytes; Llama 3's file has 9 MB

/// The file in a tokenizer's folder, or `path` itself.
fs::path described_at(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return path;
    for (const char* name : {"tokenizer.json", "vocab.json"})
        if (fs::exists(path / name, error)) return path / name;
    throw bad_file(path, "the folder has no tokenizer.json and no vocab.json");
}

}  // namespace

std::unique_ptr<Tokenizer> make_tokenizer(const fs::path& path) {
    if (path.empty()) return byte_tokenizer();
    const fs::path file = described_at(path);
    const std::string text = read_file(file, kLongestFile);
    if (file.filename() != "vocab.json") return bpe_tokenizer(read_tokenizer_json(text, file));
    const fs::path merges = file.parent_path() / "merges.txt";
    return bpe_tokenizer(
        read_vocab_and_merges(text, read_file(merges, kLongestFile), file, merges));
}

}  // namespace debubble::exec
