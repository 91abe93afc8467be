"""The keys of `podsim compare --json`; quotients are over the first side."""

from typing import Final

from podsim.report.json_document import JsonDocument

ANSWER: Final = """
    step_s throughput_samples_per_s samples_to_converge time_to_train_s breakdown_s run money assumptions
"""

COMPARISON: Final = JsonDocument(
    "compare",
    {
        "Comparison": "workload sides differences interval seed infeasible?",
        "ComparisonCase": "label +answer",
        "Prediction": f"""
            topology chip chips=ipus engine global_batch=mapping.global_batch replicas=mapping.replicas
            ipus_per_replica=mapping.ipus_per_replica sdk hosts mfu memory_fraction=memory.fraction {ANSWER}
        """,
        "ComparatorPrediction": f"topology chip chips engine='law' global_batch {ANSWER}",
        "CaseDifference": """
            label time time_unshared=unshared throughput samples causes parts per_dollar
            per_watt=per_watt.value per_watt_basis=per_watt.basis
        """,
        "PartDifference": "* difference_s",
    },
    rows="sides",
)
"""How much of what kind works on a run; a law knows no mapping."""
