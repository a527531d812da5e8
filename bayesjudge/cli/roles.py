"""What each column of a table is for, told by its name and its cells."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

from bayesjudge.cli.proposals import MOST_LABELS, all_alike, kind_of, usual_scale
from bayesjudge.cli.shapes import REPEATS, jury_in, words_of
from bayesjudge.cli.source import HUMAN
from bayesjudge.core.labels import DASHES, folded, says_nothing, spell, unread
from bayesjudge.core.screen import few
from bayesjudge.verdicts.reading import ITEM_COLUMNS

#: The longest label.
LONGEST = 40
#: What else people who label are called, as words of a column's name that alone say little.
LABELLERS = {"teacher", "editor", "instructor", "tutor", "professor", "lecturer", "examiner",
             "assessor", "coach", "mentor", "clinician", "physician", "nurse", "doctor", "lawyer",
             "attorney", "linguist", "curator", "moderator", "analyst", "manager", "supervisor",
             "auditor", "inspector", "adjudicated", "adjudicator", "manual", "manually", "sme",
             "qa", "specialist", "scientist", "researcher", "engineer", "colleague", "volunteer",
             "participant", "user", "users", "customer", "client", "labeler", "labeller", "rater",
             "raters", "mensch", "lehrer", "lehrerin"}  # fmt: skip
#: Names of columns, by what they are of.
PEOPLE = ("human", "reviewer", "expert", "person", "people", "annotat", "crowd")
SYSTEMS = ("system", "model", "generator", "system_id", "model_name", "candidate", "assistant",
           "bot", "agent")  # fmt: skip
#: Names of a column of systems, unless it holds verdicts.
LLMS = ("llm", "llm_name", "lm")
JUDGES = ("judge", "judge_model", "evaluator", "annotator", "grader", "rater", "judge_name")
#: Of these, columns that hold judges only.
OF_JUDGES = ("judge", "judge_model", "judge_name")
#: Columns whose numbers are names of raters, and no scores.
RATERS = ("rater", "annotator", "evaluator", *OF_JUDGES[1:])
VERDICTS = ("verdict", "judge", "vote", "grade", "pred", "auto")
#: Language models that judge, by parts of their names, and by how names begin.
FAMOUS = ("llm", "gpt", "claude", "gemini")
MODELS = ("llama", "mistral", "mixtral", "qwen", "deepseek",
          "gemma", "grok", "command-r", "phi-", "o1", "o3", "o4", "opus", "sonnet", "haiku",
          "nova-", "kimi", "glm", "prometheus")  # fmt: skip
#: Columns with what a rater chose.
CHOICES = ("choice", "answer", "label", "rating", "verdict", "response", "vote")
#: What an item may be called, as a word of a column's name.
ITEMS = {"item", "question", "prompt", "ticket", "pair", "doc", "document", "conversation", "case",
         "sample", "example", "task", "query", "instance", "problem", "dialogue", "trace",
         "record", "request", "essay", "message", "comment", "post", "article", "story", "email",
         "claim"}  # fmt: skip
#: What a score may be called, and a number that is none.
SCORES = {"score", "rating", "quality", "grade", "points", "stars", "mark", "helpfulness"}
NO_SCORES = {"ms", "latency", "tokens", "token", "cost", "price", "seconds", "duration", "time",
             "length", "seed", "index", "idx", "row", "line", "epoch", "repeat", "trial",
             "attempt", "turn", "temperature", "timestamp", "year", "number", "no"}  # fmt: skip
#: Columns that say what was changed, and the value of what was not.
VARIANTS = {"variant", "version", "condition", "change", "perturbation", "treatment", "edit"}
BASELINES = {
    "baseline",
    "original",
    "control",
    "unchanged",
    "before",
    "base",
    "plain",
    "unmodified",
}
#: Numbers that count within an item without being repeats, by words of the column's name.
OTHER_COUNTS = {"turn", "step", "rank", "position", "place", "page", "part", "section", "paragraph",
                "sentence", "criterion", "level", "choice", "option", "user", "worker", "rater",
                "line", "row"}  # fmt: skip
#: What is graded, as words of a column's name: no person's name.
CRITERIA = {"accuracy", "relevance", "clarity", "fluency", "coherence", "correctness", "tone",
            "completeness", "safety", "style", "difficulty", "level", "severity", "importance",
            "confidence", "consistency", "truthfulness", "harmlessness", "faithfulness", "overall",
            "verbosity", "groundedness", "total", "mean", "average", "median", "priority",
            "age"}  # fmt: skip
#: What is said of two answers: the place that won, in the order of the places, or a tie.
PLACES = {("a", "b"), ("1", "2"), ("first", "second"), ("left", "right")}
TIES = {"tie", "tied", "draw", "equal", "same", "both", "neither", "c", "0", "0.5"}
#: Names of systems from which a column is of something else.
MOST_SYSTEMS = 50
#: Probability below which two columns go together by more than chance.
BY_CHANCE = 1e-3
#: Groups from which a column's values are such as conversations, and no systems or strata.
FEWEST_GROUPS = 10
#: Part of a column that is empty from which it seems to hold labels of a sample.
MOSTLY = 0.2
#: Words that stand for an empty cell where most cells say so; a dash always does.
NOTHING = {"na", "n/a", "nan", "null", "#n/a"}


@dataclass(frozen=True)
class Roles:
    """Columns of a table by what they are for; those with labels, verdicts and scores in order."""

    columns: Mapping[str, list[str]]
    item: str | None = None
    system: str | None = None
    judge: str | None = None
    variant: str | None = None
    order: str | None = None
    truths: Sequence[str] = ()
    verdicts: Sequence[str] = ()
    scores: Sequence[str] = ()
    counter: str | None = None
    #: Columns that only repeat another one: its further answers, or the number of the repeat.
    again: Sequence[str] = ()
    #: Columns with numbers like a judge's in some rows, which people may have given.
    perhaps: Sequence[str] = ()
    #: What stands for an empty cell, by column; such cells are empty here.
    absent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: What is taken for what without being called so.
    guessed: Sequence[str] = field(default=())

    @property
    def keys(self) -> list[str]:
        """Columns that tell rows apart, those that there are."""
        return [n for n in (self.item, self.system, self.judge, self.variant) if n]

    @property
    def systems(self) -> list[str]:
        """Names of the systems."""
        return [] if self.system is None else _kinds(self.columns[self.system])

    @property
    def baseline(self) -> str | None:
        """The value of the variant in which nothing was changed: by its name, or the first."""
        kinds = _kinds(self.columns[self.variant]) if self.variant else []
        named = [kind for kind in kinds if {*words_of(kind)} & BASELINES]
        return next(iter([*named, *kinds]), None)

    @property
    def judges(self) -> list[str]:
        """Names of the judges, of a table with one row a verdict."""
        return [] if self.judge is None else _kinds(self.columns[self.judge])

    @property
    def repeats(self) -> bool:
        """Whether an item has several rows that nothing but the answers tells apart."""
        return self._several and self.part is None  # turns of one item are no repeats

    @property
    def part(self) -> str | None:
        """The column that counts the parts of an item that has several rows, such as its turns."""
        if not self._several:
            return None
        rows = list(zip(*(self.columns[n] for n in self.keys), strict=True))
        others = {n: c for n, c in self.columns.items() if {*words_of(n)} & OTHER_COUNTS}
        apart = (n for n, c in others.items() if len({*zip(rows, c, strict=True)}) == len(rows))
        return next(apart, None)

    @property
    def _several(self) -> bool:
        if self.item is None:
            return False
        rows = list(zip(*(self.columns[n] for n in self.keys), strict=True))
        return len(set(rows)) < len(rows)

    def labelled_together(self, truth: str) -> tuple[str, int, int] | None:
        """A column whose groups are labelled as a whole or not at all; how many are, of how many.

        Rows drawn one by one would be so with a probability below `BY_CHANCE`.
        """
        labelled = [cell != "" for cell in self.columns[truth]]
        share = sum(labelled) / max(len(labelled), 1)
        for name, cells in self.columns.items():
            groups = {*cells}
            named = name not in {truth, *self.verdicts, *self.scores} and "" not in groups
            if not named or len(groups) < FEWEST_GROUPS:
                continue
            whole = {*zip(cells, labelled, strict=True)}
            if len(whole) == len(groups) and _all_alike(share, Counter(cells)) < BY_CHANCE:
                return name, sum(there for _, there in whole), len(groups)
        return None


def _all_alike(share: float, sizes: Mapping[str, int]) -> float:
    """Probability that rows labelled one by one leave every group whole or without a label."""
    each = (share**n + (1 - share) ** n for n in sizes.values())
    return math.exp(sum(map(math.log, each)))


def roles_of(
    columns: Mapping[str, list[str]],
    truth: str | None = None,
    labels: Mapping[str, list[str]] = MappingProxyType({}),
) -> Roles:
    """Say what each column is for.

    `truth` names the column with people's labels; `labels` are the columns of a file with them.
    """
    absent = {name: _stand_for_nothing(cells) for name, cells in columns.items()}
    absent = {name: words for name, words in absent.items() if words}
    full = {n: ["" if c in absent.get(n, ()) else c for c in columns[n]] for n in absent}
    return replace(_roles_of({**columns, **full}, truth, labels), absent=absent)


def _stand_for_nothing(cells: Sequence[str]) -> list[str]:
    """What a column has in place of empty cells, beside other words."""
    kinds = Counter(cells)
    found = [one for one in kinds if one in DASHES and "+" not in kinds]
    most = [k for k, n in kinds.items() if 2 * n > len(cells)]
    found += [k for k in most if k.casefold() in NOTHING]
    found += [k for k in most if k.casefold() == "none" and is_binary([*{*kinds} - {k}])]
    return found if len({*kinds} - {*found, ""}) else []


def _roles_of(
    columns: Mapping[str, list[str]], truth: str | None, people: Mapping[str, list[str]]
) -> Roles:
    counted = _repeats_in(columns)
    if counted is not None:
        item, counter = counted
        twins = [n for n in columns if _one_to_one(columns[n], columns[counter])]
        rest = {n: c for n, c in columns.items() if n not in twins}
        found = _by_names(rest, truth, item, people)
        judged = bool(found.scores) != bool(found.verdicts)
        if judged and not (found.truths or found.system or found.variant):
            first = min(map(_number_in, columns[counter]))
            told = f"{counter} counts from {first} within each {item}, "
            guessed = [f"{told}and is read as the number of the repeat"]
            order = next((n for n in twins if all(map(is_number, columns[n]))), None)
            found = replace(found, columns=columns, order=order, counter=counter, again=twins)
            return replace(found, guessed=guessed)
        plain = _by_names(columns, truth, None, people)
        return replace(plain, scores=[n for n in plain.scores if n != counter])
    return _by_names(columns, truth, None, people)


def _by_names(
    columns: Mapping[str, list[str]],
    truth: str | None,
    counted: str | None,
    people: Mapping[str, list[str]],
) -> Roles:
    """Say what each column is for; `counted` is the item, if its rows are counted."""
    labels = {n: c for n, c in columns.items() if are_labels(c)}
    graded = [_grades(c) for n, c in columns.items() if n not in labels and says_judge(n)]
    for own in graded:  # four grades of those that a judge gives are numbers too
        labels = {
            n: c for n, c in labels.items() if not 2 < len(_grades(c)) <= len(_grades(c) & own)
        }
    labels = {n: c for n, c in labels.items() if n not in _grades_of_a_sample(labels, columns)}
    numbers = {n: c for n, c in columns.items() if n not in labels and are_numbers(c)}
    order = next((n for n, c in columns.items() if _are_times(n, c)), None)
    item = counted or _item_of(columns) or _crossed(columns, labels)
    system = named(columns, SYSTEMS)
    judge = next((n for n in columns if n.lower() in JUDGES and n not in numbers), None)
    alone = not any(_says_score(n) for n in numbers) and not any(
        says_judge(n) or n.lower() in CHOICES for n in labels if n != judge
    )
    judge = None if judge in labels and _are_verdicts(judge, labels, alone) else judge
    taken = {item, system, judge, order, *(n for n in numbers if n.lower() in RATERS)}
    scores = [
        n
        for n, c in numbers.items()
        if n not in taken and not _is_index(n, c) and not says_person(n)
    ]
    scores.sort(key=lambda n: not ({*words_of(n)} & SCORES or says_judge(n)))
    of_people = [n for n in (*labels, *numbers) if n not in taken and says_person(n)]
    judged = {n: c for n, c in {**labels, **numbers}.items() if n not in {*taken, *of_people}}
    truths = [truth] if truth else labels_first(of_people, columns, judged)
    scores = [n for n in scores if n not in truths]
    rest = {n: c for n, c in labels.items() if n not in {*taken, *truths, *of_people}}
    guessed = [told for n in of_people if (told := all_alike(n, columns[n])) and not truth]
    perhaps = list[str]()
    if not truths:
        like = _like_a_judge(numbers, scores)
        truths = [n for n in like if _names_labellers(n) and not all_alike(n, numbers[n])]
        guessed += [f"{n} is read as people's scores, by its name" for n in truths[:1]]
        perhaps = [] if truths else [n for n in like if _lacks(numbers[n])]
        scores = [n for n in scores if n not in truths]
        scores.sort(key=perhaps.__contains__)
    if not truths:
        truths = _of_a_sample(rest, bool(scores))
        guessed += [f"{n} is empty in most rows, and read as people's labels" for n in truths[:1]]
        perhaps = [] if truths else perhaps
        rest = {n: c for n, c in rest.items() if n not in truths}
    if not truths:
        truths = [n for n in rest if _says_what_a_judge_says(n, rest)]
        guessed += [f"{n} is read as people's labels, by its name" for n in truths[:1]]
        rest = {n: c for n, c in rest.items() if n not in truths}
    if not truths and not [n for n in rest if says_judge(n) or is_binary(rest[n])]:
        truths = _graded_like(numbers, scores)
        scores = [n for n in scores if n not in truths]
        guessed += [
            f"{few(truths, 5)}: the numbers of the judges ({scores[0]}, …), read as people's"
            for _ in truths[:1]
        ]
    verdicts = [n for n in rest if says_judge(n)] or [n for n, c in rest.items() if is_binary(c)]
    if not verdicts and truths:
        said = _words(columns[truths[0]])
        verdicts = [n for n, c in rest.items() if len(said) > 1 and _words(c) == said]
    others = _names_among(verdicts, rest, columns[truths[0]] if truths else ())
    names = [n for n in others if len(_kinds(rest[n])) != 2 or _arm(columns, item, [n])]
    verdicts = [n for n in verdicts if n not in names]
    system = system or named([n for n in rest if n in names], LLMS)
    jury, free = None, [n for n in rest if n not in verdicts]
    if item and judge is None and len(verdicts) == 1 and _one_label_each(columns, item, truths):
        jury = jury_in(columns, item, system, free, people)
    if jury is not None:
        judge, system = jury.judge, jury.generator
        guessed.append(jury.told)
    arm = None if system or jury else _arm(columns, item, free)
    changed = bool(arm and scores and not (truths or verdicts)) and _is_variant(columns, str(arm))
    changed |= bool(arm and not truths and _zero_one(rest, verdicts)) and _named_baseline(
        columns[str(arm)]
    )
    return Roles(
        columns,
        item,
        system=system or (None if changed else arm),
        judge=judge,
        variant=arm if changed else None,
        order=order,
        truths=truths,
        verdicts=verdicts,
        scores=scores,
        perhaps=perhaps,
        guessed=guessed,
    )


class Orders(NamedTuple):
    """Columns of a table with one row a verdict on two answers, shown in both orders."""

    item: str
    first: str
    second: str
    verdict: str
    #: Verdicts for the first answer, for the second, and ties.
    places: tuple[str, str]
    ties: tuple[str, ...]


def in_both_orders(columns: Mapping[str, list[str]]) -> Orders | None:
    """Columns of two answers that change places within an item, and of which place won."""
    named = [n for n, c in columns.items() if 2 <= len({*c}) <= MOST_SYSTEMS and "" not in c]
    for first, second in combinations(named, 2):
        shown = list(zip(columns[first], columns[second], strict=True))
        if {*columns[first]} != {*columns[second]} or any(a == b for a, b in shown):
            continue
        judged = [n for n in columns if n not in (first, second) and _places(columns[n])]
        judged.sort(key=lambda n: not says_judge(n))
        items = [n for n in columns if n not in (first, second, *judged)]
        swap = [n for n in items if _change_places(columns[n], shown)]
        won = _places(columns[judged[0]]) if judged else None
        if won is not None and swap:
            item = max(swap, key=lambda n: len({*columns[n]}))
            return Orders(item, first, second, judged[0], *won)
    return None


def _places(cells: Sequence[str]) -> tuple[tuple[str, str], tuple[str, ...]] | None:
    """The words of the first place and of the second, and those of a tie."""
    if not are_labels(cells):
        return None
    spelled = {folded(kind): kind for kind in _kinds(cells)}
    ties = tuple(kind for word, kind in spelled.items() if word in TIES)
    found = sorted(word for word in spelled if word not in TIES)
    if len(found) != 2 or tuple(re.sub(r"^[a-z]+[ _-]", "", word) for word in found) not in PLACES:
        return None
    return (spelled[found[0]], spelled[found[1]]), ties


def _change_places(items: Sequence[str], shown: Sequence[tuple[str, str]]) -> bool:
    """Whether most pairs of answers to an item occur in both orders."""
    pairs = {(item, *both) for item, both in zip(items, shown, strict=True)}
    back = sum((item, b, a) in pairs for item, a, b in pairs)
    return "" not in items and len({*items}) > 4 and back > (1 - MOSTLY) * len(pairs)


def _kinds(cells: Iterable[str]) -> list[str]:
    return [kind for kind in dict.fromkeys(cells) if kind != ""]


def _lacks(cells: Sequence[str]) -> bool:
    return sum(c == "" for c in cells) > MOSTLY * len(cells)


def labels_first(
    names: Sequence[str],
    columns: Mapping[str, Sequence[Any]],
    judged: Mapping[str, Sequence[Any]],
    beside: bool = True,
) -> list[str]:
    """Of columns called after people those that may hold what they said, the surest first.

    Pass and fail and a judge's own words are said of outputs. So are numbers, unless the column is
    called a person only and they are not like a judge's; and two words that go with a judge's past
    any chance. If what is judged is not `beside` them, in the same rows, other words are too, but
    names of models, dates, and words of a column that is called a person.
    """
    cells = {n: ["" if c is None else str(c) for c in columns[n]] for n in names}
    free = [n for n in names if not all_alike(n, cells[n]) and not _tells_apart(n, cells[n])]
    sure = [n for n in free if _says(n, cells[n], judged)]
    perhaps = [n for n in free if n not in sure]
    beside = beside and bool(judged)
    return [*sure, *(n for n in perhaps if _may_say(n, cells[n], judged, beside))]


def _tells_apart(name: str, cells: Sequence[str]) -> bool:
    """Whether a column is called an id, or holds numbers under the name of no score."""
    return _is_id(name) or (are_numbers(cells) and bool({*words_of(name)} & NO_SCORES))


def _is_id(name: str) -> bool:
    return bool(re.search(r"(^|[\s_.-])id$", name.lower()))


def _is_person(name: str) -> bool:
    """Whether a name is that of one who labels, and of nothing that is said."""
    return {*words_of(name)} <= LABELLERS | {*PEOPLE[1:], "annotator"}


def _says(name: str, cells: Sequence[str], judged: Mapping[str, Sequence[Any]]) -> bool:
    """Whether cells say pass and fail, or what a judge says."""
    own = {kind_of(one) for one in _kinds(cells)}
    theirs = {kind_of(str(one)) for said in judged.values() for one in said}
    shared = bool(own & theirs - {True, False}) and not (are_numbers(cells) and _is_person(name))
    return shared or is_binary(cells)


def _may_say(
    name: str, cells: Sequence[str], judged: Mapping[str, Sequence[Any]], beside: bool
) -> bool:
    """Whether words or numbers that are not a judge's may be said of outputs all the same."""
    if are_numbers(cells):
        scores = [said for said in judged.values() if are_numbers(said)]
        like = [said for said in scores if _within(_scale_of(cells), _scale_of(said))]
        rise = any(not beside or _rise_together(cells, said) for said in like)
        return rise or not _is_person(name)
    if _is_person(name) or any(map(is_model, _words(cells))) or _are_times(name, cells):
        return False
    if not beside:
        return True
    two = [said for said in judged.values() if len(_words(said)) == 2]
    return len(_words(cells)) == 2 and any(go_together(cells, said) for said in two)


def _rise_together(numbers: Sequence[str], others: Sequence[str]) -> bool:
    """Whether numbers rise with others by more than chance."""
    from scipy.stats import spearmanr

    both = [(float(a), float(b)) for a, b in zip(numbers, others, strict=True) if a and b]
    if len(both) < 3 or any(len({*side}) < 2 for side in zip(*both, strict=True)):
        return False
    tested = spearmanr(*zip(*both, strict=True))
    return bool(tested.statistic > 0 and tested.pvalue < BY_CHANCE)


def _of_a_sample(labels: Mapping[str, list[str]], scored: bool) -> list[str]:
    """Columns that most rows lack, of labels like a judge's: somebody labelled a sample.

    They say pass and fail, or the words of a column that has them in every row, or two words that
    go with those of such a column, past any chance.
    """
    full = [c for c in labels.values() if not _lacks(c) and len(_words(c)) == 2]
    binary = [c for c in full if is_binary(c)]
    return [
        n
        for n, c in labels.items()
        if _lacks(c)
        and not says_judge(n)
        and not all_alike(n, c)
        and (
            (is_binary(c) and (scored or bool(binary)))
            or any(_words(c) == _words(said) for said in full)
            or (len(_words(c)) == 2 and any(go_together(c, said) for said in binary))
        )
    ]


def _words(cells: Iterable[str]) -> set[str]:
    """What cells say, however they are spelled."""
    return {folded(one) for one in _kinds(cells) if not says_nothing(one)}


def go_together(labels: Sequence[str], verdicts: Sequence[str]) -> bool:
    """Whether two kinds of labels go with two kinds of verdicts, by Fisher's exact test."""
    from scipy.stats import fisher_exact

    kinds = [sorted(_words(cells)) for cells in (labels, verdicts)]
    seen = Counter((folded(a), folded(b)) for a, b in zip(labels, verdicts, strict=True))
    table = [[seen[a, b] for b in kinds[1]] for a in kinds[0]]
    return bool(fisher_exact(table).pvalue < BY_CHANCE)


def _grades(cells: Iterable[str]) -> set[float]:
    """Whole numbers in cells, if they hold few of these and nothing else."""
    found = _kinds(cells)
    whole = len(found) <= MOST_LABELS and all(is_number(c) and float(c) % 1 == 0 for c in found)
    return {float(c) for c in found} if whole else set()


def _graded_like(numbers: Mapping[str, list[str]], scores: Sequence[str]) -> list[str]:
    """Columns of the whole numbers that several judges give, which rise with theirs: people's."""
    judges = [n for n in scores if says_judge(n)]
    grades = set().union(*(_grades(numbers[n]) for n in judges))
    if len(judges) < 2 or not all(_grades(numbers[n]) for n in judges):
        return []
    found = []
    for name in scores:
        own = _grades(numbers[name])
        if (
            name in judges
            or {*words_of(name)} & (SCORES | CRITERIA)
            or not 2 < len(own & grades) == len(own)
        ):
            continue
        if _rise_together(numbers[name], numbers[judges[0]]):
            found.append(name)
    return found


def _grades_of_a_sample(
    labels: Mapping[str, list[str]], columns: Mapping[str, list[str]]
) -> list[str]:
    """Columns of a few whole numbers that are scores: on some rows, beside such on every row."""
    named = any(says_person(n) for n in columns)  # then a judge's few grades are classes
    graded = {n: own for n, c in columns.items() if len(own := _grades(c)) > 2}
    judges = {n: own for n, own in graded.items() if _says_score(n) or says_judge(n)}
    judges = {n: own for n, own in judges.items() if not (named and says_judge(n))}
    judges = {n: own for n, own in judges.items() if not _lacks(columns[n])}
    some = [
        n for n, own in graded.items()
        if n not in judges and n in labels and _lacks(columns[n]) and not _is_index(n, columns[n])
        and any(own <= judge for judge in judges.values())
    ]  # fmt: skip
    return [*some, *(n for n in judges if some and n in labels)]


def _like_a_judge(numbers: Mapping[str, list[str]], scores: Sequence[str]) -> list[str]:
    """Columns of numbers on the scale of a column that has them in every row, not a judge's own.

    In some rows only; in all rows if a judge is named and the column names people.
    """
    full = [n for n in scores if not _lacks(numbers[n]) and not _names_labellers(n)]
    judges = [n for n in full if says_judge(n)]
    some = [
        n for n in scores
        if not says_judge(n) and (_lacks(numbers[n]) or (judges and _names_labellers(n)))
    ]  # fmt: skip
    ends = {n: _scale_of(numbers[n]) for n in (*full, *some)}
    return [n for n in some if any(_within(ends[n], ends[judge]) for judge in judges or full)]


def _scale_of(cells: Iterable[str]) -> tuple[float, float]:
    """The ends of the shortest usual scale that holds all numbers."""
    low, high = usual_scale([float(c) for c in cells if c]).split(":")
    return float(low), float(high)


def _within(own: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether numbers on a scale may be on another one, and use half of it or more."""
    inside = other[0] <= own[0] and own[1] <= other[1]
    return inside and 2 * (own[1] - own[0]) >= other[1] - other[0]


def _names_labellers(name: str) -> bool:
    return bool({*words_of(name)} & LABELLERS) and not is_model(name)


def _says_what_a_judge_says(name: str, labels: Mapping[str, list[str]]) -> bool:
    """Whether a column that names people says what a column that names a judge says."""
    own = _words(labels[name])
    judges = [c for n, c in labels.items() if n != name and says_judge(n)]
    said = any(own == _words(c) or (is_binary(labels[name]) and is_binary(c)) for c in judges)
    return _names_labellers(name) and not says_judge(name) and len(own) > 1 and said


def _item_of(columns: Mapping[str, list[str]]) -> str | None:
    """A column by a usual name, or the first one called some id, or some word for an item."""
    usual = [n for n in columns if n.lower() in ITEM_COLUMNS]
    raters = [n for n, c in columns.items() if says_person(n) and are_labels(c)]
    ids = [n for n in columns if _is_id(n) and n not in raters]
    ids = [n for n in ids if n.lower() not in (*SYSTEMS, *JUDGES)]
    called = [n for n in columns if words_of(n) and {*words_of(n)} <= ITEMS]
    called = [n for n in called if len(_kinds(columns[n])) > 4]
    return next(iter([*usual, *ids, *called]), None)


def _crossed(columns: Mapping[str, list[str]], labels: Mapping[str, list[str]]) -> str | None:
    """A column whose values have each of some few words once, but for a few rows lost."""
    for words, cells in labels.items():
        several = len({*cells})
        if several < 2 or "" in cells or _counts_to(words, cells):
            continue
        for name, values in columns.items():
            most = several * len({*values})
            if "" in values or len({*values}) <= MOST_LABELS or most * (1 - MOSTLY) > len(cells):
                continue
            if len({*zip(values, cells, strict=True)}) == len(cells):
                return name
    return None


def _repeats_in(columns: Mapping[str, list[str]]) -> tuple[str, str] | None:
    """The item and the counter of its rows: 1 to k within each item, but for a few rows lost."""
    counters = {n: k for n, c in columns.items() if (k := _counts_to(n, c))}
    counters = dict(
        sorted(counters.items(), key=lambda one: not all(map(is_number, columns[one[0]])))
    )
    most = {n: max(Counter(c).values()) for n, c in columns.items() if c} if counters else {}
    usual = _item_of(columns)
    for name in dict.fromkeys([*([usual] if usual else []), *columns]):
        cells = columns[name]
        for counter, times in counters.items():
            if name == counter or most[name] != times or "" in cells:
                continue
            items, pairs = len({*cells}), len({*zip(cells, columns[counter], strict=True)})
            if items > 4 and pairs == len(cells) and pairs > (1 - MOSTLY) * items * times:
                return name, counter
    return None


def _one_to_one(cells: Sequence[str], others: Sequence[str]) -> bool:
    return len({*cells}) == len({*others}) == len({*zip(cells, others, strict=True)})


def _one_label_each(columns: Mapping[str, list[str]], item: str, truths: Sequence[str]) -> bool:
    """Whether no item has two labels of people: judges vote on one output."""
    rows = {*zip(columns[item], *(columns[n] for n in truths[:1]), strict=True)}
    labelled = [row[0] for row in rows if row[-1] != ""]
    return not truths or len(labelled) == len({*labelled})


def _counts_to(name: str, cells: Sequence[str]) -> int:
    """How many whole numbers a column counts, each about as often; 0 if it is no counter."""
    words = {*words_of(name)}
    other = (*OTHER_COUNTS, *SCORES, *VARIANTS, *SYSTEMS, *JUDGES, *PEOPLE)
    if words & {*other} or says_person(name) or says_judge(name):
        return 0
    found = Counter(cells)
    begin = re.match(r"\D*", next(iter(found), ""))
    called = begin[0] if begin else ""
    said = words | {*words_of(called)}
    if called and not said & REPEATS:
        return 0
    if not all(re.fullmatch(rf"{re.escape(called)}\d{{1,3}}(\.0)?", cell) for cell in found):
        return 0
    numbers = sorted(map(_number_in, found))
    first = numbers[0]
    in_turn = numbers == list(range(first, first + len(numbers)))
    enough = (
        len(numbers) >= 2 and first <= 1 if said & REPEATS else len(numbers) >= 3 and first == 1
    )
    even = min(found.values()) > (1 - 2 * MOSTLY) * max(found.values())
    return len(numbers) if in_turn and enough and even else 0


def _number_in(cell: str) -> int:
    """The number at the end of a cell: of ``3``, ``3.0`` and ``run3``."""
    return int(re.sub(r"^\D*|\.0$", "", cell))


def _arm(columns: Mapping[str, list[str]], item: str | None, among: Sequence[str]) -> str | None:
    """The column whose few values each item has once: systems, or variants of the item."""
    if item is None:
        return None
    for name in among:
        pairs = Counter(zip(columns[item], columns[name], strict=True))
        shared = len(pairs) > 1.5 * len(set(columns[item]))
        if shared and len(_kinds(columns[name])) > 1 and max(pairs.values()) == 1:
            return name
    return None


def _is_variant(columns: Mapping[str, list[str]], name: str) -> bool:
    values = {word for kind in _kinds(columns[name]) for word in words_of(kind)}
    return bool(values & BASELINES or {*words_of(name)} & VARIANTS)


def _zero_one(labels: Mapping[str, list[str]], verdicts: Sequence[str]) -> bool:
    """Whether verdicts are written as 1 and 0, which are scores too."""
    return len(verdicts) == 1 and {spell(c) for c in labels[verdicts[0]] if c} == {"0", "1"}


def _named_baseline(cells: Sequence[str]) -> bool:
    return any({*words_of(kind)} & BASELINES for kind in _kinds(cells))


def _are_times(name: str, cells: Sequence[str]) -> bool:
    """Dates in ISO form, or numbers under the name of a time."""
    there = [c for c in cells if c]
    if not there:
        return False
    dated = all(re.match(r"\d{4}-\d\d-\d\d", c) for c in there)
    called = {*words_of(name)} & {"time", "timestamp", "created", "asked"}
    return dated or (bool(called) and all(map(is_number, there)))


def _names_among(
    verdicts: Sequence[str], labels: Mapping[str, list[str]], people: Iterable[str]
) -> list[str]:
    """Columns that say nothing that people, or else other judges, say, beside some that do."""
    said = {
        n: {kind_of(one) for one in _kinds(labels[n]) if not says_nothing(one)} for n in verdicts
    }
    truths = {kind_of(one) for one in _kinds(people)}
    judge = [n for n in verdicts if said[n] & truths]
    judge = judge or [n for n in verdicts if said[n] <= {True, False}]
    judge = judge or [n for n in verdicts if any(said[n] & said[m] for m in verdicts if m != n)]
    return [n for n in verdicts if judge and n not in judge]


def _are_verdicts(name: str, labels: Mapping[str, list[str]], alone: bool) -> bool:
    """Whether cells say what another column says, pass and fail, or two that name no model.

    Two such words may name judges too, unless the column is `alone` in saying anything.
    """
    own = _words(labels[name])
    people = [c for n, c in labels.items() if n != name and (says_person(n) or _lacks(c))]
    if is_binary(labels[name]) or any(len(own & _words(c)) > 1 for c in people):
        return True
    if any(len(own) > 1 and own <= _words(c) for n, c in labels.items() if n != name):
        return True
    others = [c for n, c in labels.items() if n != name and not _lacks(c)]
    said = any(is_binary(c) for c in others)
    return alone and not said and len(own) == 2 and not any(map(is_model, own))


def _is_index(name: str, cells: Sequence[str]) -> bool:
    """Whether numbers only tell rows apart, or measure something else than quality."""
    if {*words_of(name)} & NO_SCORES or _is_id(name):
        return True
    there = [c for c in cells if c]
    whole = all(float(c).is_integer() for c in there)
    return whole and len(there) > MOST_LABELS and len(set(there)) == len(there)


def _says_score(name: str) -> bool:
    return bool({*words_of(name)} & SCORES)


def says_person(name: str) -> bool:
    """Whether a column is called one of what people say."""
    called = any(word in name.lower() for word in (*HUMAN, *PEOPLE))
    return called and not says_judge(name)


def says_judge(name: str) -> bool:
    """Reviewers give verdicts too, unless a model is named."""
    lower = name.lower()
    if any(word in lower for word in PEOPLE):
        return is_model(name)
    return is_model(name) or any(word in lower for word in VERDICTS)


def is_model(name: str) -> bool:
    """Whether a name is that of a language model."""
    begins = "|".join(map(re.escape, MODELS))
    return bool(re.search(rf"{'|'.join(FAMOUS)}|(^|[^a-z])({begins})", name.lower()))


def named(columns: Iterable[str], names: Sequence[str]) -> str | None:
    """The first column with one of these names."""
    return next((n for n in columns if n.lower() in names), None)


def are_labels(cells: Sequence[Any]) -> bool:
    """Whether cells are a few short words."""
    found = {str(c).strip() for c in cells if c not in (None, "")}
    short = all(len(c) <= LONGEST for c in found)
    if not 0 < len(found) <= MOST_LABELS or not short:
        return False
    return len(found) <= 4 or not all(map(is_number, found))


def is_binary(cells: Sequence[Any]) -> bool:
    """Whether cells say pass and fail, and nothing else."""
    return not unread({"": {c for c in cells if c not in (None, "")}})


def is_number(cell: Any) -> bool:
    """Whether a cell can be read as a number."""
    try:
        return float(cell) == float(cell)
    except (TypeError, ValueError):
        return False


def are_numbers(cells: Sequence[Any]) -> bool:
    """Whether cells are numbers, and not just 0 and 1."""
    found = [c for c in cells if c not in (None, "")]
    return (
        bool(found) and all(map(is_number, found)) and not {spell(c) for c in found} <= {"0", "1"}
    )
