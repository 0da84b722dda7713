#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/document.h"

/// Calls in a Python file, of which literal arguments are read. Nothing is executed. Private to the
/// folder.
namespace debubble::jobs {

struct PythonArgument {
    std::string name;  ///< empty for an argument by position
    /// A scalar or a list of literals; null if it is another expression.
    text::NodePtr value;
    text::SourcePosition place;
    std::string written;  ///< the expression as it stands, cut after 60 letters
};

struct PythonCall {
    std::string name;  ///< the last part of a dotted name
    text::SourcePosition place;
    std::vector<PythonArgument> arguments;

    const PythonArgument* find(std::string_view argument) const;
};

/// The calls in the order in which they begin, those inside of others too. Throws InputError for a
/// string or a bracket without its end and for brackets too deep.
std::vector<PythonCall> python_calls(const std::shared_ptr<const text::SourceText>& source);

}  // namespace debubble::jobs
