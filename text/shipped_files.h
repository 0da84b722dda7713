#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "text/document.h"

/// The files that are shipped with the program, and the way from a name to one of them.
namespace debubble::text {

/// The root of shipped data, laid out as the sources are (models/zoo/*.yaml, scenarios/*.yaml,
/// ...): DEBUBBLE_DATA_DIR, else the source tree that this program was built from, else the folder
/// where it was installed.
std::filesystem::path data_folder();
/// For a library that is installed with its data: data_folder() gives this folder where no
/// DEBUBBLE_DATA_DIR says another. Call it before any other function here.
void use_data_folder(const std::filesystem::path& folder);

/// The names of the YAML files in a subfolder of data_folder(), sorted.
std::vector<std::string> shipped_names(std::string_view folder);

/// The document of a YAML or JSON file. A shipped one that has not changed since it was read is not
/// read again by this process. Throws InputError.
NodePtr read_document(const std::filesystem::path& path);

/// Reads each file once. Any number of threads may use one object at once.
class ShippedFiles {
public:
    NodePtr open(const std::filesystem::path& path);

    /// The node that `value` (of a key that takes a `what`) stands for:
    ///   a word       the shipped file of that name in `folder`
    ///   a path       (it has a '/' or ends in .yaml, .yml, .json) that file, taken
    ///                from the folder of the file in which the path is written; the folder
    ///                of a model stands for the config.json in it
    ///   a map        itself, merged over what its `base` stands for, if it has one
    /// Null, with its mistakes added, if it stands for nothing. `as_base` rewrites a map before
    /// another one is merged over it.
    using Rewrite = std::function<NodePtr(const NodePtr&)>;
    NodePtr resolve(const NodePtr& value, std::string_view what, std::string_view folder,
                    Mistakes& mistakes, const Rewrite& as_base = {});

    /// The map of the shipped file on which the value is built, by its name or by the first `base`
    /// that is one; null if it is built on none.
    NodePtr foundation(NodePtr value, std::string_view what, std::string_view folder);

private:
    NodePtr resolve(const NodePtr& value, std::string_view what, std::string_view folder,
                    Mistakes& mistakes, const Rewrite& as_base, int depth);
    NodePtr open_reference(const Node& word, std::string_view what, std::string_view folder,
                           Mistakes& mistakes);

    std::mutex mutex_;
    std::map<std::string, NodePtr> read_;
};

/// True if the word is a path and not the name of a shipped file.
bool is_path(std::string_view word);

/// A path written in the file of `place`, relative to the folder where the program runs.
std::filesystem::path seen_from(const SourcePosition& place, const std::string& path);

/// The same for data files, few of which are shipped: a missing file named by a shipped one is
/// looked up in the working directory.
std::filesystem::path data_seen_from(const SourcePosition& place, const std::string& path);

}  // namespace debubble::text
