#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/jobs/job.h"
#include "scenarios/jobs/write/exported.h"
#include "scenarios/read/read_scenario.h"
#include "text/shipped_files.h"

/// Every network of the zoo as a job of Megatron-LM, Megatron-Bridge and torchtitan: it is the
/// network when it is read back, or the job names it as what it does not say, or nothing is written
/// and a sentence says why.
namespace debubble::jobs {
namespace {

using scenarios::Scenario;

Scenario plan_of(const std::string& model) {
    return scenarios::parse_scenario(
        fmt::format(
            "model: {}\ncluster: hgx-h100\nparallel: {{data: 8}}\ntraining: {{global_batch: "
            "8, micro_batch: 1, seq_length: 1024}}\nframework: megatron-2026\n",
            model),
        "plan.yaml");
}

/// The sentence by which the job names its network; empty if it has it.
std::string unsaid_network(const Exported& exported) {
    for (const Unsaid& one : exported.unsaid)
        if (one.key == "model" || one.key.starts_with("model.")) return one.sentence;
    return {};
}

enum class Word { Said, Named, Refused };

Word word_of(const Scenario& scenario, const std::string& format) {
    Exported exported;
    try {
        exported = export_job(scenario, format);
    } catch (const InputError& error) {
        const std::string& sentence = error.diagnostics().front().message;
        EXPECT_GT(sentence.size(), 30U) << scenario.model.name;
        EXPECT_THAT(sentence, testing::HasSubstr(scenario.model.name)) << format;
        return Word::Refused;
    }
    if (const std::string sentence = unsaid_network(exported); !sentence.empty()) {
        EXPECT_THAT(exported.text, testing::HasSubstr(sentence)) << scenario.model.name;
        return Word::Named;
    }
    std::vector<scenarios::Override> given{{"cluster", "hgx-h100"}, {"gpus", "8"}};
    for (const Unsaid& one : exported.unsaid) {
        if (one.key == "training.seq_length") given.emplace_back(one.key, "1024");
        if (one.key == "training.global_batch") given.emplace_back(one.key, "8");
    }
    const Imported back =
        import_text(exported.text, fmt::format("job{}", export_ending(format)), format, given);
    const Scenario again = scenarios::parse_scenario(back.text, "job.yaml");
    EXPECT_EQ(models::parameter_count(again.model), models::parameter_count(scenario.model))
        << scenario.model.name << " as " << format;
    EXPECT_EQ(models::active_parameter_count(again.model),
              models::active_parameter_count(scenario.model))
        << scenario.model.name << " as " << format;
    return Word::Said;
}

TEST(ZooJobs, SayTheirNetworkOrRefuseItInASentence) {
    for (const char* format : {"megatron", "bridge", "torchtitan"}) {
        int said = 0;
        for (const std::string& name : text::shipped_names("models/zoo")) {
            if (models::read_model(name).sees_images()) continue;  // ViT, which has no tokens
            const Scenario scenario = plan_of(name);
            if (word_of(scenario, format) == Word::Said) ++said;
        }
        EXPECT_GE(said, 10) << format;
    }
}

}  // namespace
}  // namespace debubble::jobs
