"""Readers of evaluation logs, one per tool."""

from bayesjudge.readers.formats import (
    deepeval,
    inspect_ai,
    langfuse,
    langsmith,
    lm_eval,
    mlflow,
    openai_evals,
    pairwise,
    phoenix,
    promptfoo,
    tau_bench,
)

#: In the order in which they are asked whether a file is theirs: the most particular first.
FORMATS = (
    inspect_ai.Inspect(),
    promptfoo.Promptfoo(),
    deepeval.DeepEval(),
    tau_bench.TauBench(),
    openai_evals.OpenAIEvals(),
    mlflow.MLflow(),
    lm_eval.LMEval(),
    pairwise.AlpacaEval(),
    pairwise.ArenaHard(),
    pairwise.MTBench(),
    langfuse.Langfuse(),
    phoenix.Phoenix(),
    langsmith.LangSmith(),
)
