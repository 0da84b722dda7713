#include <algorithm>
#include <string>
#include <vector>

#include "scenarios/software/fields.h"
#include "scenarios/software/words.h"

/// The keys of host times and CUDA graphs.
namespace debubble::scenarios {
namespace {

using text::custom;
using text::duration;
using text::Form;
using text::MappingReader;
using text::names_of;
using text::real;
using text::word;

/// Reads `none`, `full_iteration`, or the parts of a layer that are graphs.
void read_cuda_graphs(MappingReader& in, std::string_view key, Framework& f) {
    const text::NodePtr value = in.value(key);
    if (!value) return;
    CudaGraphs graphs;
    if (value->is(text::Node::Kind::Scalar)) {
        const std::vector<std::string> words{std::string(kNoGraphs), std::string(kAllGraphs)};
        if (std::ranges::find(words, value->scalar) == words.end())
            in.complain_unknown(key, "use of CUDA graphs", value->scalar, words);
        graphs.full_iteration = value->scalar == kAllGraphs;
        f.cuda_graphs = graphs;
        return;
    }
    std::vector<std::string> words;
    if (!in.texts(key, words)) return;
    const std::vector<std::string> known = names_of(kGraphScopeWords);
    for (const std::string& word : words) {
        const auto at = std::ranges::find(known, word);
        if (at == known.end())
            in.complain_unknown(key, "scope of CUDA graphs", word, known);
        else
            graphs.scopes[kGraphScopeWords[at - known.begin()].second] = true;
    }
    const auto at = [&](GraphScope scope) { return graphs.scopes[scope]; };
    if (at(GraphScope::MoePreprocess) && !at(GraphScope::MoeRouter) && !at(GraphScope::Layer))
        in.complain(key, "'moe_preprocess' sorts by the router's choice: add 'moe_router'");
    f.cuda_graphs = graphs;
}

}  // namespace

text::Fields<Framework> host_fields() {
    return {
        {"host_module", duration(&Framework::host_module),
         "Host time per operator of a forward, in addition to kernel launches.", "60 us"},
        {"host_kernel", duration(&Framework::host_kernel), "Host time per kernel launch.", "8 us"},
        {"host_expert", duration(&Framework::host_expert),
         "Host time to launch the GEMM of one expert, or the cast before it, where a grouped GEMM "
         "is a loop over the rank's experts.",
         "20 us"},
        {"host_micro_batch", duration(&Framework::host_micro_batch),
         "Host time between two microbatches.", "500 us"},
        {"host_pair", real(&Framework::host_pair, 1, 100, "ratio"),
         "Host time for a pair of passes whose layers are overlapped (combined-1f1b, "
         "combined-zb-v), relative to both passes separately.",
         "1.5"},
        {"cuda_graphs",
         custom(read_cuda_graphs,
                {Form{text::WordForm{{std::string(kNoGraphs), std::string(kAllGraphs)}}},
                 Form{text::ListForm{{Form{text::WordForm{names_of(kGraphScopeWords)}}}, {}}}}),
         "The scope of CUDA graphs: none, all passes of a step, or parts of every layer.",
         "[attn, moe_router]", "none"}};
}

}  // namespace debubble::scenarios
