"""Endings of internet names, and what stands for a dot or an at sign when it is misread."""

from __future__ import annotations

from chalicelib.engines.ocr.kinds.word_set import word_set

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
"""Endings of more than a country; those kept for examples too."""
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
"""Endings of countries."""


def is_ending(label: str) -> bool:
    """Return whether a label can be the last one of an internet name."""
    folded = label.lower()
    return folded in GENERIC or folded in COUNTRIES


def main_label(name: str) -> str:
    """Return the label that names the owner: `acme` of `www.mail.acme.co.uk`."""
    labels = [label for label in name.lower().split(".") if label and label != "www"]
    while len(labels) > 1 and (is_ending(labels[-1]) or labels[-1] == ""):
        labels.pop()
    return labels[-1] if labels else ""
