#include "tests/exec/cuda/nccl/fake_nccl.h"

#include <algorithm>

#include "exec/comm/local/meeting.h"

namespace debubble::exec::nccl {

namespace {

using Participants = std::vector<FakeLibrary::Participant>;

void copy(const ConstBuffer& from, const Buffer& to) {
    if (from.bytes.data() == to.bytes.data()) return;
    std::copy_n(from.bytes.data(), std::min(from.bytes.size(), to.bytes.size()), to.bytes.data());
}

std::vector<ConstBuffer> sources(const Participants& participants) {
    std::vector<ConstBuffer> all;
    for (const auto& participant : participants) all.push_back(participant.in);
    return all;
}

}  // namespace

/// Memory of the host.
class FakeMemory final : public DeviceMemory {
public:
    std::byte* reserve(Bytes size) override {
        return new std::byte[static_cast<std::size_t>(size.count)];
    }
    void release(std::byte* memory) noexcept override { delete[] memory; }
};

std::shared_ptr<DeviceMemory> FakeCalls::memory() {
    return library_.offers_memory ? std::make_shared<FakeMemory>() : nullptr;
}

/// The first answer is that the call is under way.
Answer FakeCalls::register_range(Handle communicator, std::span<std::byte> range) {
    const std::lock_guard lock(library_.mutex);
    const auto at =
        std::ranges::find(own_, communicator, [](const auto& own) -> void* { return own.get(); });
    library_.registered[this].emplace_back(static_cast<std::size_t>(at - own_.begin()), range);
    return {.in_progress = true};
}

Answer FakeCalls::init(Handle& made, int ranks, const Id& id, int rank, Purpose purpose) {
    const std::lock_guard lock(library_.mutex);
    library_.purposes[this].push_back(purpose);
    FakeLibrary::World& world = library_.worlds[id];
    world.ranks = ranks;
    ++world.joined;
    library_.inits.emplace_back(this, world.number);
    made = own_.emplace_back(std::make_unique<Own>(Own{&world, rank})).get();
    return {.in_progress = true};
}

Answer FakeCalls::state(Handle communicator) {
    const std::lock_guard lock(library_.mutex);
    const Own& own = *static_cast<Own*>(communicator);
    return {own.world->joined < own.world->ranks, broken_};
}

void FakeCalls::abort(std::span<const Handle> communicators) noexcept {
    const std::lock_guard lock(library_.mutex);
    for (const Handle communicator : communicators)
        static_cast<Own*>(communicator)->world->aborted = true;
    library_.changed.notify_all();
}

Answer FakeCalls::occupy(Handle communicator, DeviceLane lane, FakeLibrary::Participant participant,
                         Work work) {
    Own& own = *static_cast<Own*>(communicator);
    lanes_.ask(
        lane, [&library = library_, &order = order_, turn = order_.issued++, &world = *own.world,
               rank = own.rank, number = own.next++, participant, work = std::move(work)] {
            std::unique_lock lock(library.mutex);
            library.changed.wait(lock, [&] { return order.started == turn || world.aborted; });
            order.started = std::max(order.started, turn + 1);
            library.changed.notify_all();
            FakeLibrary::Operation& operation = world.operations[number];
            operation.participants.resize(static_cast<std::size_t>(world.ranks));
            operation.participants[static_cast<std::size_t>(rank)] = participant;
            if (++operation.here == world.ranks && !library.stuck && !world.aborted) {
                work(operation.participants);
                operation.done = true;
                library.changed.notify_all();
            }
            library.changed.wait(lock, [&] { return operation.done || world.aborted; });
        });
    return {};
}

Answer FakeCalls::send(Handle to, ConstBuffer data, int, DeviceLane lane) {
    return occupy(to, lane, {data, {}}, [](Participants& p) { copy(p[0].in, p[1].out); });
}

Answer FakeCalls::receive(Handle from, Buffer data, int, DeviceLane lane) {
    return occupy(from, lane, {{}, data}, [](Participants& p) { copy(p[0].in, p[1].out); });
}

Answer FakeCalls::all_reduce(Handle all, Buffer data, Reduction reduction, DeviceLane lane) {
    return occupy(all, lane, {data, data}, [reduction](Participants& participants) {
        std::vector<Buffer> targets;
        for (const auto& participant : participants) targets.push_back(participant.out);
        reduce(sources(participants), targets, reduction, 0, targets[0].elements());
    });
}

Answer FakeCalls::all_gather(Handle all, ConstBuffer mine, Buffer whole, DeviceLane lane) {
    return occupy(all, lane, {mine, whole}, [](Participants& participants) {
        const int size = static_cast<int>(participants.size());
        for (const auto& to : participants)
            for (int i = 0; i < size; ++i)
                copy(participants[static_cast<std::size_t>(i)].in, to.out.part(i, size));
    });
}

Answer FakeCalls::reduce_scatter(Handle all, ConstBuffer whole, Buffer mine, Reduction reduction,
                                 DeviceLane lane) {
    return occupy(all, lane, {whole, mine}, [reduction](Participants& participants) {
        const int size = static_cast<int>(participants.size());
        std::vector<std::vector<std::byte>> sums;
        for (int i = 0; i < size; ++i) {  // an input may be the output
            std::vector<ConstBuffer> parts;
            for (const auto& participant : participants)
                parts.push_back(participant.in.part(i, size));
            auto& sum = sums.emplace_back(parts[0].bytes.size());
            const Buffer target(sum, parts[0].type);
            reduce(parts, {&target, 1}, reduction, 0, target.elements());
        }
        for (std::size_t i = 0; i < sums.size(); ++i)
            copy(Buffer(sums[i], participants[i].out.type), participants[i].out);
    });
}

Answer FakeCalls::all_to_all(Handle all, std::span<const ConstBuffer> out,
                             std::span<const Buffer> in, DeviceLane lane) {
    FakeLibrary::Participant mine;
    mine.ins.assign(out.begin(), out.end());
    mine.outs.assign(in.begin(), in.end());
    return occupy(all, lane, mine, [](Participants& participants) {
        for (std::size_t to = 0; to < participants.size(); ++to)
            for (std::size_t from = 0; from < participants.size(); ++from)
                copy(participants[from].ins[to], participants[to].outs[from]);
    });
}

Answer FakeCalls::reduce_scatter_uneven(Handle all, int, std::span<const ConstBuffer> pieces,
                                        Buffer mine, Reduction reduction, DeviceLane lane) {
    FakeLibrary::Participant own{{}, mine};
    own.ins.assign(pieces.begin(), pieces.end());
    return occupy(all, lane, own, [reduction](Participants& participants) {
        for (std::size_t to = 0; to < participants.size(); ++to) {
            std::vector<ConstBuffer> parts;
            for (const auto& participant : participants) parts.push_back(participant.ins[to]);
            const Buffer& target = participants[to].out;
            if (!target.bytes.empty()) reduce(parts, {&target, 1}, reduction, 0, target.elements());
        }
    });
}

Answer FakeCalls::broadcast(Handle all, Buffer data, int root, DeviceLane lane) {
    return occupy(all, lane, {data, data}, [root](Participants& participants) {
        for (const auto& participant : participants)
            copy(participants[static_cast<std::size_t>(root)].in, participant.out);
    });
}

}  // namespace debubble::exec::nccl
