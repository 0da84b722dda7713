#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"

/// How far measured steps were from their predictions, by classes of steps that are alike: the
/// range that a prediction has. The classes are a shipped file, scenarios/residuals/steps.json,
/// which bench/accuracy.py writes from the tables of measured steps.
namespace debubble::sim {

/// What makes steps alike. In a class, an empty word stands for any.
struct StepClass {
    std::string framework;  ///< name of its profile
    std::string gpu;        ///< name of the GPU
    std::string precision;  ///< type of the products
    std::string sharding;   ///< "experts", "zero-3", "pipeline", "tensor" or "data": the first of
                            ///< them that the plan has
    std::string length;     ///< "long" from 16,384 tokens on or with context parallelism, else
                            ///< "short"
    friend bool operator==(const StepClass&, const StepClass&) = default;

    bool covers(const StepClass& step) const;
    std::string words() const;  ///< "megatron-2026, NVIDIA H100-SXM5-80GB, bf16, pipeline"
};
StepClass class_of(const scenarios::Scenario& scenario);

/// Measured over predicted seconds of the steps of a class: the tenth, fiftieth and ninetieth
/// percentile.
struct ClassResiduals {
    StepClass steps;
    int rows = 0;
    double low = 1;
    double middle = 1;
    double high = 1;
    bool of_relative = false;  ///< of another GPU, and widened, since none ran on this one
};

/// Measured over predicted bytes of the peaks of a class of steps. An empty word stands for any.
struct MemoryResiduals {
    std::string framework;  ///< name of its profile
    std::string network;    ///< "experts" or "dense"
    int rows = 0;
    double low = 1;
    double middle = 1;
    double high = 1;

    std::string words() const;  ///< "megatron-2026, dense"
    friend bool operator==(const MemoryResiduals&, const MemoryResiduals&) = default;
};

struct Residuals {
    std::vector<ClassResiduals> classes;
    std::vector<MemoryResiduals> memory;
    /// GPUs without measured steps, each with the one that is most like it.
    std::map<std::string, std::string> relatives;
};

/// The share of the rows between `low` and `high`.
inline constexpr double kResidualShare = 0.8;

/// A residuals' file. Throws InputError with every mistake.
Residuals parse_residuals(const std::string& text, const std::string& file);

/// The class of `known` that shares most words with the step, sharding being given up first, then
/// precision, the framework and the length; where no measured step ran on its GPU, that of its
/// relative, half as wide again; nothing if it has none.
std::optional<ClassResiduals> residuals_of(const StepClass& step, const Residuals& known);
/// The same from the shipped file. Nothing for a machine that was calibrated: its own
/// measurements stand behind its predictions.
std::optional<ClassResiduals> residuals_of(const scenarios::Scenario& scenario);

/// The class of peaks that shares most with the scenario's, its framework being given up first;
/// nothing for what this program runs itself, whose plan holds within a hundredth, and for a
/// machine that was calibrated.
std::optional<MemoryResiduals> memory_residuals_of(const scenarios::Scenario& scenario,
                                                   const Residuals& known);
std::optional<MemoryResiduals> memory_residuals_of(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
