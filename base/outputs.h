#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// The one rule for the outputs of a command: none of them overwrites another one or a file from
/// which the results are made.
namespace debubble {

class Outputs {
public:
    /// `option` is the name that a person uses, such as "--json". An empty `where` means that the
    /// output was not requested, and "-" is standard output.
    void add(std::string_view option, const std::string& where);

    /// Call it when all inputs have been read and before anything is written. Throws InputError if
    /// two outputs go to one file or to standard output, or if one goes to a file that read_file
    /// has read or that was noted as read. Devices and pipes may be named any number of times.
    void check() const;

private:
    struct Output {
        std::string option;
        std::string where;
    };
    std::vector<Output> outputs_;
};

/// A file name inside a folder, made from a name that a person wrote. Throws InputError, which
/// calls the name a `what`, if the name leads out of the folder or is not a file name.
std::string file_name_of(std::string_view name, std::string_view what);

}  // namespace debubble
