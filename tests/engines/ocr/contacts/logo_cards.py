"""Invented cards with logos, slogans, two languages, and uninformative domains.

Their form: tests/engines/ocr/contacts/card_sets.py
"""

from __future__ import annotations

LOGOS = {
    "logo_slogan_us": """
        @ 60 40
        52 ORG Brightleaf
        18 OTHER Growing tomorrow, today.
        @ 500 220
        28 PERSON Marguerite Dunleavy
        18 TITLE Head of Partnerships
        18 = 415.555.0134 => PHONE 415.555.0134
        18 EMAIL marguerite@brightleaf.example
    """,
    "freemail_shop": """
        @ 60 40
        40 ORG The Rusty Anchor
        18 OTHER Fresh catch daily
        @ 60 260
        22 PERSON Joe Santangelo
        18 TITLE Owner
        18 = 207 555 0188 => PHONE 207 555 0188
        18 EMAIL rustyanchorjoe@gmail.com
    """,
    "freemail_brand": """
        @ 60 60
        46 ORG Lumière & Fils
        16 OTHER depuis 1932
        @ 480 300
        24 PERSON Étienne Lumière
        18 TITLE Artisan menuisier
        18 = 06 12 34 56 78 => MOBILE_PHONE 06 12 34 56 78
        18 EMAIL lumiere.etienne@orange.fr
    """,
    "caps_logo_two_lines": """
        @ 60 40
        38 ORG NORTHERN
        38 +ORG HARBOUR
        @ 420 60
        26 PERSON Ingrid Solheim
        18 TITLE Director of Operations
        18 = +47 22 55 01 20 => PHONE +47 22 55 01 20
        18 EMAIL is@nh.example
    """,
    "acronym": """
        @ 60 40
        50 ORG KVT
        16 OTHER Precision in motion
        @ 60 260
        26 PERSON Tobias Wendel
        18 TITLE Vertriebsleiter
        18 = Tel. +49 711 555 0123 => PHONE +49 711 555 0123
        18 EMAIL t.wendel@kvt-motion.example
    """,
    "two_languages": """
        @ 60 40
        34 ORG Aurora Nordique
        @ 60 180
        26 PERSON Camille Tremblay
        18 TITLE Vice President, Sales
        18 TITLE Vice-présidente, ventes
        18 ADDRESS 1200 rue Peel
        18 ADDRESS Montréal (Québec) H3B 2T6
        18 = T 514 555-0142 => PHONE 514 555-0142
        18 EMAIL ctremblay@auroranordique.example
    """,
    "two_names_org": """
        @ 60 40
        34 ORG Whitcomb Fairley
        @ 60 200
        24 PERSON Priya Raghunathan
        18 TITLE Senior Associate
        18 = D 312 555 0177 => PHONE 312 555 0177
        18 EMAIL priya.raghunathan@wfadvisors.example
        18 WEBSITE wfadvisors.example
    """,
    "slogan_longer_than_name": """
        @ 60 40
        30 ORG Tallgrass
        22 OTHER Where ideas take root and grow
        @ 60 220
        26 PERSON Dale Hutchins
        18 TITLE Founder & CEO
        18 EMAIL dale@tallgrass.example
        18 = 402 555 0119 => PHONE 402 555 0119
    """,
    "org_small_bottom": """
        @ 60 40
        36 PERSON Nadia Kowalczyk
        18 TITLE Illustrator
        @ 60 400
        18 ORG Papercrane
        18 ADDRESS 22 Mill Lane
        18 ADDRESS Leeds LS1 4DY
        18 EMAIL nadia@papercrane.example
    """,
    "japanese_en": """
        @ 60 40
        28 ORG Hoshizora Kikai Co., Ltd.
        @ 60 180
        28 PERSON Kenji Morimoto
        18 TITLE Deputy General Manager
        18 TITLE Overseas Business Division
        18 = TEL: +81-3-5555-0123 => PHONE +81-3-5555-0123
        18 EMAIL morimoto@hoshizora.example
    """,
    "person_like_org": """
        @ 60 40
        40 ORG Harper Lane
        16 OTHER ceramics for the everyday
        @ 60 240
        24 PERSON Olivia Stern
        18 TITLE Studio Manager
        18 EMAIL olivia@harperlane.example
        18 = 503 555 0166 => PHONE 503 555 0166
    """,
    "lowercase_brand": """
        @ 60 40
        48 ORG nimbus nine
        18 OTHER cloud infrastructure made simple
        @ 60 240
        24 PERSON Ravi Deshmukh
        18 TITLE Solutions Engineer
        18 = M 917 555 0123 => MOBILE_PHONE 917 555 0123
        18 EMAIL ravi@nimbusnine.example
    """,
    "spaced_logo": """
        @ 60 40
        40 ORG V E L O R A
        @ 60 240
        24 PERSON Chiara Bellandi
        18 TITLE Brand Manager
        18 = +39 02 5550 1234 => PHONE +39 02 5550 1234
        18 EMAIL c.bellandi@velora.example
    """,
    "dept_line": """
        @ 60 40
        34 ORG Corvane
        @ 60 200
        26 PERSON Lucas Ferreira Prado
        18 TITLE Gerente Comercial
        18 OTHER Divisão Industrial
        18 = +55 11 5550-1234 => PHONE +55 11 5550-1234
        18 EMAIL lucas.prado@corvane.com.br
    """,
    "org_with_tagline_industry": """
        @ 60 40
        44 ORG Mossgate
        18 OTHER Design, print and web
        @ 60 240
        24 PERSON Simon Achterberg
        18 TITLE Creative Director
        18 EMAIL simon@mossgate.example
        18 WEBSITE www.mossgate.example
    """,
    "title_unknown": """
        @ 60 40
        30 ORG Ferro Alpino S.r.l.
        @ 60 180
        26 PERSON Gianluca Pedrotti
        18 TITLE Responsabile acquisti
        18 ADDRESS Via Roma 14
        18 ADDRESS 38122 Trento
        18 EMAIL g.pedrotti@ferroalpino.it
    """,
    "institute_three_lines": """
        @ 60 40
        20 ORG Federal Institute
        20 +ORG for Materials Research
        20 +ORG and Testing
        @ 60 200
        24 PERSON Dr. Annika Reuter
        18 TITLE Head of Division
        18 = +49 30 5550 1234 => PHONE +49 30 5550 1234
        18 EMAIL annika.reuter@bam.example
    """,
    "title_two_lines": """
        @ 60 40
        30 ORG Castellane
        @ 60 150
        26 PERSON Béatrice Fontanel
        18 TITLE Directrice adjointe
        18 TITLE Relations institutionnelles
        18 = +33 1 55 55 01 23 => PHONE +33 1 55 55 01 23
        18 EMAIL bfontanel@castellane.example
    """,
    "unrelated_domain": """
        @ 60 40
        36 ORG Quillstone
        18 OTHER Rare books and manuscripts
        @ 60 220
        24 PERSON Edmund Farleigh
        18 = 020 7946 0123 => PHONE 020 7946 0123
        18 EMAIL edmund@oldbooks.example
    """,
    "freemail_no_title": """
        @ 60 40
        30 ORG Pinewood Cabins
        18 OTHER Rentals by the lake
        @ 60 220
        24 PERSON Gail Osterman
        18 = 906-555-0144 => PHONE 906-555-0144
        18 EMAIL gail.osterman@yahoo.com
    """,
    "member_of": """
        @ 60 40
        32 ORG Delmare Shipping
        16 OTHER A member of the Oceanis Group
        @ 60 200
        24 PERSON Stavros Economou
        18 TITLE Chartering Manager
        18 = +30 210 555 0123 => PHONE +30 210 555 0123
        18 EMAIL s.economou@delmare.example
    """,
    "slogan_above": """
        @ 60 30
        18 OTHER Your partner for clean water
        @ 60 80
        40 ORG Aquavance
        @ 60 240
        26 PERSON Henrik Lindahl
        18 TITLE Key Account Manager
        18 EMAIL henrik.lindahl@aquavance.example
    """,
    "bilingual_org": """
        @ 60 40
        24 ORG Ministère des Transports
        24 ORG Ministry of Transport
        @ 60 200
        24 PERSON Julien Bouchard
        18 TITLE Senior Policy Analyst
        18 TITLE Analyste principal des politiques
        18 EMAIL julien.bouchard@transport.example
    """,
    "slogan_title_case": """
        @ 60 40
        36 ORG Verdanta
        20 OTHER Better Gardens Start Here
        @ 60 220
        24 PERSON Molly Prescott
        18 TITLE Garden Designer
        18 EMAIL molly@verdanta.example
    """,
    "spanish_two_lang": """
        @ 60 40
        30 ORG Olivar del Sur
        16 OTHER Aceites de oliva virgen extra
        16 OTHER Extra virgin olive oils
        @ 60 220
        24 PERSON María José Cordero
        18 TITLE Directora de exportación
        18 TITLE Export Director
        18 = +34 953 55 01 23 => PHONE +34 953 55 01 23
        18 EMAIL mjcordero@olivardelsur.example
    """,
    "freemail_one_word_small": """
        @ 60 40
        34 PERSON Beth Carraway
        18 TITLE Wedding Photographer
        @ 560 420
        22 ORG Honeylight
        @ 60 360
        18 = 828 555 0109 => PHONE 828 555 0109
        18 EMAIL bethcarraway@gmail.com
    """,
    "org_ampersand_names": """
        @ 60 40
        30 ORG Thorne & Vasquez
        16 OTHER Attorneys at Law
        @ 60 200
        24 PERSON Daniel Vasquez
        18 TITLE Partner
        18 = 505 555 0123 => PHONE 505 555 0123
        18 EMAIL dvasquez@tvlaw.example
    """,
    "chinese_pinyin": """
        @ 60 40
        26 ORG Ningbo Haitian Precision
        @ 60 160
        28 PERSON Zhang Weiming
        18 TITLE Sales Manager
        18 ADDRESS No. 18 Jiangnan Road
        18 ADDRESS Ningbo 315000, China
        18 = Mobile: +86 138 0055 0123 => MOBILE_PHONE +86 138 0055 0123
        18 EMAIL zhang@htprecision.example
    """,
    "role_mail": """
        @ 60 40
        44 ORG Kestrel
        @ 60 240
        24 PERSON Aoife Brennan
        18 TITLE Cheesemonger
        18 = 01 555 0123 => PHONE 01 555 0123
        18 EMAIL hello@kestrelcheese.example
    """,
}
