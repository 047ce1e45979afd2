"""Estimates whether a line is a job title."""

from __future__ import annotations

from chalicelib.engines.ocr.kinds.span import folded_words, insert_spaces, word_set

# Words that name a job.
HEADS = word_set(
    """
    manager director engineer president officer consultant developer analyst designer architect
    attorney lawyer accountant broker agent realtor specialist coordinator administrator assistant
    associate advisor adviser executive partner founder co-founder cofounder owner principal
    chairman chairwoman chairperson chair chief supervisor representative rep technician
    programmer scientist researcher professor lecturer teacher instructor trainer coach therapist
    physician surgeon doctor dentist nurse pharmacist veterinarian psychologist counselor
    counsellor planner strategist producer editor writer author journalist photographer artist
    illustrator musician chef baker barista stylist secretary clerk treasurer controller
    comptroller auditor buyer merchandiser recruiter operator mechanic electrician plumber
    carpenter contractor builder estimator surveyor inspector foreman superintendent dispatcher
    driver pilot captain ceo cto cfo coo cio cmo cpo cso cro ciso vp svp evp avp md gm lead head
    dean provost chancellor curator librarian paralegal notary solicitor barrister judge clerk
    fellow intern trainee apprentice ambassador evangelist liaison facilitator moderator
    negotiator appraiser adjuster underwriter actuary economist statistician mathematician
    physicist chemist biologist geologist hygienist optometrist chiropractor podiatrist
    dermatologist cardiologist radiologist pediatrician orthodontist acupuncturist nutritionist
    dietitian masseuse esthetician cosmetologist barber florist jeweler geschäftsführer
    geschäftsführerin leiter leiterin vertriebsleiter prokurist prokuristin ingenieur ingenieurin
    berater beraterin rechtsanwalt rechtsanwältin steuerberater mitarbeiter referent referentin
    inhaber inhaberin vorstand architektin entwickler directeur directrice gérant gérante
    président ingénieur responsable chargé chargée avocat avocate conseiller conseillère gerente
    directora director ingeniero ingeniera abogado abogada direttore responsabile avvocato
    titolare consulente responsável diretor diretora verkäufer kundenberater projektleiter
    abteilungsleiter technologist tester copywriter marketer salesperson salesman saleswoman
    seller receptionist concierge host bartender sommelier investor trader banker cashier teller
    bookkeeper minister pastor priest rabbi imam deacon senator mayor councillor commissioner
    delegate envoy consul attaché proprietor entrepreneur freelancer maker craftsman sculptor
    painter decorator landscaper gardener farmer
    """
)
# Words that occur together with these in job titles.
FIELDS = word_set(
    """
    sales marketing business development software hardware senior junior sr jr vice executive
    managing general regional national international global account accounts key customer client
    product project program programme operations finance financial technical technology human
    resources hr public relations communications legal general counsel investment investments
    creative art quality assurance supply chain logistics purchasing procurement research data
    information systems security network web digital mobile cloud platform solutions field
    district area branch store office deputy acting interim certified registered licensed
    independent real estate mortgage loan insurance of the and for to at & in
    """
)
_ALONE = {
    "human resources", "sales", "marketing", "public relations", "business development",
    "real estate", "of counsel", "attorney at law", "general counsel", "board member",
    "customer service", "registered nurse", "stay at home", "sales department",
    "research and development", "r&d", "member of the board", "vertrieb", "geschäftsführung",
    "einkauf", "leitung", "customer success", "human relations", "media relations",
    "customer support", "technical support", "export department", "sales & marketing",
}  # fmt: skip
_DEPARTMENTS = ("department of", "dept of", "division of", "abteilung", "département")
_LONGEST_WORDS = 9
_SENTENCE = word_set("your our you we us with a an is are my can makes more every when where that")
_SMALL = FIELDS | word_set("at in on to de des du la y e und für law large")
_SHORT_SENTENCE = 3


def title_confidence(text: str) -> float:
    """Return the confidence, 0 to 1, that a line is a job title."""
    text = insert_spaces(text)
    words = folded_words(text)
    if not words or len(words) > _LONGEST_WORDS or any(word[0].isdecimal() for word in words):
        return 0.0
    folded = " ".join(words)
    if folded in _ALONE:
        return 0.8
    heads = sum(word in HEADS for word in words)
    if not heads:
        return 0.45 if folded.startswith(_DEPARTMENTS) else 0.0
    if not _SENTENCE.isdisjoint(words) or _is_sentence(text.split()):
        return 0.25
    fields = sum(word in FIELDS for word in words)
    known = (heads + fields) / len(words)
    return min(0.97, 0.55 + 0.4 * known)


def _is_sentence(words: list[str]) -> bool:
    """Return whether words look like a sentence: several words, not all of them capitalised."""
    plain = [word for word in words[1:] if word.islower() and word not in _SMALL | HEADS]
    return len(words) >= _SHORT_SENTENCE and bool(plain)
