#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "models/architecture_reader.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "models/hf/hf_config.h"
#include "models/read/architecture_words.h"
#include "tests/models/held_bytes.h"
#include "tests/support/source_folder.h"
#include "text/document_readers.h"

/// The networks of 2025 and 2026, by the values of their published config.json.
namespace debubble::models::networks_2026 {
namespace {

std::string path_of(const std::string& name) {
    return (source_folder() / "tests/models/hf/configs2026" / (name + ".json")).string();
}

Architecture published(const std::string& name) {
    return read_model(path_of(name));
}

struct Shown {
    const char* name;
    std::int64_t parameters;  ///< of the text model
    std::int64_t total;       ///< with the part that sees
    std::int64_t active;      ///< 0: nobody counted them
};

/// Counted by transformers 5.24 on torch's meta device, and by closed forms; without multi-token
/// prediction and without biases that no gradient changes.
constexpr Shown kShown[] = {
    {"qwen3-1.7b", 1'720'574'976, 1'720'574'976, 0},
    {"qwen3-8b", 8'190'735'360, 8'190'735'360, 0},
    {"qwen3-32b", 32'762'123'264, 32'762'123'264, 0},
    {"qwen3-235b-a22b", 235'093'634'560, 235'093'634'560, 22'190'763'520},
    {"llama-3.1-70b", 70'553'706'496, 70'553'706'496, 0},
    {"mixtral-8x7b", 46'702'792'704, 46'702'792'704, 12'879'925'248},
    {"deepseek-v3", 671'026'404'352, 671'026'404'352, 37'552'282'624},
    {"nemotron-3-nano-30b-a3b", 31'577'937'344, 31'577'937'344, 3'580'073'408},
    {"kimi-k2", 1'026'408'209'408, 1'026'408'209'408, 32'861'477'888},
    {"llama-4-scout", 107'769'861'120, 108'225'039'360, 17'172'894'720},
    {"nemotron-3-super-120b-a12b", 120'668'687'360, 120'668'687'360, 12'770'216'960},
    {"qwen3-vl-2b", 1'720'574'976, 2'127'532'032, 0},
    {"qwen3-vl-8b", 8'190'735'360, 8'767'123'696, 0},
    {"qwen3-vl-30b-a3b", 30'532'122'624, 31'070'754'032, 3'353'032'704},
    {"qwen3.5-122b-a10b", 122'111'526'912, 122'562'817'776, 9'771'288'576},
    {"qwen3.5-27b", 26'895'998'464, 27'356'728'560, 0},
    {"llama-3.3-nemotron-super-49b", 49'867'145'216, 49'867'145'216, 0},
    {"mimo-v2-flash", 308'778'768'832, 308'778'768'832, 15'445'924'288},
    {"gemma-4-31b", 30'697'345'280, 31'273'086'512, 0},
    {"glm-5", 743'911'199'232, 743'911'199'232, 41'784'709'632},
    {"deepseek-v4-flash", 284'332'230'231, 284'332'230'231, 13'799'622'231},
    {"kimi-linear-48b-a3b", 49'122'675'072, 49'122'675'072, 3'484'453'248},
    {"ernie-4.5-21b-a3b", 21'825'437'888, 21'825'437'888, 0},
    {"granite-4.0-h-small", 32'207'337'984, 32'207'337'984, 0},
    {"kimi-k2.5", 1'026'408'209'408, 1'026'879'353'328, 0},
    {"mimo-7b", 7'622'619'136, 7'622'619'136, 0},
    {"minimax-m2", 228'689'748'992, 228'689'748'992, 0},
    {"nemotron-nano-9b-v2", 8'888'227'328, 8'888'227'328, 0},
    {"olmo-3-32b", 32'233'522'176, 32'233'522'176, 0},
    {"qwen3.5-35b-a3b-text", 34'660'610'688, 34'660'610'688, 0},
    {"seed-oss-36b", 36'151'104'512, 36'151'104'512, 0},
    {"jamba-1.5-large", 398'555'145'696, 398'555'145'696, 94'149'338'592},
    {"minimax-text-01", 456'089'655'296, 456'089'655'296, 48'403'306'496},
    // The defaults of transformers' classes.
    {"class-jamba", 51'570'323'328, 51'570'323'328, 12'110'311'296},  // Jamba 1.5 Mini
    {"class-mamba", 159'308'544, 159'308'544, 0},
    {"class-falcon_mamba", 159'308'544, 159'308'544, 0},
    {"class-mamba2", 7'285'403'648, 7'285'403'648, 0},
    {"class-minimax", 47'373'946'880, 47'373'946'880, 0},
    {"class-bailing_hybrid", 124'414'191'072, 124'414'191'072, 0},
    {"class-cohere2_moe", 190'004'928'512, 190'004'928'512, 0},
    {"class-apertus", 6'979'596'352, 6'979'596'352, 0},
    {"class-cwm", 32'581'097'472, 32'581'097'472, 0},
    {"class-exaone", 7'818'448'896, 7'818'448'896, 0},
    {"class-exaone_moe", 28'550'639'616, 28'550'639'616, 0},
    {"class-flex_olmo", 33'270'665'216, 33'270'665'216, 0},
    {"class-granitemoe", 37'039'116'288, 37'039'116'288, 0},
    {"class-granitemoeshared", 37'039'116'288, 37'039'116'288, 0},
    {"class-helium", 2'172'643'840, 2'172'643'840, 0},
    {"class-hy_v3", 295'033'528'320, 295'033'528'320, 0},
    {"class-hyperclovax", 6'738'677'760, 6'738'677'760, 0},
    {"class-iquestcoder", 39'794'283'520, 39'794'283'520, 0},
    {"class-jais2", 8'090'401'280, 8'090'401'280, 0},
    {"class-mellum", 12'149'923'072, 12'149'923'072, 0},
    {"class-mistral4", 118'972'826'624, 118'972'826'624, 0},
    {"class-sarvam_mla", 106'031'763'456, 106'031'763'456, 0},
    {"class-sarvam_moe", 32'152'648'064, 32'152'648'064, 0},
    {"class-solar_open", 102'651'793'408, 102'651'793'408, 0},
    {"class-stablelm", 2'795'443'200, 2'795'443'200, 0},
    {"class-starcoder2", 3'030'371'328, 3'030'371'328, 0},
    {"class-youtu", 1'961'560'064, 1'961'560'064, 0},
    {"class-afmoe", 19'232'598'016, 19'232'598'016, 0},
    {"class-laguna", 33'189'965'824, 33'189'965'824, 0},
    {"class-falcon_h1", 8'514'961'408, 8'514'961'408, 0},
    {"class-bamba", 9'992'765'440, 9'992'765'440, 0},
    {"class-cohere", 34'980'831'232, 34'980'831'232, 0},
    {"class-cohere2", 34'980'831'232, 34'980'831'232, 0},
    {"class-falcon", 6'921'720'704, 6'921'720'704, 0},
    {"class-minicpm3", 4'073'875'968, 4'073'875'968, 0},
    {"class-vaultgemma", 2'614'222'080, 2'614'222'080, 0},
    {"class-granite_swa", 2'144'463'840, 2'144'463'840, 0},
    {"class-granitemoe_swa", 37'039'117'312, 37'039'117'312, 0},
    {"class-olmo_hybrid", 7'430'870'688, 7'430'870'688, 0},
    {"class-kolibri1", 78'103'055'360, 78'103'055'360, 0},
    {"class-flint", 39'785'287'456, 39'785'287'456, 0},
};

TEST(Networks2026, HaveThePublishedParametersToTheUnit) {
    for (const Shown& shown : kShown) {
        const Architecture network = published(shown.name);
        EXPECT_EQ(parameter_count(network) + network.tower_parameters, shown.total) << shown.name;
        EXPECT_EQ(
            parameter_count(network) + network.tower_parameters - tower_parameter_count(network),
            shown.parameters)
            << shown.name;
        if (shown.active > 0) {
            EXPECT_EQ(active_parameter_count(network), shown.active) << shown.name;
        }
    }
}

TEST(Networks2026, AreTheSameInThisProjectsOwnForm) {
    for (const Shown& shown : kShown) {
        Architecture network = published(shown.name);
        text::Mistakes mistakes;
        Architecture again = read_own_architecture(
            text::parse_json(architecture_json(network), "model.json"), mistakes);
        mistakes.throw_if_any();
        network.left_out.clear();
        network.tower_parameters = 0;
        EXPECT_EQ(again, network) << shown.name;
    }
}

TEST(Networks2026, FreeWhatTheyAllocate) {
    for (const Shown& shown : kShown) {
        const Architecture network = published(shown.name);
        Execution how;
        how.seq_length = 1024;
        const int layers = std::min(network.layers.count(), 5);
        for (const bool split : {false, true}) {
            how.split_backward = split;
            expect_to_free_what_it_allocates(build_stage(network, how, {0, layers, true, false}),
                                             split);
        }
    }
}

std::string refusal_of(const std::string& text) {
    text::Mistakes mistakes;
    read_hf_config(text::parse_json(text, "config.json"), mistakes);
    try {
        mistakes.throw_if_any();
    } catch (const InputError& error) {
        return error.what();
    }
    return "read";
}

std::string mixture_with(const std::string& type, const std::string& keys) {
    return R"({"model_type": ")" + type + R"(", "hidden_size": 64, "num_attention_heads": 4,
"num_hidden_layers": 2, "vocab_size": 100, "max_position_embeddings": 512, "num_experts": 4,
"num_experts_per_tok": 2, "moe_intermediate_size": 32)" +
           (keys.empty() ? "" : ",\n" + keys) + "}";
}

/// A key that says of other layers is a mistake at its place, whatever its name ends in.
TEST(Networks2026, KeysThatChangeSumsAreMistakes) {
    EXPECT_EQ(refusal_of(mixture_with("qwen3_moe", "")), "read");
    for (const char* key :
         {R"("layer_types_of_mlp": ["a"])", R"("linear_num_key_heads": 16)",
          R"("attn_output_gate": true)", R"("block_configs": [{}])",
          R"("shared_expert_intermediate_size": 512)", R"("moe_latent_size": 1024)",
          R"("index_topk": 2048)", R"("full_attention_interval": 4)", R"("share_expert_dim": 8)",
          R"("n_shared_experts": 1)", R"("first_k_dense_replace": 3)",
          R"("hidden_size_per_layer_input": 8)", R"("num_kv_shared_layers": 2)"})
        EXPECT_THAT(refusal_of(mixture_with("qwen3_moe", key)),
                    testing::HasSubstr("config.json:4:"))
            << key;
    EXPECT_EQ(refusal_of(mixture_with("qwen3_moe", R"("index_topk": null, "use_cache": true)")),
              "read");
}

/// A name is suggested only where all keys of the file are that network's.
TEST(Networks2026, NamesAreSuggestedOnlyWhereTheKeysFit) {
    EXPECT_THAT(refusal_of(mixture_with("qwen3_moa", "")),
                testing::HasSubstr("did you mean 'qwen3_moe'?"));
    EXPECT_THAT(refusal_of(mixture_with("qwen3_moa", R"("linear_num_key_heads": 16)")),
                testing::Not(testing::HasSubstr("did you mean 'qwen3_moe'")));
}

TEST(Networks2026, SayWhatIsLeftOut) {
    const Architecture qwen = published("qwen3.5-122b-a10b");
    ASSERT_EQ(qwen.left_out.size(), 1U);
    EXPECT_THAT(qwen.left_out[0], testing::HasSubstr("multi-token prediction"));
}

}  // namespace
}  // namespace debubble::models::networks_2026
