#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "exec/io/data/tokens/tokenizer.h"

namespace debubble::exec {

/// A folder of this test alone, gone with it.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    /// Writes a file and gives its path.
    std::filesystem::path with(const std::string& name, const std::string& content) const;
    std::vector<std::string> names() const;  ///< of its files, sorted

private:
    std::filesystem::path path_;
};

/// The sentence of the exception that `call` throws; empty if it throws none.
template <class Error, class Call>
std::string sentence_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::filesystem::path write_tokens(const Folder& folder, const std::string& name,
                                   const std::vector<std::int32_t>& tokens,
                                   TokenWidth width = TokenWidth::Bits16);

}  // namespace debubble::exec
