"""Text as it may be kept and shown: without keys, and with nothing that UTF-8 cannot hold."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

REDACTED = "[redacted]"
#: Characters of an error that are kept.
LONGEST = 2000
#: Environment variables whose values are keys.
_ENVIRONMENT = re.compile(r"_(API_KEY|TOKEN|SECRET)$", re.IGNORECASE)
#: Arguments and headers whose values are keys. The end counts: `max_tokens` is none.
_SECRET_NAME = re.compile(
    r"(?:^|[-_])(?:api[-_]?key|key|key[-_]id|token|secret|password|passwd|authorization|credentials?)$",
    re.IGNORECASE,
)
#: A shorter value, such as "none" for a server that wants no key, is no secret.
_SHORTEST = 8
_KEY = r"[A-Za-z0-9+/_.=~*…-]"
_SHAPES = (
    # what services call their keys; a masked middle (sk-ab***yz, sk-ab...yz) is taken along
    re.compile(r"\bsk[-_][\w*…-]{6,}(?:\.{2,}[\w-]+)?"),
    re.compile(
        r"\b(?:pk|rk|gsk|xai|pplx|nvapi|hf|gh[opsu]|github_pat|glpat|r8|tvly|lsv2|xox[abeprs])"
        r"[-_](?=[\w*-]*[\d*])[\w*…-]{8,}"
    ),
    re.compile(r"\bAIza[\w-]{16,}|\bAKIA[0-9A-Z]{12,}|\bya29\.[\w.-]{8,}"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?"),  # a JSON web token
    re.compile(rf"(?i)\b(?P<kept>(?:bearer|basic)\s+){_KEY}{{8,}}"),
    # key=…, "api_key": "…", API key provided: …
    re.compile(
        r"(?i)(?P<kept>(?:key|token|secret|password|passwd|authorization|credentials?)"
        r"(?:[\"'\]]|(?:\s+\w+){1,3})?\s*[:=]\s*[\"']?)"
        rf"(?:(?=[^\s\"']*\d){_KEY}{{12,}}|{_KEY}{{32,}})"
    ),
    re.compile(r"(?P<kept>://[^/\s:@]+:)[^/\s@]+(?=@)"),  # https://name:password@host
)


def text_of(value: object) -> str:
    """Text of anything: an object that has none, and half a character, are spelled out."""
    try:
        text = str(value)
    except Exception as error:
        text = f"<{type(value).__name__} without a text: {type(error).__name__}>"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_secret_name(name: str) -> bool:
    """Whether what goes by this name is a key."""
    return _SECRET_NAME.search(name) is not None


def secrets_in(arguments: Any) -> set[str]:
    """Keys among the arguments of a call, and in mappings and lists within them."""
    secrets: set[str] = set()
    if isinstance(arguments, Mapping):
        for name, value in arguments.items():
            if isinstance(value, str) and is_secret_name(str(name)):
                secrets |= {value, value.rpartition(" ")[2]}  # "Bearer …" without the word, too
            else:
                secrets |= secrets_in(value)
    elif isinstance(arguments, list | tuple):
        secrets = secrets.union(*map(secrets_in, arguments))
    return secrets


def without_secrets(arguments: Any) -> Any:
    """Return arguments of a call without their keys, which may change between runs."""
    if isinstance(arguments, Mapping):
        return {
            name: without_secrets(value)
            for name, value in arguments.items()
            if not is_secret_name(str(name))
        }
    if isinstance(arguments, list | tuple):
        return [without_secrets(value) for value in arguments]
    return arguments


class Redactor:
    """Blanks out known keys, those of the environment included, and what looks like a key."""

    def __init__(self, known: Iterable[str] = ()):
        named = {value for name, value in os.environ.items() if _ENVIRONMENT.search(name)}
        spelled: set[str] = set()
        for key in {key.strip() for key in {*named, *known}}:
            if len(key) < _SHORTEST:
                continue
            forms = {key, quote(key, safe="", errors="replace"), json.dumps(key)[1:-1]}
            spelled |= {re.escape(form) for form in forms}
            if len(key) >= 16:  # cut off, or masked from there on
                spelled.add(re.escape(key[:12]) + rf"{_KEY}*")
        longest_first = sorted(spelled, key=len, reverse=True)
        self._known = re.compile("|".join(longest_first)) if spelled else None

    def __call__(self, value: object) -> str:
        """Text of a value, as it may be kept and shown."""
        text = text_of(value)
        if self._known is not None:
            text = self._known.sub(REDACTED, text)
        for shape in _SHAPES:
            kept = r"\g<kept>" if "kept" in shape.groupindex else ""
            text = shape.sub(kept + REDACTED, text)
        return text

    def error(self, error: BaseException) -> str:
        """Name of an error, and its text if it has one."""
        text = self(error)
        text = text if len(text) <= LONGEST else text[:LONGEST] + " …"
        return f"{type(error).__name__}: {text}" if text else type(error).__name__
