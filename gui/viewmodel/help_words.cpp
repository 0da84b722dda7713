#include "gui/viewmodel/help_words.h"

#include "gui/viewmodel/timeline/wording.h"
#include "gui/viewmodel/timeline/words.h"
#include "schedule/generators/generators.h"
#include "trace/statistics.h"

namespace debubble::gui {
namespace {

std::string meaning_of(BubbleCause cause) {
    switch (cause) {
        case BubbleCause::WarmUp: return said("help", "before the rank's first compute");
        case BubbleCause::CoolDown:
            return said("help", "after the rank's last compute, while others still compute");
        case BubbleCause::OtherStage: return said("help", "another rank's compute is not done yet");
        case BubbleCause::Link: return said("help", "the message is ready and has not arrived");
        case BubbleCause::Collective:
            return said("help", "peers of a gather or reduction are late");
        case BubbleCause::Optimizer: return said("help", "no rank computes any more");
        case BubbleCause::Launch: return said("help", "all inputs are there, and the host is late");
        case BubbleCause::UnevenLoad:
            return said("help", "another rank has a greater load than the mean");
    }
    return {};
}

}  // namespace

std::vector<HelpWord> help_words() {
    std::vector<HelpWord> words{
        {said("help", "2F7"),
         said("help", "the forward of stage 2, microbatch 7; 2F7.1 of its slice 1")},
        {said("help", "B, I, W"), said("help",
                                       "backward; its halves: I makes the gradient of the input, "
                                       "which the stage before needs, "
                                       "and W that of the weights, which can wait")},
        {said("help", "R"),
         said("help", "a forward that is computed again, from the stage's saved input")},
        {said("help", "step"), said("help", "from the first action of all ranks to the last")},
        {said("help", "bubble"),
         said("help", "1 - computes / (ranks x makespan); a rank's idle time")},
        {said("help", "makespan"), said("help", "from the first compute of all ranks to the last")},
        {said("help", "exposed"),
         said("help", "communication during which the rank computes nothing")},
        {said("help", "MFU"),
         said("help",
              "model FLOPs per second over the peak of their type; masked attention counts whole")},
        {said("help", "MFU, causal"), said("help", "the same with only what the mask leaves")},
        {said("help", "HFU"), said("help", "the same with what is computed again")},
        {said("help", "peak"),
         said("help", "the most memory that a rank holds; the allocator reserves some more")},
    };
    for (std::size_t i = 0; i < kBubbleCauses; ++i) {
        const auto cause = static_cast<BubbleCause>(i);
        words.push_back({said_cause(cause), meaning_of(cause)});
    }
    return words;
}

std::string program_version() {
    return DEBUBBLE_VERSION;
}

std::vector<HelpWord> help_schedules() {
    std::vector<HelpWord> words;
    for (const Generator& generator : generators())
        words.push_back(
            {std::string(generator.name), said("schedules", std::string(generator.summary))});
    return words;
}

}  // namespace debubble::gui
