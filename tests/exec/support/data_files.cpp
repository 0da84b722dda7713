#include "tests/exec/support/data_files.h"

#include <algorithm>

#include <unistd.h>

#include "base/file.h"

namespace debubble::exec {
namespace fs = std::filesystem;

Folder::Folder() {
    std::string pattern = (fs::temp_directory_path() / "debubble-data-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
}

Folder::~Folder() {
    fs::remove_all(path_);
}

fs::path Folder::with(const std::string& name, const std::string& content) const {
    write_file(path_ / name, content);
    return path_ / name;
}

std::vector<std::string> Folder::names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path_))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

fs::path write_tokens(const Folder& folder, const std::string& name,
                      const std::vector<std::int32_t>& tokens, TokenWidth width) {
    write_token_file(folder / name, width, "", [&](const TokenSink& sink) { sink(tokens); });
    return folder / name;
}

}  // namespace debubble::exec
