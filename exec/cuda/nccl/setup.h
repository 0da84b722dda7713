#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/core/communicator/rank_grid.h"
#include "schedule/action.h"
#include "schedule/schedule.h"

/// The module debubble_nccl: its inputs from the program that loads it, and the functions that load
/// it.
namespace debubble::exec::nccl {

/// The versions of NCCL and the driver on this machine, as NCCL's functions and CUDA number them:
/// 22809 is NCCL 2.28.9, and 12030 a driver for CUDA 12.3.
struct Versions {
    int library = 0;
    int driver = 0;
};

/// "2.28.9" of 22809 (nccl.h, NCCL_VERSION; before 2.9 three digits less, as 2804 is 2.8.4).
std::string version_text(int library);

/// A sentence if kernels of several communicators could wait for each other for ever: they start in
/// launch order from NCCL 2.26.2 on (NCCL_LAUNCH_ORDER_IMPLICIT), and run concurrently only under a
/// driver for CUDA 12.3 or later; NCCL runs them one after the other under an earlier one (2.28.9,
/// src/enqueue.cc, getImplicitOrder). Nothing if both are new enough.
std::optional<std::string> too_old(const Versions& found);

/// A directed edge along which messages are sent between two positions of a group.
struct Edge {
    int from = 0;
    int to = 0;
    Message::Kind kind{};
    std::int32_t tag = 0;
    friend auto operator<=>(const Edge&, const Edge&) = default;
};

/// The use of a group: communicators are made for it in advance, in an order that is the same on
/// all its ranks.
struct GroupUse {
    std::vector<Edge> edges;
    bool collectives = true;
    /// Whether its ranks' kernels wait for each collective, as those of tensor, context and expert
    /// parallelism do inside a pass.
    bool callers_stand_still = false;
};
/// Groups whose collectives lie inside a pass.
bool stands_still(const RankGrid& grid, std::span<const int> ranks);
/// Gives the use of a group from its global ranks; the same on all ranks.
using GroupPlan = std::function<GroupUse(std::span<const int> ranks)>;

/// The edges of a Program between its pipeline ranks, each once, in order.
std::vector<Edge> edges_of(const Program& program);

/// The facts that the module debubble_nccl needs from the program that loads it.
struct Setup {
    Communicator& host;
    DeviceLanes& lanes;  ///< lanes of this rank's GPU, whose number is lanes.memory()
    /// Gives a lane's cudaStream_t.
    void* (*stream_of)(DeviceLanes& lanes, DeviceLane lane) = nullptr;
    GroupPlan plan;
    std::chrono::nanoseconds patience;
    bool some_share_a_gpu = false;  ///< whether processes share a GPU; the same for all ranks
    bool one_host = false;          ///< whether one host has all ranks; the same for all ranks
};

}  // namespace debubble::exec::nccl

extern "C" {
/// Asks NCCL and the driver for their versions; a number stays 0 where they give none.
void debubble_nccl_versions(debubble::exec::nccl::Versions& found);
/// Makes the communicator, which the caller deletes. Throws WorldError.
debubble::exec::Communicator* debubble_nccl_connect(const debubble::exec::nccl::Setup& setup);
}

namespace debubble::exec {

/// The reason why NCCL cannot be used, in one sentence; nothing if it can.
std::optional<std::string> why_no_nccl();

/// Makes a communicator by NCCL for GPUs' memory, on lanes of the CUDA module's devices; the setup
/// needs no stream_of. A collective over the host's ranks. Throws WorldError.
std::unique_ptr<Communicator> connect_nccl(nccl::Setup setup);

}  // namespace debubble::exec
