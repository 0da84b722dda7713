#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/units.h"
#include "sim/network/max_min.h"

/// Work over shared links, small enough that SimGrid can play it beside sim/.
namespace debubble::sim {

/// Begins when all that it waits for has begun or ended, passes `delay`, then moves its
/// bytes over all its links at once. Without links it ends after its delay.
struct Item {
    Duration delay{};
    Bytes bytes;
    FlowLinks links;
    std::vector<std::int32_t> after_begin;  ///< items that wait for its begin
    std::vector<std::int32_t> after_end;
    bool moves() const { return !links.empty() && bytes.count > 0; }
};

struct Case {
    std::vector<double> capacity;  ///< bytes per second, by link
    std::vector<Item> items;
    std::vector<double> ends;  ///< s, as sim/ plays them; NaN where it does not tell
};

/// Cases of one kind: a row of the table.
struct Family {
    std::string name;
    std::vector<Case> cases;
};

/// Flows that begin at random times over random links, some after another one.
Case random_case(std::mt19937& random);
/// A ring all-reduce over so many GPUs of DGX A100 nodes, step by step: a member sends
/// on what it has received. Another ring over the same cards crosses it, if asked.
Case ring_case(int gpus, Bytes bytes, bool crossed);
/// Every pipeline rank sends to every other: inside nodes, over cards and over spines.
Case tiers_case(int ranks, Bytes bytes);
/// A shipped scenario's Program: its computes as delays, its messages and reductions.
Case program_case(const std::string& scenario);

/// Fills `ends` by FlowNetwork.
void play_here(Case& played);

/// When the items of each case end, s. May be called once in a process.
/// `latency_on_route`: a flow's delay is its route's latency, by which SimGrid weighs the
/// shares of flows, as TCP does; else the flow begins after it.
std::vector<std::vector<double>> play_in_simgrid(const std::vector<const Case*>& cases,
                                                 bool latency_on_route);

}  // namespace debubble::sim
