#include "models/build/attention/core.h"

/// The keys and values of other ranks and of earlier slices.
namespace debubble::models {

/// Communication of context parallelism: keys and values of the slices up to this one are sent
/// around the group, and their gradients in the other direction.
void AttentionCore::context_parallel() {
    const Execution& how = builder.how();
    if (how.sharing_keys() == 1) return;
    if (how.kernels.context_communication == ContextCommunication::AllGather) {
        gathered_keys();
    } else {
        ring();
    }
}

Kernel AttentionCore::travel(const char* suffix, Collective work) const {
    work.group = exchanges_heads(builder.how()) ? Collective::Group::ContextOuter
                                                : Collective::Group::Context;
    return {place.kernel + suffix, place.layer, work};
}

/// Two chunks are held at a time: one is transferred during attention over the other.
void AttentionCore::ring() {
    const std::int64_t slices = builder.how().slice + 1, held = 2 * sent_chunk() * slices;
    const std::int64_t groups = builder.how().sharing_keys();
    op::RingKeys keys;
    keys.forward = builder.scratch(place.kernel + ".kv.chunks", held);
    keys.backward = builder.scratch(place.kernel + ".kv.rechunks", held);
    keys.gradient = builder.scratch("d." + place.kernel + ".kv", 2 * chunk() * slices);
    op.forward_uses.push_back(keys.forward);
    append_uses(op.backward_input_uses, {keys.backward, keys.gradient});
    roles.ring = keys;
    Collective there{Collective::Kind::AllGather, {}, Bytes{sent_chunk() * groups * slices}};
    Collective back{Collective::Kind::ReduceScatter, {}, Bytes{chunk() * groups * slices}};
    there.pieces = Collective::Pieces::OfNext;
    back.pieces = Collective::Pieces::OfPrevious;
    op.forward.insert(op.forward.begin(), travel(".kv.gather", there));
    op.backward_input.insert(op.backward_input.begin(), travel(".kv.regather", there));
    op.backward_input.push_back(travel(".dkv.scatter", back));
}

/// All keys and values are gathered, slice by slice as ranks send them, and then in the order of
/// the sequence; gradients use the memory of what was sent. Sums over later slices are added to.
void AttentionCore::gathered_keys() {
    const int slices = builder.how().slice + 1;
    const std::int64_t sent = chunk() * builder.how().context, seen = sent * slices;
    const auto joins = [&](const char* suffix) {
        return moves(place.kernel + suffix, place.layer, seen, seen);
    };
    const Collective there{Collective::Kind::AllGather, {}, Bytes{sent}, 0, slices};
    const Collective back{Collective::Kind::ReduceScatter, {}, Bytes{sent}, 0, slices};
    op::GatheredKeys keys;
    keys.sent = builder.scratch(place.kernel + ".kv.gathered", sent);
    keys.joined = builder.scratch(place.kernel + ".kv.joined", seen);
    keys.sent_again = builder.scratch(place.kernel + ".kv.regathered", sent);
    keys.joined_again = builder.scratch(place.kernel + ".kv.rejoined", seen);
    keys.joined_gradient = builder.scratch("d." + place.kernel + ".kv.joined", seen);
    roles.gathered = keys;
    append_uses(op.forward_uses, {keys.sent, keys.joined});
    append_uses(op.backward_input_uses, {keys.sent_again, keys.joined_again, keys.joined_gradient});
    op.forward.insert(op.forward.begin(), {travel(".kv.gather", there), joins(".kv.join")});
    op.backward_input.insert(op.backward_input.begin(),
                             {travel(".kv.regather", there), joins(".kv.rejoin")});
    append(op.backward_input, {joins(".dkv.part"), travel(".dkv.scatter", back)});
    if (builder.how().slices == 1) return;
    // Tensors have the same indices in all slices.
    const int one = builder.scratch("d." + place.kernel + ".kv.chunk", chunk());
    if (slices == builder.how().slices)
        return;  // the first slice to come: there is nothing to add
                 // to
    roles.gathered->chunk_gradient = one;
    op.backward_input_uses.push_back(one);
    op.backward_input.push_back(
        moves(place.kernel + ".dkv.add", place.layer, 2 * chunk() * slices, chunk() * slices));
}

/// Keys and values of the slices up to this one are concatenated, and their gradients split again:
/// every slice holds its own.
void AttentionCore::earlier_slices() {
    if (!roles.in.keys) return;
    const models::op::Value own = *roles.in.keys;
    op.inputs.push_back(own.tensor);
    op.saved.push_back(own.tensor);
    op.forward_uses.push_back(own.tensor);
    append_uses(op.backward_input_uses, {own.tensor, own.gradient});
    const std::int64_t slices = builder.how().slice + 1;
    const std::int64_t seen = chunk() * slices;
    const auto joins = [&](const char* suffix) {
        return moves(place.kernel + suffix, place.layer, seen, seen);
    };
    const Execution& how = builder.how();
    if (how.context > 1 && how.kernels.context_communication == ContextCommunication::AllGather)
        return;  // they come together with those of the other ranks
    // Tensors have the same indices in all slices.
    op::SeenKeys keys;
    keys.forward = builder.scratch(place.kernel + ".keys.seen", seen);
    keys.backward = builder.scratch(place.kernel + ".keys.seen.again", seen);
    keys.gradient = builder.scratch("d." + place.kernel + ".keys.seen", seen);
    if (slices == 1) return;
    roles.seen = keys;
    op.forward_uses.push_back(keys.forward);
    op.forward.insert(op.forward.begin(), joins(".keys.join"));
    append_uses(op.backward_input_uses, {keys.backward, keys.gradient});
    op.backward_input.insert(op.backward_input.begin(),
                             {joins(".keys.rejoin"), joins(".dkeys.join")});
    op.backward_input.push_back(joins(".dkeys.part"));
}

}  // namespace debubble::models
