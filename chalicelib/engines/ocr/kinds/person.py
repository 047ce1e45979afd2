"""How sure a line is to be the name of a person."""

from __future__ import annotations

import re
import unicodedata

from chalicelib.engines.ocr.kinds.given_names import GIVEN_NAMES
from chalicelib.engines.ocr.kinds.span import Span, whole_line, words_of
from chalicelib.engines.ocr.kinds.word_set import word_set

HONORIFICS = word_set(
    """
    mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend fr father sr sister hon
    capt captain col colonel gen general lt maj major sgt herr frau monsieur madame mme mlle sig
    signor signora ing dipl-ing dr-ing señor señora sra smt shri sri mag lic arq dott avv
    """
)
"""Words in front of a name, in lower case, without dots."""
CREDENTIALS = word_set(
    """
    phd mba cpa md do dds dmd jd esq rn np pa-c pac pe pmp cfa cfp cissp cissp-issap ba bs bsc ma
    ms msc msw lcsw lpc lmft dvm vmd od dpm dc pt dpt ot otr pharmd edd psyd llm llb bcom mcom be
    btech mtech bds mbbs frcs mrcs frics mrics riba aia faia raic leed ap leed-ap jr sr ii iii iv
    cma cia cisa cism ccie ca acca fcca fca aca cgma cipd mcipd fcipd sphr phr shrm-cp shrm-scp
    cae cfre crs gri abr cips ccim sior mai clu chfc ricp cltc cpcu arm ctc cmp csm safe pgmp acp
    itil facs facp faap facc fache ret usn usmc usaf obe mbe cbe kbe kc qc se sc hons dr-ing ing
    dipl meng beng ceng miet mice miem cet rpa bcba dnp fnp aprn crna rd rdn ldn ccc-slp lmt lac
    """
)
"""Words behind a name, in lower case, without dots."""
PARTICLES = word_set(
    """
    van von der den de del della di da dos das do du la le el al bin bint ibn ben ter ten zu zur
    vom y e san santa st mac mc o d' af av bel
    """
)
"""Small words inside a name, in lower case."""

_WORD = re.compile(
    r"(?:[A-ZÀ-ÞŁŚŽŠČŐ]['’](?=[A-Z]))?[A-ZÀ-ÞŁŚŽŠČŐ][A-Za-zÀ-ÿŁłŚśŽžŠšČčŐőąęńćźżěřůğışİ]{0,24}"
    r"(?:['’`\-][A-Za-zÀ-ÿ]{1,20}){0,2}"
)
_INITIALS = re.compile(r"(?:[A-Z]\.?){1,3}")
_NICK = re.compile(r"[(\"“”'‘][^)\"“”'’]{1,20}[)\"“”'’]")
_FEWEST, _MOST = 2, 4
_LONGEST = 60


def person_sureness(text: str) -> float:
    """Return how sure a line is to be a person's name and nothing else: 0 to 1.

    A line of capitalised words is about 0.5; given names, initials, honorifics and credentials
    raise it. Words of trades and companies are for the caller to weigh.
    """
    if len(text) > _LONGEST:
        return 0.0
    name, has_credentials = without_credentials(text)
    words = words_of(_NICK.sub(" ", name))
    titled = 0
    while words and words[0].lower().replace(".", "") in HONORIFICS and titled < _MOST:
        words, titled = words[1:], titled + 1
    if not words or any(char.isdecimal() or char in "@&/+*%$#=" for char in name):
        return 0.0
    return _weighed(words, titled=titled > 0, has_credentials=has_credentials)


def find_persons(text: str) -> tuple[Span, ...]:
    """Return the line as one span when it is a name; or none."""
    return whole_line(text, person_sureness)


def without_credentials(text: str) -> tuple[str, bool]:
    """Return a name without the letters behind it, and whether there were any."""
    head, comma, tail = text.partition(",")
    if comma and are_credentials(tail):
        return head.strip(), True
    words = text.split()
    end = len(words)
    while end > _FEWEST and are_credentials(words[end - 1]) and _looks_lettered(words[end - 1]):
        end -= 1
    return " ".join(words[:end]), end < len(words)


def are_credentials(text: str) -> bool:
    """Return whether all words of a text are credentials."""
    words = [word.lower().replace(".", "") for word in words_of(text)]
    return bool(words) and all(word in CREDENTIALS for word in words)


def _looks_lettered(word: str) -> bool:
    """Return whether a word is written like credentials: `MD`, `Ph.D.`, `Jr`."""
    return sum(map(str.isupper, word)) >= _FEWEST or word.lower().rstrip(".") in ("jr", "sr", "esq")


def _weighed(words: list[str], *, titled: bool, has_credentials: bool) -> float:
    """Return how sure words without honorific and credentials are a name."""
    full = [word for word in words if word.lower() not in PARTICLES or word[:1].isupper()]
    shaped = all(_is_name_word(word) for word in full)
    count = len(words)
    if not shaped or count > _MOST + (count != len(full)) + 1 or not _has_long_word(full):
        return 0.0
    given = any(_is_given_name(word) for word in (words[:1] if count == 1 else words[:-1]))
    sureness = 0.45 if _FEWEST <= count <= _MOST else 0.2
    if count == 1:
        sureness = 0.1
    sureness += 0.35 * given + 0.3 * titled + 0.3 * has_credentials
    if _is_given_name(words[-1]) and not given:
        sureness += 0.15
    if len(full) < count:
        sureness += 0.2
    if any(_is_initial(word) for word in words[:-1]):
        sureness += 0.2
    return min(0.97, sureness)


def _is_given_name(word: str) -> bool:
    """Return whether a word, or the first part of it, is a frequent given name."""
    folded = unicodedata.normalize("NFKD", word.lower())
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    return not GIVEN_NAMES.isdisjoint((plain, word.lower(), plain.partition("-")[0]))


def _is_name_word(word: str) -> bool:
    """Return whether a word is written like a part of a name."""
    return _INITIALS.fullmatch(word) is not None or _WORD.fullmatch(word) is not None


def _is_initial(word: str) -> bool:
    """Return whether a word is one letter, or a few with dots between them."""
    return len(word) == 1 or ("." in word and _INITIALS.fullmatch(word) is not None)


def _has_long_word(words: list[str]) -> bool:
    """Return whether a word has letters enough for a name."""
    return any(len(word) > 1 and "." not in word for word in words)
