#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "schedule/generators/generator_options.h"
#include "schedule/lower_options.h"
#include "schedule/schedule.h"

namespace debubble::scenarios {

/// A program that several plans share, and its hash, which is computed when it is first asked for.
/// Thread-safe.
class Lowered {
public:
    explicit Lowered(Program program) : program_(std::move(program)) {}
    const Program& program() const { return program_; }
    const std::string& hash() const;

private:
    Program program_;
    mutable std::once_flag hashed_;
    mutable std::string hash_;
};

/// All that the program of a generated schedule depends on.
struct GeneratedOrder {
    std::string generator;
    PipelineShape shape;
    GeneratorOptions options;
    LowerOptions lowering;
    friend bool operator==(const GeneratedOrder&, const GeneratedOrder&) = default;
};

/// lower() of the schedule that the order gives; null for a large one. The plans of a sweep that
/// differ in what passes cost have one program: the latest small ones are kept for the process.
std::shared_ptr<const Lowered> lowered(const GeneratedOrder& order, const Schedule& schedule);

}  // namespace debubble::scenarios
