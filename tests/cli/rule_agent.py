"""A coding agent that is a short program: it knows only the commands, and answers each order by a rule.

`python rule_agent.py RETAIN VAULT NAME`; it says at the end how many replies were accepted. Run by the tests as text
(`python -c`), in the open and in the cage, where the checkout may not be reachable.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

DEFINES = re.compile(r"(?:The |An? )?([a-z]+(?: [a-z]+){0,2}) (?:is|are) (?:the|an?) ", re.IGNORECASE)


def call(retain: str, vault: str, *words: str, said: str = "") -> dict[str, Any]:
    done = subprocess.run([retain, "agent", *words, "--vault", vault], input=said, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    if "error" in answer:
        sys.exit(f"{words}: {answer['error']} {done.stderr}")
    return answer


def extract(request: dict[str, Any]) -> dict[str, Any]:
    claims, terms = [], []
    for sentence in re.split(r"(?<=[.])\s+", request["text"]):
        found = DEFINES.match(sentence)
        if found and "\n" not in sentence:
            terms.append({"name": found[1], "signal": "definition"})
            claims.append({"kind": "definition", "quote": sentence, "about": [found[1]]})
        elif terms and len(sentence) > 30 and "\n" not in sentence:
            kind = "mechanism" if "because" in sentence else "fact"
            claims.append({"kind": kind, "quote": sentence, "about": [terms[-1]["name"]]})
    return {"claims": claims, "terms": terms}


def fresh(request: dict[str, Any]) -> list[dict[str, Any]]:
    new = request.get("fresh") or [claim["id"] for claim in request["claims"]]
    return [claim for claim in request["claims"] if claim["id"] in new]


def compose(request: dict[str, Any]) -> dict[str, Any]:
    said = [{"text": claim.get("words", claim["quote"]), "cites": [claim["id"]]} for claim in fresh(request)]
    return {"sections": [{"heading": "", "paragraphs": [said]}]}


def cards(request: dict[str, Any]) -> dict[str, Any]:
    defined = [claim for claim in fresh(request) if claim["kind"] == "definition"][:1]
    asked = f"What is meant by {request['title']}?"
    return {
        "cards": [
            {"kind": "definitional", "question": asked, "answer": c.get("words", c["quote"]), "cites": [c["id"]]}
            for c in defined
        ]
    }


def answer(request: dict[str, Any]) -> dict[str, Any]:
    return {
        "sentences": [{"text": c.get("words", c["quote"]), "cites": [c["id"]]} for c in request["claims"][:1]],
        "missing": "",
    }


UNSURE = {"check": {"entailed": "unsure"}, "match": {"same": "unsure"}, "reconcile": {"verdict": "unsure"}}
NOTHING: dict[str, dict[str, Any]] = {"extract": {"claims": [], "terms": []}, "cards": {"cards": []}}
BY_RULE: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "extract": extract,
    "compose": compose,
    "cards": cards,
    "answer": answer,
}


def main(retain: str, vault: str, name: str) -> None:
    accepted = 0
    while not (taken := call(retain, vault, "next", "--count", "7", "--as", name, "--wait", "5"))["done"]:
        replies = {}
        for order in taken["orders"]:
            assert order["type"] in taken["how"], "how to answer comes with the orders"
            rule = BY_RULE.get(order["type"])
            replies[order["id"]] = rule(order["request"]) if rule else UNSURE[order["type"]]
        while replies:
            lines = "\n".join(json.dumps({"id": i, "reply": r}) for i, r in replies.items())
            back = call(retain, vault, "submit", "--as", name, "--partial", said=lines)
            accepted += back["accepted"]
            refused = [each["id"] for each in back["results"] if each["state"] == "refused"]
            replies = {i: NOTHING[i.partition("-")[0]] for i in refused}
    print(f"{name} {accepted}")


if __name__ == "__main__":
    main(*sys.argv[1:])
