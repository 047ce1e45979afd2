"""Finds mail and web addresses, even with misread dots or additional spaces."""

from __future__ import annotations

import re

from chalicelib.engines.ocr.kinds.span import Span, word_set

# Endings that do not belong to a country, including those reserved for examples.
GENERIC = word_set(
    """
    com net org edu gov mil int info biz name pro mobi jobs travel coop aero museum tel cat asia
    io ai app dev co me tv cc ly online site store shop tech xyz club agency digital studio design
    solutions consulting group global company ltd inc llc law legal health care clinic dental
    finance capital money bank insurance realty realestate homes properties media news blog page
    cloud systems software network academy school education university institute photography photo
    art gallery music film events restaurant cafe bar pizza coffee beer wine fitness yoga salon
    spa beauty fashion jewelry gifts toys games garden farm energy solar green eco bio build
    builders construction contractors plumbing services support center works world life live today
    zone space team expert guru marketing ventures partners email link click website web host
    engineering industries international enterprises management productions technology london paris
    berlin nyc tokyo sydney amsterdam wales scot gmbh sarl immo haus kitchen auto cars taxi tours
    vet church foundation charity community social one top win vip example test local
    """
)
# Endings of countries.
COUNTRIES = word_set(
    """
    ac ad ae af ag al am ao ar at au az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cd
    cf cg ch ci cl cm cn co cr cu cv cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fm fo fr ga
    gb gd ge gg gh gi gl gm gn gp gr gt gy hk hn hr ht hu id ie il im in io iq ir is it je jm jo jp
    ke kg kh ki kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mk ml mm mn mo mr ms mt
    mu mv mw mx my mz na ne ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pr ps pt pw py qa re
    ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st sv sy sz tc td tg th tj tk tl tm tn
    to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu ws ye za zm zw
    """
)


def is_ending(label: str) -> bool:
    """Return whether a label of a domain name is a top-level domain, such as `com`."""
    folded = label.lower()
    return folded in GENERIC or folded in COUNTRIES


def main_label(name: str) -> str:
    """Return the part of a domain name that names the owner: `acme` in `www.mail.acme.co.uk`."""
    labels = [label for label in name.lower().split(".") if label and label != "www"]
    while len(labels) > 1 and (is_ending(labels[-1]) or labels[-1] == ""):
        labels.pop()
    return labels[-1] if labels else ""


# Mail addresses, as they are read: with spaces around their marks, commas for dots.

_LOCAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+'-&")
_LONGEST_LOCAL = 64
_AT = re.compile(r" ?@ ?|(?<=[A-Za-z0-9_])[©®](?=[A-Za-z0-9])|(?<=[A-Za-z0-9_]) ?[(\[]at[)\]] ?")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_\-]{0,62}[A-Za-z0-9])?")
_DOT = re.compile(r" ?[.,·] ?|\.\.| (?=(?:com|net|org|edu|gov|co)\b)", re.IGNORECASE)
_BEFORE_DOT = re.compile(r"([A-Za-z0-9_\-]{1,40}[._]) $")
_LABEL_WORDS = word_set("e m mail email e-mail mail. courriel correo web fax tel")
_MOST_LABELS = 6


def find_mails(text: str) -> tuple[Span, ...]:
    """Return the mail addresses in a line, in order, without labels such as `Email:`."""
    spans: list[Span] = []
    for match in _AT.finditer(text):
        span = _around(text, match)
        if span is not None and not (spans and span.overlaps(spans[-1])):
            spans.append(span)
    return tuple(spans)


def _around(text: str, match: re.Match[str]) -> Span | None:
    """Return the mail address around an at sign; None if there is none."""
    start = _local_start(text, match.start())
    local = text[start : match.start()].replace(" ", "")
    name, end = _name_after(text, match.end())
    if not local.strip("._-'") or not name:
        return None
    cut = len(local) - len(local.lstrip(".'-&"))
    labels = name.replace(" ", ".").split(".")
    known = len(labels) > 1 and is_ending(labels[-1])
    if not known and (len(labels) == 1 or "@" not in match.group() or not labels[-1].isalpha()):
        return None
    confidence = 0.99 if known else 0.8
    return Span(start + cut, end, f"{local[cut:]}@{name}", confidence)


def _local_start(text: str, at: int) -> int:
    """Return the index at which the part before the at sign begins."""
    start = at
    while start and at - start < _LONGEST_LOCAL and text[start - 1] in _LOCAL:
        start -= 1
    # Engines sometimes add a space after a dot inside a name: "dana. reyes@".
    before = _BEFORE_DOT.search(text[max(0, start - 42) : start])
    if before and before.group(1).lower().rstrip("._") not in _LABEL_WORDS:
        start -= len(before.group())
    return start


def _name_after(text: str, at: int) -> tuple[str, int]:
    """Return the domain name at an index, with corrected dots, and the index after it."""
    labels: list[str] = []
    end = at
    place = at
    while len(labels) < _MOST_LABELS:
        label = _LABEL.match(text, place)
        if label is None or (labels and not _continues(text, (end, place), labels, label.group())):
            break
        if labels and text[end:place] == " ":
            labels[-1] += " "
        labels.append(label.group())
        end = label.end()
        dot = _DOT.match(text, end)
        if dot is None:
            break
        place = dot.end()
    return ".".join(labels).replace(" .", " "), end


def _continues(text: str, gap: tuple[int, int], labels: list[str], label: str) -> bool:
    """Return whether the label after a gap is part of the same domain name."""
    mark = text[gap[0] : gap[1]]
    if mark == ".":
        return True
    ended = len(labels) > 1 and is_ending(labels[-1])
    if ended and (labels[-1].lower() in GENERIC and labels[-1].lower() not in ("co", "com")):
        return False
    return is_ending(label) if ended or " " in mark else True


# Internet addresses: with or without scheme and www, as they are read.

_SCHEME = re.compile(r"h?ttps? ?[:;] ?/{1,2} ?(?=[A-Za-z0-9])", re.IGNORECASE)
_WWW = re.compile(
    r"(?<![A-Za-z0-9@])(?:[wW]{3,4}|[vV]{2}[wW]{2}|[wW]{2}[vV]{2}[wW]?) ?[.,·:] ?(?=[A-Za-z0-9])"
)
_NAME = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9_\-]{0,62}(?: ?[.,] ?[A-Za-z0-9][A-Za-z0-9_\-]{0,62}){0,6}"
)
_BARE = re.compile(
    r"(?<![A-Za-z0-9@._%+\-/])[A-Za-z0-9][A-Za-z0-9\-]{0,62}"
    r"(?:\.[A-Za-z0-9][A-Za-z0-9\-]{0,62}){1,4}(?![A-Za-z0-9@_])"
)
_PATH = re.compile(r"(?::\d{2,5})?(?:/[^\s|•<>\"]{0,200})?")
_PART = re.compile(r" ?[.,] ?")
_SHORT_NAME = 3
_SHORT_COUNTRY_NAME = 4
_NAMES_OF_THINGS = word_set("asp.net vb.net node.js ph.d")


def find_websites(text: str) -> tuple[Span, ...]:
    """Return the web addresses in a line, in order. Mail addresses are excluded."""
    spans: list[Span] = []
    for pattern, confidence in ((_SCHEME, 0.99), (_WWW, 0.99)):
        for match in pattern.finditer(text):
            _add(spans, _marked(text, match, confidence))
    for match in _BARE.finditer(text):
        _add(spans, _bare(text, match))
    return tuple(sorted(spans, key=lambda span: span.start))


def _add(spans: list[Span], span: Span | None) -> None:
    if span is not None and not any(span.overlaps(other) for other in spans):
        spans.append(span)


def _marked(text: str, match: re.Match[str], confidence: float) -> Span | None:
    """Return the web address that begins with `match`; None if no domain name follows."""
    name = _NAME.match(text, match.end())
    if name is None:
        return None
    parts = _joined(name.group())
    end = match.end() + len(parts)
    path = _path_after(text, end)
    head = match.group().replace(" ", "").replace(",", ".").replace("·", ".").replace(";", ":")
    if match.re is _WWW:
        head = head[:-1] + "."
    said = head + _corrected(parts) + path
    return Span(match.start(), end + len(path), said, confidence)


def _joined(name: str) -> str:
    """Cut off words after a domain name: `acme.com, Berlin` becomes `acme.com`."""
    end = len(name)
    place = 0
    parts = [part for part in _PART.split(name) if part]
    for count, part in enumerate(parts):
        place = name.index(part, place) + len(part)
        rest = name[place:]
        follows = parts[count + 1] if count + 1 < len(parts) else ""
        loose = not rest.startswith(".") or rest.startswith(". ")
        whole = count > 0 and is_ending(part) and part.lower() not in ("co", "com")
        if loose and rest and (whole or not is_ending(follows)) and count > 0:
            end = place
            break
    return name[:end]


def _corrected(name: str) -> str:
    """Return a domain name with commas replaced by dots, and without spaces."""
    return _PART.sub(".", name)


def _bare(text: str, match: re.Match[str]) -> Span | None:
    """Return the domain name in a match that has no `http://` or `www.`; None if implausible."""
    name = match.group()
    labels = name.split(".")
    ending = labels[-1].lower()
    if name.lower() in _NAMES_OF_THINGS or not _can_be_name(name, labels[-2], ending):
        return None
    path = _path_after(text, match.end())
    confidence = 0.95 if ending in ("com", "net", "org", "edu", "gov", "io") or path else 0.85
    return Span(match.start(), match.end() + len(path), name + path, confidence)


def _can_be_name(name: str, owner: str, ending: str) -> bool:
    """Return whether a text is a domain name, not prose or an abbreviation like `St.Louis`."""
    has_letters = any(char.isalpha() for char in owner)
    even = name == name.lower() or name == name.upper() or name.rpartition(".")[2].islower()
    if not has_letters or not even:
        return False
    if ending in GENERIC:
        return len(owner) >= _SHORT_NAME or ending in ("com", "net", "org")
    return ending in COUNTRIES and (len(owner) >= _SHORT_COUNTRY_NAME or name.count(".") > 1)


def _path_after(text: str, end: int) -> str:
    """Return the port and path after a domain name."""
    path = _PATH.match(text, end)
    found = path.group() if path else ""
    return found.rstrip(".,;:)]}!?")
