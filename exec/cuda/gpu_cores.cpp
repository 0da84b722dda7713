#include "exec/cuda/gpu_placement.h"

#include <sched.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>

namespace debubble::exec {

namespace {

constexpr int kMostCores = 1 << 16;

/// Takes a number from the front of the text.
std::optional<int> take_number(std::string_view& text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0 || number >= kMostCores) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}
bool take(std::string_view& text, char letter) {
    if (text.empty() || text.front() != letter) return false;
    text.remove_prefix(1);
    return true;
}

std::vector<int> allowed_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cores;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) cores.push_back(core);
    return cores;
}

}  // namespace

std::vector<int> cores_of_list(std::string_view list) {
    std::vector<int> cores;
    do {
        const auto first = take_number(list);
        const auto last = first && take(list, '-') ? take_number(list) : first;
        if (!first || !last || *last < *first) return {};
        for (int core = *first; core <= *last; ++core) cores.push_back(core);
    } while (take(list, ','));
    if (!list.empty()) return {};
    std::ranges::sort(cores);
    return cores;
}

std::vector<int> cores_near(const std::string& bus_id, const std::filesystem::path& sys) {
    std::string name = bus_id;
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::ifstream file(sys / "bus/pci/devices" / name / "local_cpulist");
    std::string list;
    std::getline(file, list);
    return cores_of_list(list);
}

std::vector<int> cores_to_use(const std::vector<int>& near, const std::vector<int>& allowed) {
    std::vector<int> both;
    std::ranges::set_intersection(near, allowed, std::back_inserter(both));
    return both.size() == allowed.size() ? std::vector<int>{} : both;
}

void stay_near(const std::string& bus_id, const std::filesystem::path& sys) {
    cpu_set_t set;
    CPU_ZERO(&set);
    const std::vector<int> cores = cores_to_use(cores_near(bus_id, sys), allowed_cores());
    for (const int core : cores)
        if (core < CPU_SETSIZE) CPU_SET(core, &set);
    // A refusal leaves the thread where it was, which is slower at most.
    if (!cores.empty()) ::sched_setaffinity(0, sizeof set, &set);
}

}  // namespace debubble::exec
