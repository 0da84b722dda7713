#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// The one rule for where results of a command go: none of them replaces another one, nor what
/// they are made from.
namespace debubble {

class Outputs {
public:
    /// `option` is what a person calls it, as "--json". An empty `where` is not asked for, and "-"
    /// is standard output.
    void add(std::string_view option, const std::string& where);

    /// To be asked when all has been read and before anything is written. Throws InputError if two
    /// go to one file or to standard output, or one to a file that read_file has read or that was
    /// noted as read. Devices and pipes may be named as often as one likes.
    void check() const;

private:
    struct Output {
        std::string option;
        std::string where;
    };
    std::vector<Output> outputs_;
};

/// The name of a file in a folder, out of a name that somebody wrote. Throws InputError, which
/// calls it a `what`, if it would lead out of the folder or is no name of a file.
std::string file_name_of(std::string_view name, std::string_view what);

}  // namespace debubble
