"""A transformers config.json is a workload: parameters as published, faults all at once."""

import json

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import catalog

# Shapes from the papers; what is published beside them is the count that the maker states.
BERT = {"model_type": "bert", "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2}
GPT2 = {"model_type": "gpt2", "n_positions": 1024, "vocab_size": 50257}
NEOX = {"model_type": "gpt_neox", "max_position_embeddings": 2048}
PUBLIC = {
    "bert-base-uncased": (  # devlin-2018, section 3: L = 12, H = 768, A = 12, 110 M
        BERT | {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072},
        110e6, 110_106_428,
    ),
    "bert-large-uncased": (  # devlin-2018; its card at Hugging Face: 336 M, the paper rounds to 340 M
        BERT | {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
        336e6, 336_226_108,
    ),
    "gpt2": (GPT2 | {"n_embd": 768, "n_layer": 12, "n_head": 12}, 124e6, 124_439_808),  # openai/gpt-2: 124 M
    "gpt2-xl": (GPT2 | {"n_embd": 1600, "n_layer": 48, "n_head": 25}, 1558e6, 1_557_611_200),  # openai/gpt-2: 1558 M
    "gpt-neox-20b": (  # black-2022, table 1: 20,554,567,680
        NEOX | {"hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64, "intermediate_size": 24576,
                "vocab_size": 50432}, 20_554_567_680, 20_554_567_680,
    ),
    "pythia-1.4b": (  # biderman-2023, table of models: 1,414,647,808
        NEOX | {"hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 8192,
                "vocab_size": 50304}, 1_414_647_808, 1_414_647_808,
    ),
    "llama-2-7b": (  # touvron-2023; its card at Hugging Face: 6.74 B
        {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
         "intermediate_size": 11008, "vocab_size": 32000, "max_position_embeddings": 4096}, 6.74e9, 6_738_415_616,
    ),
    "llama-3-8b": (  # dubey-2024, table 3; its card at Hugging Face: 8.03 B
        {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
         "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192,
         "tie_word_embeddings": False}, 8.03e9, 8_030_261_248,
    ),
    "vit-base-patch16-224": (  # dosovitskiy-2020, table 1: 86 M before the head; its card: 86.6 M with it
        {"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
         "intermediate_size": 3072, "image_size": 224, "patch_size": 16, "num_labels": 1000}, 86.6e6, 86_567_656,
    ),
}  # fmt: skip


def written(folder, name, says):
    path = folder / f"{name}.json"
    path.write_text(says if isinstance(says, str) else json.dumps(says), encoding="utf-8")
    return str(path)


def refused(folder, says, **options):
    with pytest.raises(InputError) as no:
        catalog.workload(written(folder, "config", says), {f"import.{name}": text for name, text in options.items()})
    return no.value


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_are_those_published(name, tmp_path):
    config, published, counted = PUBLIC[name]
    found = catalog.workload(written(tmp_path, name, config)).value
    assert found.parameters == counted
    assert abs(found.parameters / published - 1) < 0.005


def test_forward_arithmetic_is_two_operations_a_weight_and_attention(tmp_path):
    config, *_ = PUBLIC["llama-3-8b"]
    found = catalog.workload(written(tmp_path, "llama", config), {"import.sequence": "2048"}).value
    multiplied = found.parameters - 128256 * 4096 - (2 * 32 + 1) * 4096  # less the table and the norms
    attention = 32 * 2 * 2 * 2048 * 2048 * 4096
    assert found.forward_flop_per_row() == 2 * 2048 * multiplied + attention


def test_a_config_answers_and_says_what_it_assumes(tmp_path):
    config, *_ = PUBLIC["vit-base-patch16-224"]
    path = written(tmp_path, "own", config)
    answer = podsim.predict(path, pod=16)
    assert answer.run.steps * answer.mapping.global_batch >= 1_000_000
    assert answer.time_to_train_s.grade == "assumed"
    assert any("no practice is published" in line for line in answer.assumptions)
    assert any("no length of a run" in line for line in answer.assumptions)


@pytest.mark.parametrize("name", ["bert-base-uncased", "vit-base-patch16-224"])
def test_the_file_that_import_writes_answers_alike(name, tmp_path):
    config, *_ = PUBLIC[name]
    path, mine = written(tmp_path, name, config), tmp_path / "mine.toml"
    mine.write_text(podsim.import_model(path), encoding="utf-8")
    first, second = catalog.workload(path).value, catalog.workload(str(mine)).value
    assert first == second
    mapping = {"pod": 16, "replicas": 2, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 64}
    assert podsim.predict(path, **mapping).time_to_train_s == podsim.predict(str(mine), **mapping).time_to_train_s


def test_all_faults_are_said_at_once(tmp_path):
    says = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 31, "num_key_value_heads": 3,
            "vocab_size": 10**30, "num_hidden_layers": "many", "mlp_bias": True}  # fmt: skip
    no = refused(tmp_path, says)
    assert no.code == "bad-config-file"
    text = "\n".join(no.context)
    parts = (
        "vocab_size is", 'num_hidden_layers wants a whole number, not "many"', "intermediate_size is missing",
        "mlp_bias is true", "31 attention heads do not divide", "3 key-value heads do not divide",
    )  # fmt: skip
    for part in parts:
        assert part in text


@pytest.mark.parametrize(
    ("kind", "more", "near"),
    [("llama4", {}, "llama"), ("falcon", {"num_key_value_heads": 1}, "llama"), ("bert-generation", {}, "bert"),
     ("swin", {"patch_size": 4}, "vit"), ("opt", {"architectures": ["OPTForCausalLM"]}, "gpt_neox")],
)  # fmt: skip
def test_an_unknown_architecture_names_the_nearest(kind, more, near, tmp_path):
    no = refused(tmp_path, {"model_type": kind, **more})
    assert no.code == "unknown-architecture"
    assert no.context[0] == f"the nearest family is {near}"


@pytest.mark.parametrize(
    ("says", "part"),
    [("{", "is not JSON"), ("[" * 100_000, "nests too deep"), ("[]", "holds no object"), ("{}", "has no model_type"),
     ('{"model_type": 3}', "has no model_type")],
)  # fmt: skip
def test_what_is_no_config_is_refused(says, part, tmp_path):
    assert part in refused(tmp_path, says).message


def test_a_sequence_beyond_the_positions_is_refused_where_they_are_learnt(tmp_path):
    gpt2, llama = PUBLIC["gpt2"][0], PUBLIC["llama-2-7b"][0]
    assert "longer than its 1,024 positions" in refused(tmp_path, gpt2, sequence="4096").context[0]
    found = catalog.workload(written(tmp_path, "llama", llama), {"import.sequence": "8192"}).value
    assert found.row == "sequence of 8,192 tokens"


def test_an_own_model_never_takes_the_numbers_fitted_to_a_shipped_one(tmp_path):
    config, *_ = PUBLIC["bert-large-uncased"]
    assert catalog.workload(written(tmp_path, "bert", config)).value.name == "own-bert"


def test_sizes_for_a_file_that_has_all_of_them_are_refused():
    with pytest.raises(InputError, match="is no file of another tool"):
        catalog.workload("bert", {"import.sequence": "128"})


def test_a_faulty_size_is_one_fault_not_two(tmp_path):
    config = PUBLIC["llama-3-8b"][0] | {"hidden_size": "4096"}
    assert refused(tmp_path, config).context == ('hidden_size wants a whole number, not "4096"',)


def test_layers_of_experts_are_not_read_as_the_family_they_are_named_after(tmp_path):
    config = PUBLIC["llama-3-8b"][0] | {"model_type": "mistral", "num_local_experts": 8}
    assert refused(tmp_path, config).context == ("num_local_experts is 8: layers of experts are not known",)


def test_a_number_of_thousands_of_digits_is_said_in_plain_words(tmp_path):
    no = refused(tmp_path, '{"model_type": "llama", "hidden_size": ' + "9" * 5000 + "}")
    assert "thousands of digits" in no.message
