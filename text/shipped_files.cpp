#include "text/shipped_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "text/document_readers.h"
#include "text/mapping_reader.h"

namespace debubble::text {
namespace fs = std::filesystem;
namespace {

constexpr int kLongestChain = 8;  ///< of files that build on each other

/// The shipped documents that this process has read, each as it was at a time and of a size.
class KeptDocuments {
public:
    NodePtr get(const fs::path& path, const std::function<NodePtr()>& read) {
        std::error_code error;
        const State now{fs::last_write_time(path, error), fs::file_size(path, error)};
        if (error) return read();  // which says what is wrong
        {
            const std::lock_guard lock(mutex_);
            const auto known = kept_.find(path.string());
            if (known != kept_.end() && known->second.first == now) {
                note_file_read(path);
                return known->second.second;
            }
        }
        NodePtr tree = read();
        const std::lock_guard lock(mutex_);
        kept_[path.string()] = {now, tree};
        return tree;
    }

private:
    using State = std::pair<fs::file_time_type, std::uintmax_t>;
    std::mutex mutex_;
    std::map<std::string, std::pair<State, NodePtr>> kept_;
};

bool is_shipped(const fs::path& path) {
    const fs::path inside = path.lexically_relative(data_folder());
    return path.is_absolute() && !inside.empty() && *inside.begin() != "..";
}

}  // namespace

NodePtr read_document(const fs::path& path) {
    static auto& kept = *new KeptDocuments;
    const auto read = [&] {
        return path.extension() == ".json" ? read_json(path) : read_yaml(path);
    };
    return is_shipped(path) ? kept.get(path, read) : read();
}

std::vector<std::string> shipped_names(std::string_view folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& file : fs::directory_iterator(data_folder() / folder, error))
        if (file.path().extension() == ".yaml") names.push_back(file.path().stem().string());
    std::ranges::sort(names);
    return names;
}

bool is_path(std::string_view word) {
    return word.find('/') != std::string_view::npos || word.ends_with(".yaml") ||
           word.ends_with(".yml") || word.ends_with(".json");
}

fs::path seen_from(const SourcePosition& place, const std::string& path) {
    fs::path written(path);
    if (written.is_absolute() || !place.source) return written;
    return (fs::path(place.source->file).parent_path() / written).lexically_normal();
}

fs::path data_seen_from(const SourcePosition& place, const std::string& path) {
    fs::path seen = seen_from(place, path);
    const fs::path written(path);
    if (written.is_absolute() || !place.source) return seen;
    std::error_code error;
    const fs::path file = fs::absolute(place.source->file, error).lexically_normal();
    const fs::path shipped = fs::absolute(data_folder(), error).lexically_normal();
    const fs::path inside = file.lexically_relative(shipped);
    const bool is_shipped = !inside.empty() && *inside.begin() != "..";
    return is_shipped && !fs::exists(seen, error) ? written.lexically_normal() : seen;
}

NodePtr ShippedFiles::open(const fs::path& path) {
    const std::string key = path.lexically_normal().string();
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = read_.find(key); known != read_.end()) return known->second;
    }
    NodePtr tree = read_document(path);
    const std::lock_guard lock(mutex_);
    return read_.emplace(key, std::move(tree)).first->second;
}

NodePtr ShippedFiles::open_reference(const Node& word, std::string_view what,
                                     std::string_view folder, Mistakes& mistakes) {
    if (word.scalar.find('\0') != std::string::npos || word.scalar.empty()) {
        mistakes.add(word.place, fmt::format("'{}' is not the name of a {}", word.scalar, what));
        return nullptr;
    }
    const bool path = is_path(word.scalar);
    fs::path file = path ? seen_from(word.place, word.scalar)
                         : data_folder() / folder / (word.scalar + ".yaml");
    std::error_code error;
    if (what == "model" && fs::is_directory(file, error)) file /= "config.json";
    if (!fs::exists(file, error)) {
        if (path)
            mistakes.add(word.place, fmt::format("no such file: {}", file.string()));
        else
            mistakes.add(word.place, unknown_word(what, word.scalar, shipped_names(folder)),
                         Diagnostic::Kind::UnknownName);
        return nullptr;
    }
    try {
        return open(file);
    } catch (const InputError& problem) {
        mistakes.add(problem);
        return nullptr;
    }
}

NodePtr ShippedFiles::foundation(NodePtr value, std::string_view what, std::string_view folder) {
    Mistakes ignored;
    for (int depth = 0; value && depth <= kLongestChain; ++depth) {
        if (value->is(Node::Kind::Map)) {
            value = value->get("base");
            continue;
        }
        if (!value->is(Node::Kind::Scalar)) return nullptr;
        if (!is_path(value->scalar)) return resolve(value, what, folder, ignored);
        value = open_reference(*value, what, folder, ignored);
    }
    return nullptr;
}

NodePtr ShippedFiles::resolve(const NodePtr& value, std::string_view what, std::string_view folder,
                              Mistakes& mistakes, const Rewrite& as_base) {
    return resolve(value, what, folder, mistakes, as_base, 0);
}

NodePtr ShippedFiles::resolve(const NodePtr& value, std::string_view what, std::string_view folder,
                              Mistakes& mistakes, const Rewrite& as_base, int depth) {
    if (depth > kLongestChain) {
        mistakes.add(
            value->place,
            fmt::format("more than {} files build on each other by 'base'; do they form a cycle?",
                        kLongestChain));
        return nullptr;
    }
    if (value->is(Node::Kind::Scalar)) {
        const NodePtr tree = open_reference(*value, what, folder, mistakes);
        if (!tree || !tree->is(Node::Kind::Map)) {
            if (tree)
                mistakes.add(tree->place,
                             fmt::format("a {} is a map, not {}", what, describe(*tree)));
            return nullptr;
        }
        return resolve(tree, what, folder, mistakes, as_base, depth + 1);
    }
    if (!value->is(Node::Kind::Map)) {
        mistakes.add(value->place, fmt::format("a {} is a name, a path or a map, not {}", what,
                                               describe(*value)));
        return nullptr;
    }
    const NodePtr base = value->get("base");
    if (!base) return value;
    const NodePtr own = without(value, "base");
    if (base->is(Node::Kind::Null)) return own;
    const NodePtr under = resolve(base, what, folder, mistakes, as_base, depth + 1);
    if (!under) return nullptr;
    return merged_deeply(as_base ? *as_base(under) : *under, *own);
}

}  // namespace debubble::text
