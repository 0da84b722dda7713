#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/plan/scenario.h"

/// The verdict of a framework's own checks on a plan: a plan that the framework would not start may
/// be predicted all the same. Rules of Megatron-LM d98e8a64dd, torchtitan b5bcd76c6, PyTorch 2.15
/// and DeepSpeed edaa72212.
namespace debubble::scenarios {

struct FrameworkRefusal {
    std::string_view framework;  ///< "Megatron-LM"
    std::string sentence;        ///< without a full stop
    std::string_view place;      ///< the file and the function that check it
    friend bool operator==(const FrameworkRefusal&, const FrameworkRefusal&) = default;
};

/// Every rule that the plan breaks, of the software that its `framework` stands for; none for
/// debubble's own executor.
std::vector<FrameworkRefusal> framework_refusals(const Scenario& scenario);

/// "Megatron-LM would refuse this: 46 layers are not a multiple of 4 pipeline ranks
/// (megatron/training/arguments.py, validate_args)".
std::string refusal_text(const FrameworkRefusal& refusal);

/// The list to which the rules of a framework add what a plan breaks.
class Refusals {
public:
    explicit Refusals(std::string_view framework) : framework_(framework) {}
    /// Adds the sentence if the plan is refused.
    void add(bool refused, std::string_view place, std::string sentence) {
        if (refused) all_.push_back({framework_, std::move(sentence), place});
    }
    std::vector<FrameworkRefusal> all() && { return std::move(all_); }

private:
    std::string_view framework_;
    std::vector<FrameworkRefusal> all_;
};

// The rules of each framework.
void check_megatron(const Scenario& scenario, Refusals& refusals);
void check_megatron_memory(const Scenario& scenario, Refusals& refusals);
void check_torchtitan(const Scenario& scenario, Refusals& refusals);
void check_deepspeed(const Scenario& scenario, Refusals& refusals);

/// "megatron-2026 has no dualpipe-v" where the framework's software lacks the scenario's schedule;
/// else empty. A schedule from a file always passes: whoever writes it has software that runs it.
std::string lacking_schedule(const Scenario& scenario);

/// True for a sentence of that function.
bool says_schedule_is_lacking(std::string_view reason);

}  // namespace debubble::scenarios
