"""Parts of Python's own library that are gone."""

from __future__ import annotations

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.old_libraries import gone_imports, report_import, report_use
from tf2npu.scanner.python2.memory_files import OLD, bytes_edits, text_edits
from tf2npu.scanner.sites import Site

_ABCS = (
    "Iterable",
    "Iterator", "Mapping", "MutableMapping", "Sequence", "MutableSequence", "Set", "MutableSet", "Callable", "Hashable",
    "Sized",
    "Container", "Generator", "KeysView", "ValuesView", "ItemsView", "Awaitable", "Coroutine", "ByteString",
)  # fmt: skip
# Modules of Python 2, and where what they held is.
_RENAMED = {
    "Queue": "queue", "cPickle": "pickle", "StringIO": "io.StringIO, or io.BytesIO for bytes",
    "cStringIO": "io.StringIO, or io.BytesIO for bytes", "ConfigParser": "configparser",
    "urllib2": "urllib.request and urllib.error", "urlparse": "urllib.parse", "httplib": "http.client",
    "cookielib": "http.cookiejar", "Cookie": "http.cookies",
    "HTMLParser": "html.parser", "SocketServer": "socketserver", "BaseHTTPServer": "http.server",
    "SimpleHTTPServer": "http.server", "xmlrpclib": "xmlrpc.client", "Tkinter": "tkinter", "tkMessageBox": "tkinter.messagebox",
    "tkFileDialog": "tkinter.filedialog", "commands": "subprocess", "copy_reg": "copyreg", "__builtin__": "builtins",
    "UserDict": "collections.UserDict", "md5": "hashlib.md5", "sets": "set", "thread": "_thread, or threading",
}  # fmt: skip
# What Python 2 had in urllib itself, by the module that holds it now.
_FROM_URLLIB = {
    "urlopen": "request", "urlretrieve": "request", "urlcleanup": "request", "URLopener": "request", "FancyURLopener": "request",
    "getproxies": "request", "proxy_bypass": "request", "pathname2url": "request", "url2pathname": "request",
    "urlencode": "parse", "quote": "parse", "quote_plus": "parse", "unquote": "parse", "unquote_plus": "parse",
    "ContentTooShortError": "error",
}  # fmt: skip
_TABLE: dict[str, tuple[str, str]] = {
    "time.clock": ("3.8", "time.perf_counter() for durations, time.process_time() for CPU time"),
    "inspect.getargspec": ("3.11", "inspect.getfullargspec, or inspect.signature"),
    "inspect.formatargspec": ("3.11", "str(inspect.signature(f))"),
    "inspect.getmoduleinfo": ("3.6", "inspect.getmodulename"),
    "platform.dist": ("3.8", "the package distro"),
    "platform.linux_distribution": ("3.8", "the package distro"),
    "platform.popen": ("3.8", "os.popen"),
    "fractions.gcd": ("3.9", "math.gcd"),
    "cgi.escape": ("3.8", "html.escape"),
    "base64.encodestring": ("3.9", "base64.encodebytes"),
    "base64.decodestring": ("3.9", "base64.decodebytes"),
    "os.getcwdu": ("3.0", "os.getcwd"),
    "os.errno": ("3.7", "import errno"),
    "string.maketrans": ("3.0", "str.maketrans"),
    "string.letters": ("3.0", "string.ascii_letters"),
    "string.lowercase": ("3.0", "string.ascii_lowercase"),
    "string.uppercase": ("3.0", "string.ascii_uppercase"),
    "string.join": ("3.0", "separator.join(words)"),
    "string.split": ("3.0", "text.split()"),
    "string.strip": ("3.0", "text.strip()"),
    "string.replace": ("3.0", "text.replace(old, new)"),
    "string.atoi": ("3.0", "int(text)"),
    "string.atof": ("3.0", "float(text)"),
    "string.lower": ("3.0", "text.lower()"),
    "string.upper": ("3.0", "text.upper()"),
    "itertools.izip": ("3.0", "zip"),
    "itertools.imap": ("3.0", "map"),
    "itertools.ifilter": ("3.0", "filter"),
    "itertools.izip_longest": ("3.0", "itertools.zip_longest"),
    "sys.maxint": ("3.0", "sys.maxsize"),
    "sys.setcheckinterval": ("3.9", "sys.setswitchinterval"),
    "thread.start_new_thread": ("3.0", "threading.Thread(target=f).start()"),
    "asyncio.coroutine": ("3.11", "async def"),
    "random.jumpahead": ("3.0", "a random.Random of its own"),
    "xml.etree.cElementTree": ("3.9", "xml.etree.ElementTree"),
    "imp": ("3.12", "importlib (importlib.util.spec_from_file_location for imp.load_source, importlib.reload for imp.reload)"),
    "distutils": ("3.12", "setuptools, packaging.version.Version for LooseVersion, shutil for dir_util and spawn"),
    "asyncore": ("3.12", "asyncio"),
    "pipes": ("3.13", "shlex.quote for pipes.quote, subprocess otherwise"),
    "formatter": ("3.10", "the text written out"),
    "dummy_threading": ("3.9", "threading"),
    "parser": ("3.10", "ast"),
    "symbol": ("3.10", "ast"),
    **{old: ("3.0", new) for old, new in _RENAMED.items()},
    **{f"urllib.{name}": ("3.0", f"urllib.{place}.{name}") for name, place in _FROM_URLLIB.items()},
    **{f"collections.{name}": ("3.10", f"collections.abc.{name}") for name in _ABCS},
}  # fmt: skip
_MODULES = frozenset({"imp", "distutils", "asyncore", "pipes", "formatter", "dummy_threading", "parser", "symbol", *_RENAMED})
_INSTEAD = {name: code for name, (_, code) in _TABLE.items()}
_SINCE = {name: f"Python {version}" for name, (version, _) in _TABLE.items()}
_NAMES = tuple(name for name in _TABLE if name not in _MODULES)


@rule(
    id="NPU962",
    title="Python library parts that are gone",
    once=True,
    on=("reference", "call"),
    matches=_NAMES,
    why=(
        "Old code uses parts of Python's library that newer versions no longer have; the replacement works with old and new ones."
    ),
    done_when="`tf2npu run` passes this line, and the value is the one that the older version gave.",
    source="What's New in Python, sections on removed APIs",
    examples=(
        Example.same(
            "import time\nimport tensorflow as tf\nt = time.clock()",
            level="info",
            write="import time\nimport tensorflow as tf\nt = time.perf_counter()",
        ),
        Example.same("from collections import Iterable\nimport tensorflow as tf", level="info"),
        Example.same("import imp\nimport tensorflow as tf", level="info"),
        Example.same("import cPickle as pickle\nimport tensorflow as tf", level="manual"),
        Example(
            "from StringIO import StringIO\nimport requests\nfrom PIL import Image\nimport tensorflow as tf\n"
            "image = Image.open(StringIO(requests.get(url).content))",
            "from io import BytesIO\nimport requests\nfrom PIL import Image\nimport tensorflow as tf\n"
            "image = Image.open(BytesIO(requests.get(url).content))",
        ),
        Example.same("from StringIO import StringIO\nimport tensorflow as tf\nf = StringIO(x)", level="manual"),
        Example.same("from six.moves import cPickle\nimport tensorflow as tf", note="by way of six"),
        Example.same(
            "import urllib\nimport tensorflow as tf\npath, _ = urllib.urlretrieve(url)",
            level="manual",
            write="import urllib.request\nimport tensorflow as tf\npath, _ = urllib.request.urlretrieve(url)",
        ),
        Example.same("from six.moves import urllib\nimport tensorflow as tf\nurllib.request.urlopen(url)", note="still there"),
        Example.same("import time\nimport tensorflow as tf\nt = time.time()", note="still there"),
        Example.same(
            "try:\n    from collections.abc import Iterable\nexcept ImportError:\n    from collections import Iterable\n"
            "import tensorflow as tf",
            note="has another way",
        ),
        Example.same("from collections import OrderedDict\nimport tensorflow as tf", note="still there"),
    ),
)
def removed_part(site: Site) -> None:
    """Reports parts of Python's library that are gone and says what to write."""
    report_use(site, _SINCE[site.name], _INSTEAD[site.name])


@part_of(removed_part, on="import")
def removed_import(site: Site) -> None:
    """Reports imports of parts of Python's library that are gone."""
    gone = gone_imports(site, _INSTEAD)
    if not (any(name in OLD for name in gone) and _brings_memory_files(site)):
        report_import(site, _INSTEAD, _SINCE)


def _brings_memory_files(site: Site) -> bool:
    """Write io.BytesIO or io.StringIO for StringIO of Python 2, where all that is written and read tells which of them it is."""
    for new, find in (("io.BytesIO", bytes_edits), ("io.StringIO", text_edits)):
        edits = find(site.script.text)
        if edits:
            for start, end, code in edits:
                site.replace_range(start, end, code)
            site.fixed(
                f"Python 3 has no StringIO for both bytes and text. Only one kind is written and read here, so that {new} was "
                "written. Nothing is left to do."
            )
            return True
    return False
