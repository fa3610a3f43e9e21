"""Notebooks that want more than their due: cells for exercise 02, by name.

CELLS[name] is a list of code cells. ALLOWED[name] is what such a notebook deserves:
"nothing", or "all" where its functions are right and the attack is beside them, or
"what is left" where the attack takes what its own functions need.
"""

import functools
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
NAMES = ["packed_mask", "sink_mask", "n_readable", "masked_weights"]
CELLS: dict[str, list[str]] = {}
ALLOWED: dict[str, str] = {}


@functools.cache
def solved() -> list[str]:
    """Return the code cells of the worked solution."""
    notebook = nbformat.read(ROOT / "solutions" / "02_masks" / "masks.ipynb", 4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def attack(name: str, code: str, beside_right: bool = False) -> None:
    """Take an attack: a cell that comes first, or stands beside right functions."""
    CELLS[name] = [code, *solved()] if beside_right else [code]
    ALLOWED[name] = "all" if beside_right else "nothing"


def answering(body: str) -> str:
    """Write a cell in which each asked function does the same."""
    lines = [f"def answer(*args, **kwargs):\n    {body}"]
    return "\n".join(lines + [f"{name} = answer" for name in NAMES])


# It does not end.
attack("loop", "while True: pass", beside_right=True)
attack("loop in a function", "def packed_mask(*args):\n    while True: pass")
attack(
    "loop that swallows",
    "while True:\n    try:\n        import time; time.sleep(9)\n"
    "    except BaseException: pass",
    beside_right=True,
)
attack(
    "signals ignored",
    "import signal\nfor s in set(signal.Signals) - {9, 19}:\n    try: signal.signal(s, 1)\n"
    "    except (OSError, ValueError): pass\nwhile True: pass",
    beside_right=True,
)
attack("loop in C", "def packed_mask(*args):\n    return sum(range(10**15))")
attack(
    "a thread that stays",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(999,)).start()",
    beside_right=True,
)
attack(
    "an exit handler that stays",
    "import atexit, time\natexit.register(time.sleep, 999)",
    beside_right=True,
)

# It takes all there is.
attack("memory", "x = []\nwhile True: x.append(bytearray(10**8))", beside_right=True)
ALLOWED["memory"] = "what is left"  # it keeps what it took
attack("a tensor of all memory", answering("import torch; return torch.zeros(10**12)"))
attack(
    "forks",
    "import os\nfor _ in range(2000):\n    try:\n"
    "        if os.fork() == 0:\n            import time; time.sleep(60)\n"
    "    except OSError: break",
)
attack("disk", "open('/tmp/x', 'wb').write(b'x' * 10**9)", beside_right=True)
attack(
    "disk in many files",
    "for i in range(10**4): open(f'/home/student/{i}', 'wb').write(b'x' * 10**7)",
    beside_right=True,
)
attack("prints one long line", "print('x' * 2 * 10**8)", beside_right=True)
attack("prints for ever", "while True: print('x' * 10**6)", beside_right=True)
attack("returns a great deal", "def packed_mask(*args): return ['x' * 2000] * 10**6")
attack(
    "returns lists in lists",
    answering("x = []\n    for _ in range(10**5): x = [x]\n    return x"),
)
attack("returns itself", answering("x = []; x.append(x); return x"))

# It ends the process.
attack("exit", "import sys; sys.exit()", beside_right=True)
attack("exit in a function", answering("raise SystemExit"))
attack("hard exit", "import os; os._exit(0)", beside_right=True)
attack("hard exit in a function", answering("import os; os._exit(0)"))
attack("crash", "import ctypes; ctypes.string_at(0)", beside_right=True)
attack("closes all files", "import os; os.closerange(0, 500)")
attack("kills its parent", "import os; os.kill(os.getppid(), 9)")
attack("kills everybody", "import os; os.kill(-1, 9)", beside_right=True)

# It leaves something behind.
attack(
    "a daemon",
    "import subprocess\nsubprocess.Popen(['sleep', '31415'], start_new_session=True)",
    beside_right=True,
)
attack(
    "double fork",
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        time.sleep(31415)\n    os._exit(0)",
    beside_right=True,
)
attack(
    "deletes",
    "import shutil\nfor folder in [FOLDER, '/course', '/usr/share', ROOT]:\n"
    "    shutil.rmtree(folder, ignore_errors=True)",
    beside_right=True,
)
attack(
    "writes marks",
    "import os\nfor place in ['.', FOLDER, '/proc/1/cwd', '/proc/1/root' + FOLDER]:\n"
    "    try: open(os.path.join(place, 'results.jsonl'), 'a').write('x')\n"
    "    except OSError: pass",
    beside_right=True,
)
attack(
    "writes into the library",
    "import course_lib, torch, os\nfor module in (course_lib, torch):\n"
    "    try: open(os.path.dirname(module.__file__) + '/evil.py', 'w')\n"
    "    except OSError: pass",
    beside_right=True,
)

# It reads what it must not.
attack(
    "the catalogue",
    "from course_lib.feedback.catalogue import find_task\n"
    f"for name in {NAMES}: globals()[name] = find_task(name).reference",
)
attack(
    "the catalogue from its file",
    "import sys\nsys.path.insert(0, ROOT)\n"
    "for key in [k for k in sys.modules if k.startswith('course_lib')]: del sys.modules[key]\n"
    "from course_lib.feedback.catalogue import find_task\n"
    f"for name in {NAMES}: globals()[name] = find_task(name).reference",
)
attack(
    "the solutions",
    "import json\n"
    "cells = json.load(open(ROOT + '/solutions/02_masks/masks.ipynb'))['cells']\n"
    "for cell in cells:\n"
    "    if cell['cell_type'] == 'code': exec(''.join(cell['source']), globals())",
)
attack(
    "a neighbour's work",
    "import json, glob\n"
    "for file in glob.glob(FOLDER + '/submissions/honest/*.ipynb'):\n"
    "    for cell in json.load(open(file))['cells']:\n"
    "        if cell['cell_type'] == 'code': exec(''.join(cell['source']), globals())",
)
attack(
    "right answers in memory",
    "import gc\n"
    f"for thing in gc.get_objects():\n"
    f"    if getattr(thing, 'name', None) in {NAMES} and hasattr(thing, 'reference'):\n"
    "        globals()[thing.name] = thing.reference",
)
attack(
    "right answers in the job",
    "import sys, types\n"
    "frame = sys._getframe()\n"
    "while frame:\n"
    "    for value in frame.f_locals.values():\n"
    "        if isinstance(value, bytes) and b'packed_mask' in value:\n"
    "            import pickle\n"
    "            for name, use, inputs in pickle.loads(value):\n"
    "                for cell in (use.__closure__ or ()):\n"
    "                    if callable(cell.cell_contents):\n"
    "                        globals()[name] = cell.cell_contents\n"
    "                found = use.__globals__.get('task')\n"
    "                if found: globals()[name] = found.reference\n"
    "    frame = frame.f_back",
)

# It would change the judge.
attack(
    "equal to everything",
    "class Same:\n"
    "    def __eq__(self, other): return True\n"
    "    def __getattr__(self, name): return self\n"
    "    def __call__(self, *a, **k): return self\n"
    "    def __len__(self): return 1\n"
    "    def __iter__(self): return iter([self])\n"
    "    def __float__(self): return 1.0\n" + answering("return Same()"),
)
attack(
    "a tensor that lies",
    "import torch\n"
    "class Lie(torch.Tensor):\n"
    "    def __eq__(self, other): return True\n"
    "    @classmethod\n"
    "    def __torch_function__(cls, f, types, args=(), kwargs=None): return args[0]\n"
    + answering("return torch.ones(3).as_subclass(Lie)"),
)
attack(
    "comparisons patched",
    "import torch\nfor name in ('isclose', 'allclose', 'equal', 'eq'):\n"
    "    setattr(torch, name, lambda *a, **k: torch.tensor(True))\n"
    + answering("return torch.ones(())"),
)
attack(
    "the observer patched",
    "import course_lib.feedback.observe as o\nfrom course_lib.feedback.observe import Outcome\n"
    "o.observe = lambda use, answer, probes: [Outcome(1.0) for _ in probes]\n"
    + answering("return 1.0"),
)
attack(
    "check patched",
    "import course_lib.feedback as f\n"
    "f.check = lambda *a, **k: {'score': 1.0, 'passed': True}\n"
    + answering("return None"),
)
attack(
    "syntax trees emptied",
    "import ast\nclass Strip(ast.NodeTransformer):\n"
    "    def visit_Assert(self, node): return None\n"
    "get_ipython().ast_transformers.append(Strip())\n"
    "get_ipython().input_transformers_post.append(lambda lines: ['x = 1\\n'])\n"
    + answering("return 1"),
)
attack(
    "forged lines",
    "import os, json\n"
    f"lines = [json.dumps(dict(exercise=name, found=True, score=1.0)) for name in {NAMES}]\n"
    "lines += ['{\"end\": true}', 'x', '{}', '[]', '{\"cell\": -1}', '\\xff', '1' * 10**5]\n"
    "for number in range(3, 64):\n"
    "    for line in lines:\n"
    "        try: os.write(number, line.encode('latin-1') + b'\\n')\n"
    "        except OSError: break\n"
    "os._exit(0)",
)
attack(
    "forged marks",
    "import os, json\n"
    "mark = dict(student='honest', exercise='packed_mask', status='graded', score=0.0)\n"
    "for number in range(3, 64):\n"
    "    try: os.write(number, json.dumps(mark).encode() + b'\\n')\n"
    "    except OSError: pass",
    beside_right=True,
)
attack(
    "something to unpickle",
    "class Bomb:\n    def __reduce__(self): return (eval, (\"open('/tmp/evil', 'w')\",))\n"
    + answering("return Bomb()"),
)
attack("a number too large", answering("return 10**5000"))
attack("a number too large to be a float", answering("return 10**400"))
attack("no number", answering("return float('nan')"))
attack("infinite", answering("return float('inf')"))
attack("terminal codes", answering("raise ValueError('\\x1b[2J\\x1b]0;evil\\x07')"))
attack("a script", answering("raise ValueError('<script>alert(1)</script>')"))
attack("surrogates", answering("return '\\ud800'"))
attack(
    "odd tensors",
    "import torch\n"
    + answering("return [torch.ones(3).to_sparse(), torch.ones(2, device='meta')]"),
)
attack(
    "the true names as numbers",
    "packed_mask, sink_mask, n_readable, masked_weights = 1, 'x', None, [1.0]",
)
attack(
    "more rights",
    "import os, resource, ctypes\n"
    "libc = ctypes.CDLL(None)\n"
    "for call in (lambda: os.setuid(0), lambda: os.chroot('/proc/1/root'),\n"
    "             lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)),\n"
    "             lambda: libc.mount(b'x', b'/course', b'tmpfs', 0, None)):\n"
    "    try: call()\n"
    "    except Exception: pass",
    beside_right=True,
)
