#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "tests/sim/simgrid/shared_links.h"

/// Plays the same flows by sim/ and by SimGrid's max-min model, and prints by how much
/// their completion times differ. Exit code 1 if by more than rounding explains.
///
///     flows_beside_simgrid [--latency-on-route]
namespace debubble::sim {
namespace {

/// Both round an end to its clock's grain, sim/ to whole nanoseconds, and every item that
/// waits for another one carries that on.
constexpr double kRounding = 1e-5;

struct Difference {
    std::size_t flows = 0;
    std::size_t items = 0;
    double sum = 0;
    double worst = 0;

    void add(const Case& played, const std::vector<double>& there) {
        for (std::size_t i = 0; i < there.size(); ++i) {
            flows += played.items[i].moves() ? 1 : 0;
            if (std::isnan(played.ends[i])) continue;
            const double longer = std::max(played.ends[i], there[i]);
            const double share = longer > 0 ? std::abs(played.ends[i] - there[i]) / longer : 0;
            sum += share;
            worst = std::max(worst, share);
            ++items;
        }
    }
    double mean() const { return items > 0 ? sum / static_cast<double>(items) : 0; }
};

std::vector<Family> families() {
    std::vector<Family> all;
    std::mt19937 random(1);
    Family& small = all.emplace_back(Family{"random flows over 2 to 6 links", {}});
    for (int i = 0; i < 500; ++i) small.cases.push_back(random_case(random));
    constexpr Bytes kGradients{1'000'000'000};
    all.push_back({"ring all-reduce, 8 GPUs of a node", {ring_case(8, kGradients, false)}});
    all.push_back({"ring all-reduce, 16 GPUs of 2 nodes", {ring_case(16, kGradients, false)}});
    all.push_back({"two rings that cross, 32 GPUs of 4 nodes", {ring_case(32, kGradients, true)}});
    all.push_back({"everyone to everyone, 32 GPUs of 4 nodes, 2 leaves",
                   {tiers_case(32, Bytes{25'000'000})}});
    for (const char* name : {"gpt2-xl-1f1b", "gpt2-xl-interleaved-1f1b", "gpt2-xl-dualpipe-v",
                             "llama-pipeline-3-hosts", "gpt3-175b", "megatron-gpt-145.6b",
                             "gpt2-xl-chimera", "mixtral-8x22b"})
        all.push_back({fmt::format("a step of {}", name), {program_case(name)}});
    return all;
}

int compare(bool latency_on_route) {
    const std::vector<Family> all = families();
    std::vector<const Case*> cases;
    for (const Family& family : all)
        for (const Case& played : family.cases) cases.push_back(&played);
    const auto there = play_in_simgrid(cases, latency_on_route);

    fmt::print("{:<52} {:>7} {:>7} {:>10} {:>10}\n", "case", "flows", "ends", "mean", "worst");
    double worst = 0;
    std::size_t next = 0;
    for (const Family& family : all) {
        Difference d;
        for (const Case& played : family.cases) d.add(played, there[next++]);
        fmt::print("{:<52} {:>7} {:>7} {:>10.1e} {:>10.1e}\n", family.name, d.flows, d.items,
                   d.mean(), d.worst);
        worst = std::max(worst, d.worst);
    }
    return latency_on_route || worst <= kRounding ? 0 : 1;
}

}  // namespace
}  // namespace debubble::sim

int main(int argc, char** argv) {
    const bool latency_on_route = argc > 1 && std::strcmp(argv[1], "--latency-on-route") == 0;
    return debubble::sim::compare(latency_on_route);
}
