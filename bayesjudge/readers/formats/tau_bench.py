"""tau-bench results: trials of tasks, with a reward each; a list, or tau2's ``simulations``."""

from __future__ import annotations

from collections.abc import Iterator

from bayesjudge.readers.files import File
from bayesjudge.readers.formats._cells import listed, mapping, number, text
from bayesjudge.readers.log import Grade, Notes

#: A reward that is a success, as both tools have it.
SUCCESS = 1 - 1e-6


class TauBench:
    """Whether the final state of each trial is the right one."""

    NAME = "tau-bench"

    def recognise(self, file: File) -> bool:
        """Tell by fields or members that only this tool writes."""
        first = file.first if file.kind == "json" else {}
        second = "simulations" in first and "tasks" in first
        return second or ({"task_id", "trial", "reward"} <= {*first} and "traj" in first)

    def read(self, file: File, notes: Notes) -> Iterator[Grade]:
        """All grades."""
        document = file.document
        whole = mapping(document) if isinstance(document, dict) else {}
        agent = mapping(mapping(whole.get("info")).get("agent_info"))
        for trial in map(mapping, listed(whole.get("simulations")) or listed(document)):
            reward = number(trial.get("reward", mapping(trial.get("reward_info")).get("reward")))
            yield Grade(
                item=text(trial.get("task_id")),
                metric="reward",
                value=None if reward is None else reward >= SUCCESS,
                score=reward,
                system=text(agent.get("llm")),
                repeat=trial.get("trial"),
                failure="no reward" if reward is None else "",
                output=hash(text(trial.get("id") or trial.get("trial"))),
                about={"cost": trial["agent_cost"]} if "agent_cost" in trial else {},
            )
