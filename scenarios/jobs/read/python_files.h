#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/jobs/read/reading.h"
#include "text/document.h"

/// Training scripts in Python: their calls, of which literal arguments are read, and questions
/// about everything else. Nothing is executed. Private to the folder.
namespace debubble::jobs {

// Calls in a Python file, of which literal arguments are read. Nothing is executed.

struct PythonArgument {
    std::optional<std::string> name;  ///< unset for an argument by position
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

// Settings that jobs leave to the Python script that starts them: the model, the length of samples,
// recomputation.

/// Asks for model, cluster and GPUs, with the pipeline that the command line may give. Returns the
/// data-parallel replicas, if they are known.
std::optional<std::int64_t> read_python_degrees(Reading& job, std::int64_t tensor,
                                                std::int64_t context);

/// Writes attention and recomputation, and asks for the length of samples.
void read_python_training(Reading& job);

}  // namespace debubble::jobs
