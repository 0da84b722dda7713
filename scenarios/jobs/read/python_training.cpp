#include "scenarios/jobs/read/python_files.h"

#include <fmt/format.h>

namespace debubble::jobs {

std::optional<std::int64_t> read_python_degrees(Reading& job, std::int64_t tensor,
                                                std::int64_t context) {
    if (!job.has_model())
        job.ask(
            "the model is defined in Python; give a config.json, or a name from `debubble list "
            "models`, by --set model=FILE");
    settle_cluster(job);
    const auto given = [&](const char* key, std::int64_t otherwise) {
        return job.given_whole(key).value_or(otherwise);
    };
    const std::int64_t t = given("parallel.tensor", tensor);
    const std::int64_t p = given("parallel.pipeline", 1);
    const std::int64_t c = given("parallel.context", context);
    World world;
    world.per_replica = t * p * c;
    world.product = fmt::format("tensor {} x pipeline {} x context {}", t, p, c);
    if (const auto processes = job.in.whole("num_processes", 1, kMost)) {
        world.of_job = processes;
        world.from = job.in.find("num_processes");
        world.launcher = fmt::format("{} processes", *processes);
    }
    return settle_world(job, world);
}

void read_python_training(Reading& job) {
    if (!job.given("training.seq_length"))
        job.ask(
            "how many tokens does a sample have? The script determines it; give them by --set "
            "training.seq_length=N");
    job.set("training.recompute", std::string("none"), nullptr, "the script's, if it recomputes");
    job.set("training.attention", std::string("flash"), nullptr, "the script's");
}

}  // namespace debubble::jobs
