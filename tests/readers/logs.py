"""Small logs in the shape in which each tool writes them."""

import json
import struct
import zlib

import pyarrow as pa

NAN = float("nan")


def write_zip(path, members, method=93):
    """A zip archive, its members packed by zstd as Inspect packs them (no library writes that)."""
    body, central = b"", b""
    for name, data in members:
        packed = data
        if method == 93:
            packed = pa.Codec("zstd").compress(data, asbytes=True)
        elif method == 8:
            packer = zlib.compressobj(wbits=-15)
            packed = packer.compress(data) + packer.flush()
        sizes = (zlib.crc32(data), len(packed), len(data), len(name.encode()), 0)
        start = len(body)
        body += struct.pack("<4s5H3I2H", b"PK\x03\x04", 63, 0, method, 0, 33, *sizes)
        body += name.encode() + packed
        central += struct.pack("<4s6H3I2H", b"PK\x01\x02", 63, 63, 0, method, 0, 33, *sizes)
        central += struct.pack("<3H2I", 0, 0, 0, 0, start) + name.encode()
    n = len(members)
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, n, n, len(central), len(body), 0)
    path.write_bytes(body + central + end)


def inspect_sample(i, epoch, value, *, human=None, output="4", edited=None, votes=None):
    score = {"value": value, "answer": output, "explanation": "told", "history": []}
    message = {"role": "assistant", "model": "openai/judge", "content": "GRADE: C"}
    score["metadata"] = {"grading": [{"role": "user", "content": "?"}, message]}
    if value != value:
        score |= {"reason": "grader_failed", "explanation": "Grade not found in model output"}
    if edited is not None:
        score["history"] = [{"value": value}, {"value": edited, "provenance": {"author": "ann"}}]
        score["value"] = edited
    if votes is not None:
        failures = [{"index": k, "reason": "grader_failed"} for k, v in enumerate(votes) if not v]
        score["metadata"]["panel"] = {"votes": votes, "size": len(votes), "failures": failures}
    return {
        "id": f"q{i}",
        "epoch": epoch,
        "input": "2 + 2?",
        "target": "4",
        "output": {"choices": [{"message": {"content": output}}], "completion": output},
        "scores": {
            "model_graded_qa": score,
            "match": {"value": "C" if output == "4" else "I", "answer": output},
        },
        "metadata": {"human_label": human, "stratum": "easy" if i % 2 else "hard"},
    }


def inspect_header(samples, *, epochs=1, status="success", models="openai/judge", n=None):
    run = {
        "task": "toy",
        "model": "openai/small",
        "config": {"epochs": epochs},
        "dataset": {"samples": n or len(samples) // epochs},
        "scorers": [
            {"name": "model_graded_qa", "options": {"model": models}},
            {"name": "match", "options": {}},
        ],
    }
    return {"version": 2, "status": status, "eval": run, "results": {}}


def write_inspect(path, samples, method=93, **about):
    header = inspect_header(samples, **about)
    if path.suffix == ".json":
        path.write_text(json.dumps(header | {"samples": samples}))
        return path
    members = [("_journal/start.json", json.dumps(header).encode())]
    members += [
        (f"samples/{s['id']}_epoch_{s['epoch']}.json", json.dumps(s).encode()) for s in samples
    ]
    members += [("header.json", json.dumps(header).encode())]
    write_zip(path, members, method)
    return path


def inspect_samples(items=12, epochs=3):
    """The first six are labelled; q3 failed to parse once."""
    grades = "CCICPCIICCIC"
    return [
        inspect_sample(
            i,
            e,
            NAN if (i, e) == (3, 2) else grades[i % 12],
            human="CCICIC"[i] if i < 6 else None,
        )
        for e in range(1, epochs + 1)
        for i in range(items)
    ]


def promptfoo_rows(repeats=2):
    rows = []
    for i, (q, label) in enumerate([("one", "pass"), ("two", "fail"), ("three", None)]):
        for _ in range(repeats):
            lost = q == "three"
            reason = "Could not extract JSON from llm-rubric response" if lost else "r"
            judged = {
                "pass": not lost and q == "one",
                "score": 0 if lost else 0.8,
                "reason": reason,
                "assertion": {"type": "llm-rubric", "value": "is polite", "metric": "politeness"},
            }
            code = {"pass": True, "score": 1, "reason": "", "assertion": {"type": "contains"}}
            rows.append(
                {
                    "promptIdx": 0,
                    "testIdx": len(rows),
                    "provider": {"id": "openai:small", "label": ""},
                    "response": {"output": f"Answer {q}"},
                    "success": False,
                    "score": 0.5,
                    "gradingResult": {"componentResults": [code, judged]},
                    "testCase": {
                        "vars": {"q": q},
                        "metadata": {"human_label": label, "item": "abc"[i]},
                        "options": {"provider": "openai:judge"},
                    },
                }
            )
    return rows


def write_promptfoo(path):
    rows = promptfoo_rows()
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        whole = {"version": 3, "results": rows, "prompts": [], "stats": {}}
        path.write_text(json.dumps({"evalId": "e", "results": whole, "config": {}}))
    return path


def write_two_providers(path, human, crossed=False, questions=40):
    """A promptfoo log of two providers, each with a prompt of its own or `crossed` with both.

    Its 40 tests ask so many questions, those beyond them again.
    """
    row = promptfoo_rows()[0]
    rows = [
        {**row, "testIdx": i, "promptIdx": k, "provider": {"id": name, "label": ""},
         "testCase": {"vars": {"q": f"Question {i % questions}?"},
                      "metadata": {"human_label": human(i)}},
         "gradingResult": {"componentResults": [
             {"pass": (i + k) % 4 > 0, "score": 1, "reason": "r",
              "assertion": {"type": "llm-rubric", "value": "is polite"}}]}}
        for i in range(40)
        for own, name in enumerate(("openai:small", "other:large"))
        for k in ((0, 1) if crossed else (own,))
    ]  # fmt: skip
    whole = {"version": 3, "results": rows, "prompts": [], "stats": {}}
    path.write_text(json.dumps({"evalId": "e", "results": whole, "config": {}}))
    return path


def write_deepeval(path):
    def case(i, data):
        about = {"name": "Helpful", "threshold": 0.5, "evaluationModel": "judge"} | data
        return {"name": f"t{i}", "input": f"q{i}", "actualOutput": "o", "metricsData": [about],
                "additionalMetadata": {"human_label": "yes" if i == 0 else "no"}}  # fmt: skip

    scores = [{"success": True, "score": 0.9}, {"success": False, "score": 0.2},
              {"success": False, "error": "ValueError: no verdict"}]  # fmt: skip
    cases = [case(i, data) for i, data in enumerate(scores)]
    path.write_text(json.dumps({"testCases": cases, "conversationalTestCases": []}))
    return path


def write_mlflow(path):
    def assessment(name, value, kind, source, error=None):
        return {"assessment_name": name, "source": {"source_type": kind, "source_id": source},
                "feedback": {"value": value, "error": error}, "valid": True}  # fmt: skip

    rows = []
    for i in range(8):
        made = [assessment("correct", "yes" if i % 3 else "no", "LLM_JUDGE", "gpt")]
        if i < 4:
            made.append(assessment("correct", "yes" if i else "no", "HUMAN", "ann"))
        if i == 7:
            made[0]["feedback"] = {"value": None, "error": {"error_message": "rate limit"}}
        if i == 6:
            made.append(assessment("correct", "no", "LLM_JUDGE", "gpt") | {"valid": False})
        rows.append({"trace_id": f"tr-{i}", "tags": {"model": "small"}, "assessments": made})
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def write_phoenix(path):
    rows = ["span_id,annotation_name,annotator_kind,label,score,explanation,identifier"]
    rows += [f"s{i},correct,LLM,{'yes' if i % 2 else 'no'},{i % 2},,gpt" for i in range(4)]
    rows += ["s4,correct,LLM,,,timed out,gpt", "s0,correct,HUMAN,no,0,,", "s1,correct,HUMAN,no,0,,"]
    path.write_text("\n".join(rows))
    return path


def write_langsmith(path):
    path.write_text(
        "inputs.q,outputs.a,error,reference.a,feedback.correct,feedback.human,example_id,id\n"
        "2+2?,4,,4,1.0,1,e1,r1\n2+2?,5,,4,0.0,0,e1,r2\nParis?,x,,Paris,0.0,,e2,r3\n"
        "x?,,timeout,y,,,e3,r4\n"
    )
    return path


def write_langfuse(path):
    path.write_text(
        "id,traceId,name,value,stringValue,dataType,source,comment\n"
        "1,t1,correct,1,True,BOOLEAN,EVAL,\n2,t2,correct,0,False,BOOLEAN,EVAL,\n"
        "3,t3,correct,,,BOOLEAN,EVAL,no answer\n4,t1,correct,1,True,BOOLEAN,ANNOTATION,\n"
    )
    return path


def write_openai(path):
    def item(i, results):
        return {"object": "eval.run.output_item", "datasource_item_id": i, "run_id": "run",
                "datasource_item": {"q": "?", "human": "pass" if i else "fail"},
                "results": results, "sample": {"model": "small", "output": []}}  # fmt: skip

    name = "grader-0123456789abcdef0123456789abcdef"
    error = {"error": {"code": "500", "message": "no answer"}, "model": "judge"}
    rows = [
        item(0, [{"name": name, "passed": True, "score": 1.0, "sample": {"model": "judge"}}]),
        item(1, [{"name": name, "passed": False, "score": 0.0, "sample": {"model": "judge"}}]),
        item(2, [{"name": name, "passed": False, "score": 0.0, "sample": error}]),
    ]
    path.write_text(json.dumps({"object": "list", "data": rows}))
    return path


def write_lm_eval(path):
    (path.parent / "results.json").write_text(json.dumps({"model_name": "small"}))
    rows = [
        {"doc_id": i, "doc": {"q": "?", "human": i % 2}, "target": "4", "resps": [["4"]],
         "filtered_resps": ["4"], "filter": chosen, "metrics": ["exact_match"],
         "exact_match": float(i % 2)}
        for i in range(3) for chosen in ("none", "strict")
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def write_alpaca(path):
    rows = [
        {"instruction": f"do {i}", "generator_1": "reference", "generator_2": "small",
         "dataset": "helpful", "annotator": "gpt4", "preference": p}
        for i, p in enumerate([1.0, 2.0, 1.5, None, 1.0000000918])
    ]  # fmt: skip
    path.write_text(json.dumps(rows))
    return path


def write_arena(path):
    games = [("A>>B", "B>A"), ("B>A", "A>B"), ("A=B", "A=B"), ("A>B", "A>>B"), ("garbage", None)]
    rows = [
        {"question_id": f"q{i}", "model": "small", "judge": "gpt",
         "games": [{"score": first}, {"score": second}]}
        for i, (first, second) in enumerate(games)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def write_mt_bench(path):
    rows = [
        {"question_id": 80 + i, "turn": 1, "model": "small", "judge": ["gpt-4", "single-v1"],
         "score": s, "judgment": "said", "tstamp": 1.0}
        for i, s in enumerate([8, 9.5, -1])
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


#: By tool: name of the file, how it is written, and the metric of a judge.
LOGS = {
    "Inspect": ("run.eval", lambda p: write_inspect(p, inspect_samples(), epochs=3),
                "model_graded_qa"),
    "Inspect json": ("run.json", lambda p: write_inspect(p, inspect_samples(), epochs=3),
                     "model_graded_qa"),
    "promptfoo": ("out.json", write_promptfoo, "politeness"),
    "promptfoo lines": ("out.jsonl", write_promptfoo, "politeness"),
    "DeepEval": ("test_run.json", write_deepeval, "Helpful"),
    "MLflow": ("traces.jsonl", write_mlflow, "correct"),
    "Phoenix": ("annotations.csv", write_phoenix, "correct"),
    "LangSmith": ("experiment.csv", write_langsmith, "correct"),
    "Langfuse": ("scores.csv", write_langfuse, "correct"),
    "OpenAI Evals": ("items.json", write_openai, "grader"),
    "lm-eval": ("samples_toy.jsonl", write_lm_eval, "exact_match"),
    "alpaca_eval": ("annotations.json", write_alpaca, "preference"),
    "arena-hard": ("judgment.jsonl", write_arena, "preference"),
    "MT-bench": ("gpt-4_single.jsonl", write_mt_bench, "score"),
}  # fmt: skip
