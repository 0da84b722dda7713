#include "fake_nccl.h"

#include <algorithm>

#include "exec/comm/reduce.h"

namespace debubble::exec::nccl {

namespace {

using Parties = std::vector<FakeLibrary::Party>;

void copy(const ConstBuffer& from, const Buffer& to) {
    if (from.bytes.data() == to.bytes.data()) return;
    std::copy_n(from.bytes.data(), std::min(from.bytes.size(), to.bytes.size()), to.bytes.data());
}

std::vector<ConstBuffer> sources(const Parties& parties) {
    std::vector<ConstBuffer> all;
    for (const auto& party : parties) all.push_back(party.in);
    return all;
}

}  // namespace

Answer FakeCalls::init(Handle& made, int ranks, const Id& id, int rank, Purpose) {
    const std::lock_guard lock(library_.mutex);
    FakeLibrary::World& world = library_.worlds[id];
    world.ranks = ranks;
    ++world.joined;
    library_.inits.emplace_back(this, world.number);
    made = own_.emplace_back(std::make_unique<Own>(Own{&world, rank})).get();
    return {true, ""};
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
    library_.bell.notify_all();
}

Answer FakeCalls::occupy(Handle communicator, DeviceLane lane, FakeLibrary::Party party,
                         Work work) {
    Own& own = *static_cast<Own*>(communicator);
    lanes_.ask(lane,
               [&library = library_, &order = order_, turn = order_.issued++, &world = *own.world,
                rank = own.rank, number = own.next++, party, work = std::move(work)] {
                   std::unique_lock lock(library.mutex);
                   library.bell.wait(lock, [&] { return order.started == turn || world.aborted; });
                   order.started = std::max(order.started, turn + 1);
                   library.bell.notify_all();
                   FakeLibrary::Operation& operation = world.operations[number];
                   operation.parties.resize(static_cast<std::size_t>(world.ranks));
                   operation.parties[static_cast<std::size_t>(rank)] = party;
                   if (++operation.here == world.ranks && !library.stuck && !world.aborted) {
                       work(operation.parties);
                       operation.done = true;
                       library.bell.notify_all();
                   }
                   library.bell.wait(lock, [&] { return operation.done || world.aborted; });
               });
    return {};
}

Answer FakeCalls::send(Handle to, ConstBuffer data, int, DeviceLane lane) {
    return occupy(to, lane, {data, {}}, [](Parties& p) { copy(p[0].in, p[1].out); });
}

Answer FakeCalls::receive(Handle from, Buffer data, int, DeviceLane lane) {
    return occupy(from, lane, {{}, data}, [](Parties& p) { copy(p[0].in, p[1].out); });
}

Answer FakeCalls::all_reduce(Handle all, Buffer data, Reduction reduction, DeviceLane lane) {
    return occupy(all, lane, {data, data}, [reduction](Parties& parties) {
        std::vector<Buffer> targets;
        for (const auto& party : parties) targets.push_back(party.out);
        reduce(sources(parties), targets, reduction, 0, targets[0].elements());
    });
}

Answer FakeCalls::all_gather(Handle all, ConstBuffer mine, Buffer whole, DeviceLane lane) {
    return occupy(all, lane, {mine, whole}, [](Parties& parties) {
        const int size = static_cast<int>(parties.size());
        for (const auto& to : parties)
            for (int i = 0; i < size; ++i)
                copy(parties[static_cast<std::size_t>(i)].in, to.out.part(i, size));
    });
}

Answer FakeCalls::reduce_scatter(Handle all, ConstBuffer whole, Buffer mine, Reduction reduction,
                                 DeviceLane lane) {
    return occupy(all, lane, {whole, mine}, [reduction](Parties& parties) {
        const int size = static_cast<int>(parties.size());
        std::vector<std::vector<std::byte>> sums;
        for (int i = 0; i < size; ++i) {  // an input may be the output
            std::vector<ConstBuffer> parts;
            for (const auto& party : parties) parts.push_back(party.in.part(i, size));
            auto& sum = sums.emplace_back(parts[0].bytes.size());
            const Buffer target(sum, parts[0].type);
            reduce(parts, {&target, 1}, reduction, 0, target.elements());
        }
        for (std::size_t i = 0; i < sums.size(); ++i)
            copy(Buffer(sums[i], parties[i].out.type), parties[i].out);
    });
}

Answer FakeCalls::broadcast(Handle all, Buffer data, int root, DeviceLane lane) {
    return occupy(all, lane, {data, data}, [root](Parties& parties) {
        for (const auto& party : parties)
            copy(parties[static_cast<std::size_t>(root)].in, party.out);
    });
}

}  // namespace debubble::exec::nccl
