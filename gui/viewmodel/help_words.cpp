#include "gui/viewmodel/help_words.h"

#include "schedule/generators/generators.h"
#include "trace/statistics.h"

namespace debubble::gui {
namespace {

std::string meaning_of(BubbleCause cause) {
    switch (cause) {
        case BubbleCause::WarmUp: return "before the rank's first compute";
        case BubbleCause::CoolDown:
            return "after the rank's last compute, while others still compute";
        case BubbleCause::OtherStage: return "another rank's compute is not done yet";
        case BubbleCause::Link: return "the message is ready and has not arrived";
        case BubbleCause::Collective: return "peers of a gather or reduction are late";
        case BubbleCause::Optimizer: return "no rank computes any more";
        case BubbleCause::Launch: return "all inputs are there, and the host is late";
        case BubbleCause::UnevenLoad: return "another rank has a greater load than the mean";
    }
    return {};
}

}  // namespace

std::vector<HelpWord> help_words() {
    std::vector<HelpWord> words{
        {"2F7", "the forward of stage 2, microbatch 7; 2F7.1 of its slice 1"},
        {"B, I, W",
         "backward; its halves: I makes the gradient of the input, which the stage before needs, "
         "and W that of the weights, which can wait"},
        {"R", "a forward that is computed again, from the stage's saved input"},
        {"step", "from the first action of all ranks to the last"},
        {"bubble", "1 - computes / (ranks x makespan); a rank's idle time"},
        {"makespan", "from the first compute of all ranks to the last"},
        {"exposed", "communication during which the rank computes nothing"},
        {"MFU",
         "model FLOPs per second over the peak of their type; masked attention counts whole"},
        {"MFU, causal", "the same with only what the mask leaves"},
        {"HFU", "the same with what is computed again"},
        {"peak", "the most memory that a rank holds; the allocator reserves some more"},
    };
    for (std::size_t i = 0; i < kBubbleCauses; ++i) {
        const auto cause = static_cast<BubbleCause>(i);
        words.push_back({std::string(wording_of(cause)), meaning_of(cause)});
    }
    return words;
}

std::string program_version() {
    return DEBUBBLE_VERSION;
}

std::vector<HelpWord> help_schedules() {
    std::vector<HelpWord> words;
    for (const Generator& generator : generators())
        words.push_back({std::string(generator.name), std::string(generator.summary)});
    return words;
}

}  // namespace debubble::gui
