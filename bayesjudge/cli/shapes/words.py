"""What names of columns say: the words by which explicit rules tell people from judges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bayesjudge.cli.source import HUMAN

#: Parts of names of columns that people fill, beside `HUMAN`.
PEOPLE = ("human", "reviewer", "expert", "person", "people", "annotat", "crowd")
#: What else people who label are called, as words of a name that alone say little.
LABELLERS = {"teacher", "editor", "instructor", "tutor", "professor", "lecturer", "examiner",
             "assessor", "coach", "mentor", "clinician", "physician", "nurse", "doctor", "lawyer",
             "attorney", "linguist", "curator", "moderator", "analyst", "manager", "supervisor",
             "auditor", "inspector", "adjudicated", "adjudicator", "manual", "manually", "sme",
             "qa", "specialist", "scientist", "researcher", "engineer", "colleague", "volunteer",
             "participant", "user", "users", "customer", "client", "labeler", "labeller", "rater",
             "raters", "mensch", "lehrer", "lehrerin", "prüfer", "humano",
             "humain"}  # fmt: skip
#: Words for what was expected of an output, which nobody said of it.
REFERENCES = {"expected", "correct", "reference", "target", "answer", "gold", "truth", "label",
              "ideal"}  # fmt: skip
SYSTEMS = ("system", "model", "generator", "system_id", "model_name", "candidate", "assistant",
           "bot", "agent")  # fmt: skip
#: Names of a column of systems, unless it holds verdicts.
LLMS = ("llm", "llm_name", "lm")
JUDGES = ("judge", "judge_model", "evaluator", "annotator", "grader", "rater", "judge_name")
#: Of these, columns that hold judges only.
OF_JUDGES = ("judge", "judge_model", "judge_name")
#: What a column of raters is called, beside those of judges.
GRADERS = (*JUDGES, "reviewer", "labeler", "labeller", "worker", "coder")
#: Columns whose numbers are names of raters, and no scores.
RATERS = ("rater", "annotator", "evaluator", *OF_JUDGES[1:])
VERDICTS = ("verdict", "judge", "vote", "grade", "pred", "auto", "urteil", "jugement", "veredicto")
#: Words of a judge's column, beside another word.
MACHINES = {"bot", "ai", "ki", "ia", "machine", "evaluator", "juror"}
#: Language models that judge, by parts of their names, and by how names begin.
FAMOUS = ("llm", "gpt", "claude", "gemini")
MODELS = ("llama", "mistral", "mixtral", "qwen", "deepseek",
          "gemma", "grok", "command-r", "phi-", "o1", "o3", "o4", "opus", "sonnet", "haiku",
          "nova-", "kimi", "glm", "prometheus")  # fmt: skip
#: Columns with what a rater chose.
CHOICES = ("choice", "answer", "label", "rating", "verdict", "response", "vote")
#: What an item may be called, as words of a name.
ITEMS = {"item", "question", "prompt", "ticket", "pair", "doc", "document", "conversation", "case",
         "sample", "example", "task", "query", "instance", "problem", "dialogue", "trace",
         "record", "request", "essay", "message", "comment", "post", "article", "story", "email",
         "claim", "thread", "session", "chat", "frage", "pregunta", "vraag"}  # fmt: skip
#: What may stand beside such a word.
NUMBERED = {"no", "nr", "number", "id", "key", "ref", "name"}
#: What a score may be called, and a number that is none.
SCORES = {"score", "rating", "quality", "grade", "points", "stars", "mark", "helpfulness"}
NO_SCORES = {"ms", "latency", "tokens", "token", "cost", "price", "seconds", "duration", "time",
             "minutes", "length", "seed", "index", "idx", "row", "line", "epoch", "repeat", "trial",
             "attempt", "turn", "temperature", "timestamp", "year", "number", "no", "priority",
             "step", "message", "rank", "position", "place", "day"}  # fmt: skip
#: Columns that say what was changed, and the value of what was not.
VARIANTS = {"variant", "version", "condition", "change", "perturbation", "treatment", "edit"}
BASELINES = {"baseline", "original", "control", "unchanged", "before", "base", "plain",
             "unmodified"}  # fmt: skip
#: Columns that count repeats, and what tests say of an attempt, which no judge does.
REPEATS = {"call", "repeat", "rep", "run", "trial", "attempt", "epoch", "try", "iteration"}
ATTEMPTS = {"attempt", "sample", "try", "trial"}
TESTED = {"passed", "solved", "success", "resolved", "tests", "succeeded"}
#: Numbers that count within an item without being repeats.
OTHER_COUNTS = {"turn", "step", "rank", "position", "place", "page", "part", "section", "paragraph",
                "sentence", "criterion", "level", "choice", "option", "user", "worker", "rater",
                "line", "row", "message", "msg"}  # fmt: skip
#: What a column is called whose yes says that something is wrong.
WRONG = {"flag", "flagged", "violation", "violations", "violates", "toxic", "toxicity", "harmful",
         "hallucination", "hallucinations", "hallucinated", "unsafe", "refusal", "refused",
         "error", "errors", "bug", "defect", "issue", "incorrect", "wrong", "fails", "failed",
         "failure", "jailbreak", "jailbroken", "biased", "misleading", "spam"}  # fmt: skip
#: What says the contrary of them: of ``no_error`` and ``error_free`` a yes is good.
DENIED = {"no", "not", "non", "free", "without", "zero"}
#: What is graded: no person's name.
CRITERIA = {"accuracy", "relevance", "clarity", "fluency", "coherence", "correctness", "tone",
            "completeness", "safety", "style", "difficulty", "level", "severity", "importance",
            "confidence", "consistency", "truthfulness", "harmlessness", "faithfulness", "overall",
            "verbosity", "groundedness", "total", "mean", "average", "median", "priority",
            "age"}  # fmt: skip
#: What a column of judges may be called, and of what made the outputs.
JURORS = {"juror", "judge", "grader", "rater", "evaluator", "assessor", "critic", "panelist",
          "referee", "voter", "scorer", "annotator"}  # fmt: skip
MAKERS = {"system", "model", "generator", "candidate", "assistant", "bot", "agent", "checkpoint",
          "policy", "engine", "setup", "arm", "config", "prompt", "variant", "version",
          "experiment", "condition", "treatment", "llm", "lm", "pipeline", "release",
          "branch"}  # fmt: skip
#: Columns that sort items, and name nothing that made them.
TOPICS = {"topic", "category", "subject", "split", "language", "lang", "domain", "tag", "group",
          "difficulty", "type", "kind", "source", "dataset", "task", "class", "level", "week",
          "month", "date", "day", "region", "country", "product", "channel", "team", "tier",
          "status", "priority", "severity", "gold", "answer", "reference", "expected", "target",
          "label", "correct", "truth"}  # fmt: skip
#: What is changed about one item.
CHANGES = {"edit", "perturbation", "change", "rewrite", "style", "format", "order", "position"}


def words_of(name: str) -> list[str]:
    """Words of a name, in lower case: ``asked_at`` and ``askedAt`` have two."""
    return re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())


def says_person(name: str) -> bool:
    """Whether a column is called one of what people say."""
    called = any(word in name.lower() for word in (*HUMAN, *PEOPLE))
    return called and not says_judge(name)


def says_judge(name: str) -> bool:
    """Whether a column is called a judge's; reviewers give verdicts too, but for models."""
    lower, machine = name.lower(), is_model(name)
    if any(word in lower for word in PEOPLE):
        return machine
    if any(word in lower for word in ("review", "gold", "truth")):
        return machine or bool({*words_of(name)} & {"judge", "auto", "autorater"})
    words = {*words_of(name)}
    called = any(word in lower for word in VERDICTS) or bool(len(words) > 1 and words & MACHINES)
    return machine or called


def is_model(name: str) -> bool:
    """Whether a name is that of a language model."""
    begins = "|".join(map(re.escape, MODELS))
    return bool(re.search(rf"{'|'.join(FAMOUS)}|(^|[^a-z])({begins})", name.lower()))


def is_person(name: str) -> bool:
    """Whether a name is that of one who labels, and of nothing that is said."""
    return {*words_of(name)} <= LABELLERS | {*PEOPLE[1:], "annotator"}


def names_labellers(name: str) -> bool:
    """Whether a word of a name is one of those for people who label."""
    return bool({*words_of(name)} & LABELLERS) and not is_model(name)


def is_id(name: str) -> bool:
    """Whether a column is called some id."""
    return bool(re.search(r"(^|[\s_.-])id$", name.lower()))


def named(columns: Iterable[str], names: Sequence[str]) -> str | None:
    """The first column with one of these names."""
    return next((n for n in columns if n.lower() in names), None)
