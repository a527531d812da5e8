"""Ordinary ways for a judge to hold what it asks, for test_what_is_asked.py; each a file of code.

Arguments: folder, text, and the ways that are to run (all of them if none is named).
"""

import importlib
import sys
from pathlib import Path

from bayesjudge.repeats.runner import RetryPolicy, sample_until_sync

PLAN = {
    "scale": [1, 2, 3, 4, 5],
    "half_width": 0.4,
    "most_per_item": 2,
    "retry": RetryPolicy(timeout=5, retries=0, first_delay=0.001),
    "progress": False,
}
START = "from bayesjudge.repeats.runner import Reply\n"
ASKED = "async def judge(item):\n    return Reply(3, {})\n"


def judged_by(code, expression):
    """Code, and a judge that asks what the expression comes to."""
    return START + code + "\n" + ASKED.format(expression)


#: `TEXT` stands for the prompt, `NUMBER` for a number that goes with it.
WAYS = {
    "constant": judged_by("", "TEXT + item"),
    "f-string": judged_by("", "f'{TEXT} {item}'"),
    "docstring": START
    + "async def judge(item):\n    TEXT\n    return Reply(3, judge.__doc__ + item)",
    "global text": judged_by("PROMPT = TEXT", "PROMPT + item"),
    "global int": judged_by("SHOTS = NUMBER", "f'{SHOTS} examples: {item}'"),
    "global fraction": judged_by("TEMPERATURE = NUMBER / 7", "f'{TEMPERATURE} {item}'"),
    "global list": judged_by("EXAMPLES = ['one', TEXT]", "' '.join([*EXAMPLES, item])"),
    "global tuple": judged_by("EXAMPLES = 'one', ('two', TEXT)", "EXAMPLES[1][1] + item"),
    "global dict": judged_by("PROMPTS = {'strict': TEXT, 3: 4}", "PROMPTS['strict'] + item"),
    "global nested": judged_by("M = [{'role': 'system', 'content': [TEXT]}]", "str(M) + item"),
    "global set": judged_by("WORDS = {'a', 'b', TEXT}", "' '.join(sorted(WORDS)) + item"),
    "global frozenset": judged_by("WORDS = frozenset({'a', TEXT})", "str(sorted(WORDS)) + item"),
    "global bytes": judged_by("PROMPT = TEXT.encode()", "PROMPT.decode() + item"),
    "global flag": judged_by("STRICT = NUMBER > 12", "f'{STRICT} {item}'"),
    "deque": judged_by("import collections\nP = collections.deque([TEXT])", "P[0] + item"),
    "chain of mappings": judged_by(
        "import collections\nP = collections.ChainMap({}, {'p': TEXT})", "P['p'] + item"
    ),
    "user dict": judged_by("import collections\nP = collections.UserDict(p=TEXT)", "P['p'] + item"),
    "mapping proxy": judged_by(
        "import types\nP = types.MappingProxyType({'p': TEXT})", "P['p'] + item"
    ),
    "default dict": judged_by(
        "import collections\nP = collections.defaultdict(str, p=TEXT)", "P['p'] + item"
    ),
    "named tuple": judged_by(
        "import typing\nclass P(typing.NamedTuple):\n    text: str\np = P(TEXT)", "p.text + item"
    ),
    "enum": judged_by(
        "import enum\nclass P(enum.Enum):\n    strict = TEXT", "P.strict.value + item"
    ),
    "namespace": judged_by(
        "import types\nconfig = types.SimpleNamespace(prompt=TEXT)", "config.prompt + item"
    ),
    "object in an object": judged_by(
        "class Config: pass\nc = Config()\nc.judge = Config()\nc.judge.prompt = TEXT",
        "c.judge.prompt + item",
    ),
    "template": judged_by("import string\nP = string.Template(TEXT)", "P.safe_substitute() + item"),
    "pattern": judged_by("import re\nP = re.compile(re.escape(TEXT))", "P.pattern + item"),
    "long pattern": judged_by("import re\nP = re.compile('x' * 900 + TEXT)", "P.pattern + item"),
    "date": judged_by(
        "import datetime\nD = datetime.date(2025, 1, 1) + datetime.timedelta(NUMBER)",
        "f'{D} {item}'",
    ),
    "decimal": judged_by("import decimal\nD = decimal.Decimal(NUMBER) / 3", "f'{D} {item}'"),
    "array": judged_by("import numpy as np\nN = np.arange(3) + NUMBER", "f'{N} {item}'"),
    "array of texts": judged_by("import numpy as np\nN = np.array(['a', TEXT])", "f'{N} {item}'"),
    "number of NumPy": judged_by("import numpy as np\nN = np.float32(NUMBER)", "f'{N} {item}'"),
    "data frame": judged_by(
        "import pandas as pd\nF = pd.DataFrame({'p': [TEXT]})", "F['p'].iloc[0] + item"
    ),
    "series": judged_by("import pandas as pd\nF = pd.Series({'p': TEXT})", "F['p'] + item"),
    "index of a series": judged_by(
        "import pandas as pd\nF = pd.Series({TEXT: 1})", "F.index[0] + item"
    ),
    "index of a data frame": judged_by(
        "import pandas as pd\nF = pd.DataFrame({'p': [1]}, index=[TEXT])", "F.index[0] + item"
    ),
    "fraction": judged_by(
        "import fractions\nQ = fractions.Fraction(10**400, NUMBER)", "f'{Q} {item}'"
    ),
    "frame of polars": judged_by(
        "import polars as pl\nF = pl.DataFrame({'p': [TEXT]})", "F['p'][0] + item"
    ),
    "method of a text": judged_by("ask = (TEXT + '{}').format", "ask(item)"),
    "default": START + "async def judge(item, prompt=TEXT):\n    return Reply(3, prompt + item)",
    "keyword default": START
    + "async def judge(item, *, shots=(1, TEXT)):\n    return Reply(3, shots[1] + item)",
    "attribute of a function": judged_by("", "judge.prompt + item") + "judge.prompt = [TEXT][0]",
    "closed over": START
    + "def made(prompt):\n    async def judge(item):\n        return Reply(3, prompt + item)\n"
    + "    return judge\njudge = made(TEXT)",
    "list closed over": START
    + "def made(shots):\n    async def judge(item):\n        return Reply(3, shots[0] + item)\n"
    + "    return judge\njudge = made([TEXT])",
    "number closed over": START
    + "def made(n):\n    async def judge(item):\n        return Reply(3, f'{n} {item}')\n"
    + "    return judge\njudge = made(NUMBER)",
    "partial": START
    + "import functools\nasync def ask(prompt, item):\n    return Reply(3, prompt + item)\n"
    + "judge = functools.partial(ask, TEXT)",
    "partial by keyword": START
    + "import functools\nasync def ask(item, shots):\n    return Reply(3, shots[0] + item)\n"
    + "judge = functools.partial(functools.partial(ask), shots=[TEXT])",
    "helper": judged_by("def words(item):\n    return TEXT + item", "words(item)"),
    "helper of a helper": judged_by(
        "P = [TEXT]\ndef text():\n    return P[0]\ndef words(item):\n    return text() + item",
        "words(item)",
    ),
    "cached helper": judged_by(
        "import functools\nP = {'p': TEXT}\n@functools.cache\ndef words(item):\n"
        "    return P['p'] + item",
        "words(item)",
    ),
    "helpers in a dict": judged_by("H = {'strict': lambda item: TEXT + item}", "H['strict'](item)"),
    "inner function": START
    + "P = [TEXT]\nasync def judge(item):\n    def words(item):\n        return P[0] + item\n"
    + "    return Reply(3, words(item))",
    "generator": START
    + "P = [TEXT]\nasync def judge(item):\n    return Reply(3, ''.join(p for p in [*P, item]))",
    "two of one name": START
    + "def words(prompt):\n    return lambda item: prompt + item\n"
    + "first, second = words(TEXT), words('Be kind. ')\n"
    + ASKED.format("first(item) + second(item)"),
    "instance": START
    + "class Judge:\n    def __init__(self, prompt):\n        self.prompt = prompt\n"
    + "    async def __call__(self, item):\n        return Reply(3, self.prompt + item)\n"
    + "judge = Judge(TEXT)",
    "instance with slots": START
    + "class Judge:\n    __slots__ = ('prompt',)\n    async def __call__(self, item):\n"
    + "        return Reply(3, self.prompt + item)\njudge = Judge()\njudge.prompt = TEXT",
    "data class": START
    + "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Judge:\n    prompt: str\n"
    + "    shots: list = dataclasses.field(default_factory=list)\n"
    + "    async def __call__(self, item):\n        return Reply(3, self.prompt + item)\n"
    + "judge = Judge(TEXT)",
    "default of a data class": START
    + "import dataclasses\n@dataclasses.dataclass\nclass Judge:\n    prompt: str = TEXT\n"
    + "    async def __call__(self, item):\n        return Reply(3, self.prompt + item)\n"
    + "judge = Judge()",
    "pydantic": START
    + "import pydantic\nclass Judge(pydantic.BaseModel):\n    prompt: str\n"
    + "    async def __call__(self, item):\n        return Reply(3, self.prompt + item)\n"
    + "judge = Judge(prompt=TEXT)",
    "read from a file at first": START
    + "from pathlib import Path\nclass Judge:\n    def __init__(self, path):\n"
    + "        self.prompt = Path(path).read_text()\n    @classmethod\n    def load(cls):\n"
    + "        return cls(Path(__file__).with_name('prompt.txt'))\n"
    + "    async def __call__(self, item):\n        return Reply(3, self.prompt + item)\n"
    + "judge = Judge.load()",
    "method by a made-up name": START
    + "class Judge:\n    def ask_strictly(self, item):\n        return TEXT + item\n"
    + "    async def __call__(self, item):\n        how = 'strictly'\n"
    + "        return Reply(3, getattr(self, f'ask_{how}')(item))\njudge = Judge()",
    "made in the call": judged_by(
        "class Words:\n    def __init__(self, item):\n        self.text = TEXT + item",
        "Words(item).text",
    ),
    "schema": judged_by(
        "import pydantic\nclass S(pydantic.BaseModel):\n"
        "    score: int = pydantic.Field(description=TEXT)",
        "str(S.model_json_schema()) + item",
    ),
    "attributes made when asked for": judged_by("import lazily", "lazily.PROMPT + item"),
    "class attribute": START
    + "class Judge:\n    PROMPT = TEXT\n    async def __call__(self, item):\n"
    + "        return Reply(3, self.PROMPT + item)\njudge = Judge()",
    "attribute of a base": START
    + "class Base:\n    PROMPTS = [TEXT]\nclass Judge(Base):\n    async def __call__(self, item):\n"
    + "        return Reply(3, self.PROMPTS[0] + item)\njudge = Judge()",
    "class by name": judged_by("class Config:\n    PROMPT = TEXT", "Config.PROMPT + item"),
    "docstring of a class": START
    + "class Judge:\n    TEXT\n    async def __call__(self, item):\n"
    + "        return Reply(3, self.__doc__ + item)\njudge = Judge()",
    "property": START
    + "class Judge:\n    @property\n    def prompt(self):\n        return TEXT\n"
    + "    async def __call__(self, item):\n        return Reply(3, self.prompt + item)\n"
    + "judge = Judge()",
    "attribute by a made-up name": START
    + "class Judge:\n    PROMPT_STRICT = [TEXT]\n    kind = 'strict'\n"
    + "    async def __call__(self, item):\n"
    + "        return Reply(3, getattr(self, f'PROMPT_{self.kind.upper()}')[0] + item)\n"
    + "judge = Judge()",
    "bound method": START
    + "class Grader:\n    def __init__(self, prompt):\n        self.prompt = prompt\n"
    + "    async def ask(self, item):\n        return Reply(3, self.prompt + item)\n"
    + "judge = Grader(TEXT).ask",
    "class method": START
    + "class Grader:\n    PROMPT = TEXT\n    @classmethod\n    async def ask(cls, item):\n"
    + "        return Reply(3, cls.PROMPT + item)\njudge = Grader.ask",
    "static method": START
    + "class Grader:\n    @staticmethod\n    def words(item):\n        return TEXT + item\n"
    + ASKED.format("Grader.words(item)"),
    "method of a global object": judged_by(
        "class Grader:\n    def __init__(self, prompt):\n        self.parts = {'p': [prompt]}\n"
        "    def words(self, item):\n        return self.parts['p'][0] + item\n"
        "grader = Grader(TEXT)",
        "grader.words(item)",
    ),
    "function bound by hand": START
    + "import types\nclass Holder: pass\nasync def ask(self, item):\n"
    + "    return Reply(3, TEXT + item)\njudge = types.MethodType(ask, Holder())",
    "with a lock and a log": START
    + "import asyncio, logging, threading\nlog = logging.getLogger('judge')\n"
    + "class Judge:\n    def __init__(self, prompt):\n        self.prompt = prompt\n"
    + "        self.lock, self.seats = threading.Lock(), asyncio.Semaphore(2)\n"
    + "    async def __call__(self, item):\n        async with self.seats:\n"
    + "            with self.lock:\n                log.debug('asked')\n"
    + "                return Reply(3, self.prompt + item)\njudge = Judge(TEXT)",
    "module's attribute": judged_by("import held", "held.PROMPT + item"),
    "module's list": judged_by("import held", "held.PROMPTS['strict'][0] + item"),
    "module's object": judged_by("import held", "held.config.prompt + item"),
    "module's function": judged_by("import held", "held.words(item)"),
    "function of a module": judged_by("from held import words", "words(item)"),
    "decorated elsewhere": START
    + "import held\n@held.asking\nasync def judge(item):\n    return Reply(3, item)",
    "module in a function": START
    + "async def judge(item):\n    import held\n    return Reply(3, held.PROMPT + item)",
    "name in a function": START
    + "async def judge(item):\n    from held import PROMPT\n    return Reply(3, PROMPT + item)",
    "module in a package": judged_by("import holding.prompts", "holding.prompts.PROMPT + item"),
    "module in an object": START
    + "import held\nclass Judge:\n    def __init__(self):\n        self.config = held\n"
    + "    async def __call__(self, item):\n        return Reply(3, self.config.PROMPT + item)\n"
    + "judge = Judge()",
    "attribute by text": judged_by("import held", "getattr(held, 'PROMPT') + item"),
    "global by text": judged_by("PROMPT = TEXT", "globals()['PROMPT'] + item"),
    "environment": judged_by("import os", "os.environ['JUDGE_PROMPT'] + item"),
    "environment by getenv": judged_by("import os", "os.getenv('JUDGE_PROMPT') + item"),
    "environment imported": judged_by("from os import environ", "environ['JUDGE_PROMPT'] + item"),
    "environment by a global": judged_by(
        "import os\nNAME = 'JUDGE_PROMPT'", "os.environ.get(NAME, '') + item"
    ),
    "judge within a judge": START
    + "class Inner:\n    def __init__(self, prompt):\n        self.asks = {'prompt': prompt}\n"
    + "        self.client = (1 for _ in ())\n    async def __call__(self, item):\n"
    + "        return Reply(3, self.asks['prompt'] + item)\ninner = Inner(TEXT)\n"
    + "async def judge(item):\n    return await inner(item)",
    "random pauses": START
    + "import random\nfrom random import uniform\nP = [TEXT]\nasync def judge(item):\n"
    + "    random.random() + uniform(0, 1)\n    return Reply(3, P[0] + item)",
    "attribute by a name of many parts": judged_by(
        "import held\nkind = 'pro'", "getattr(held, f'{kind.upper()}MPT') + item"
    ),
    "global by a name of many parts": judged_by(
        "PROMPT_STRICT = TEXT\nkind = 'strict'", "globals()[f'PROMPT_{kind.upper()}'] + item"
    ),
    "attribute by a getter": judged_by(
        "import held, operator\nget = operator.attrgetter('PROMPT')", "get(held) + item"
    ),
    "method by a caller": judged_by(
        "import operator\nclass Words:\n    def strict(self):\n        return TEXT\n"
        "w, call = Words(), operator.methodcaller('strict')",
        "call(w) + item",
    ),
    "command line": START
    + "import sys\nsys.argv[1:] = [TEXT]\n"
    + ASKED.format("sys.argv[1] + item"),
    "context variable": judged_by(
        "import contextvars\nP = contextvars.ContextVar('P', default=TEXT)", "P.get() + item"
    ),
    "thread's own": judged_by(
        "import threading\nP = threading.local()\nP.prompt = TEXT", "P.prompt + item"
    ),
    "default of a dict": judged_by(
        "import collections\nP = collections.defaultdict(lambda: TEXT)", "P['x'] + item"
    ),
    "property of a class": judged_by(
        "class Kind(type):\n    @property\n    def prompt(self):\n        return TEXT\n"
        "class Config(metaclass=Kind): pass",
        "Config.prompt + item",
    ),
    "wrapper of one's own": START
    + "import functools\nclass Asking:\n    def __init__(self, judge, prompt):\n"
    + "        functools.update_wrapper(self, judge)\n        self.prompt = prompt\n"
    + "    async def __call__(self, item):\n"
    + "        return Reply(3, self.prompt + await self.__wrapped__(item))\n"
    + "async def plain(item):\n    return item\njudge = Asking(plain, TEXT)",
    # what a later run cannot be held against
    "file by open": judged_by("", "open('prompt.txt').read() + item"),
    "file by Path": judged_by("import pathlib", "pathlib.Path('prompt.txt').read_text() + item"),
    "path": judged_by(
        "from pathlib import Path\nHERE = Path(__file__).parent",
        "(HERE / 'prompt.txt').read_text() + item",
    ),
    "path of an object": START
    + "from pathlib import Path\nclass Judge:\n    def __init__(self):\n"
    + "        self.path = Path('prompt.txt')\n    async def __call__(self, item):\n"
    + "        return Reply(3, self.path.read_text() + item)\njudge = Judge()",
    "file by io": judged_by("import io", "io.open('prompt.txt').read() + item"),
    "open file": judged_by("import io\nfile = io.StringIO(TEXT)", "file.getvalue() + item"),
    "file read by an object made in the call": START
    + "class Words:\n    def __init__(self):\n        self.text = open('prompt.txt').read()\n"
    + ASKED.format("Words().text + item"),
    "file read by a method": START
    + "class Judge:\n    def words(self):\n        return open('prompt.txt').read()\n"
    + "    async def __call__(self, item):\n        return Reply(3, self.words() + item)\n"
    + "judge = Judge()",
    "object of a library": judged_by(
        "import jinja2\nP = jinja2.Template(TEXT)", "P.render() + item"
    ),
    "folder of a library": judged_by(
        "import jinja2\nE = jinja2.Environment(loader=jinja2.FileSystemLoader('.'))",
        "E.get_template('prompt.txt').render() + item",
    ),
    "running generator": judged_by(
        "def words():\n    while True:\n        yield TEXT\nG = words()", "next(G) + item"
    ),
    "table read by a library": judged_by(
        "import pandas as pd", "pd.read_csv('prompt.txt', sep='|').columns[0] + item"
    ),
    "lines kept by Python": judged_by(
        "import linecache", "linecache.getline('prompt.txt', 1) + item"
    ),
    "resource of a package": judged_by(
        "import importlib.resources", "importlib.resources.read_text('holding', 'x') + item"
    ),
    "data of a package": judged_by(
        "import pkgutil", "pkgutil.get_data('holding', 'prompts.py').decode() + item"
    ),
    "database": judged_by(
        "import sqlite3", "sqlite3.connect('p.sqlite').execute('pragma user_version') + item"
    ),
    "module imported by text": judged_by(
        "import importlib", "importlib.import_module('held').PROMPT + item"
    ),
    "module among those imported": judged_by(
        "import held, sys", "sys.modules['held'].PROMPT + item"
    ),
    "file run": judged_by("import runpy", "runpy.run_path('held.py')['PROMPT'] + item"),
    "expression": judged_by("PROMPT = TEXT", "eval('PROMPT') + item"),
}
#: Refused at once, unless the judge says what it asks.
UNKNOWN = [*WAYS][[*WAYS].index("file by open") :]

HELD = """
import functools
class Config: pass
PROMPT = TEXT
PROMPTS = {"strict": [PROMPT]}
config = Config()
config.prompt = PROMPT
def words(item):
    return PROMPTS["strict"][0] + item
def asking(judge):
    @functools.wraps(judge)
    async def asked(item):
        return await judge(config.prompt + item)
    return asked
"""


def judge_of(way, text, folder):
    """The judge of a way, as a process of its own has it in this folder."""

    def write(name, code):
        path = Path(folder, name)
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(code.replace("TEXT", repr(text)).replace("NUMBER", str(len(text))))

    name = "judge_" + "".join(c if c.isalnum() else "_" for c in way)
    for own in [
        one for one in sys.modules if one in (name, "held", "lazily", "holding", "holding.prompts")
    ]:
        del sys.modules[own]
    write("held.py", HELD)
    write("lazily.py", "def __getattr__(name):\n    return {'PROMPT': TEXT}[name]")
    write("holding/__init__.py", "")
    write("holding/prompts.py", "PROMPT = TEXT")
    write(f"{name}.py", WAYS[way])
    Path(folder, "prompt.txt").write_text(text)
    importlib.invalidate_caches()
    return importlib.import_module(name).judge


def ask(way, text, folder, **settings):
    """Run the judge of a way on the store of that way."""
    store = Path(folder, f"{way}.sqlite")
    return sample_until_sync(judge_of(way, text, folder), ["a"], store=store, **PLAN | settings)


if __name__ == "__main__":
    import os

    given, words, *ways = sys.argv[1:]
    os.chdir(given)
    os.environ["JUDGE_PROMPT"] = words
    sys.path.insert(0, given)
    sys.dont_write_bytecode = True
    for one in ways:
        print(ask(one, words, given).calls, one)
