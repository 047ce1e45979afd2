"""Invented business cards as lists of lines, and what is on them.

A card is a block of text. `@ x y` begins a column; `height TAG text` is a line that is one
entity; `height = text => TAG text; TAG text` a line that holds several or none, which may continue
in rows that begin with `=>` or `;`; `+` in front of a tag joins the line to the entity of the
line before. Addresses are joined anyway.
"""

from __future__ import annotations

CARDS = {
    "us_plain": """
        @ 60 50
        42 ORG Harbor & Pine Architects
        20 OTHER Spaces that breathe
        @ 60 180
        34 PERSON Maribel Quintero, AIA
        20 TITLE Principal Architect
        @ 60 320
        18 ADDRESS 418 Juniper Street, Suite 210
        18 ADDRESS Portland, OR 97205
        18 = T 503.555.0142  |  F 503.555.0143 => PHONE 503.555.0142; FAX 503.555.0143
        18 EMAIL mquintero@harborpine.test
        18 WEBSITE www.harborpine.test
    """,
    "us_caps": """
        @ 60 60
        30 PERSON DARNELL WHITLOCK
        16 TITLE SENIOR LOAN OFFICER
        16 OTHER NMLS# 1234567
        @ 60 200
        26 ORG CEDAR CREEK MORTGAGE
        16 ADDRESS 9020 W. BELL RD STE 14
        16 ADDRESS PEORIA, AZ 85382
        @ 560 200
        16 = OFFICE: 623-555-0110 => PHONE 623-555-0110
        16 = CELL: 602-555-0188 => MOBILE_PHONE 602-555-0188
        16 = FAX: 623-555-0111 => FAX 623-555-0111
        16 EMAIL DARNELL@CEDARCREEKMTG.COM
        16 WEBSITE CEDARCREEKMTG.COM
    """,
    "uk": """
        @ 60 40
        36 ORG Thistle & Wren Solicitors LLP
        @ 60 150
        28 PERSON Fiona MacAllister
        18 TITLE Partner
        @ 60 260
        18 ADDRESS 27 Bedford Row
        18 ADDRESS London
        18 ADDRESS WC1R 4HE
        18 = Tel: +44 (0)20 7946 0321 => PHONE +44 (0)20 7946 0321
        18 = Mobile: 07700 900456 => MOBILE_PHONE 07700 900456
        18 = DDI: 020 7946 0322 => PHONE 020 7946 0322
        18 EMAIL f.macallister@thistlewren.co.uk
        18 WEBSITE www.thistlewren.co.uk
    """,
    "german": """
        @ 60 40
        34 ORG Brenner Maschinenbau GmbH
        @ 60 140
        28 PERSON Dr.-Ing. Jürgen Halbach
        18 TITLE Leiter Entwicklung
        @ 60 260
        18 ADDRESS Industriestraße 14
        18 ADDRESS 70565 Stuttgart
        @ 520 260
        18 = Telefon +49 711 5550-123 => PHONE +49 711 5550-123
        18 = Telefax +49 711 5550-199 => FAX +49 711 5550-199
        18 = Mobil +49 170 5550123 => MOBILE_PHONE +49 170 5550123
        18 EMAIL j.halbach@brenner-maschinenbau.de
        18 WEBSITE www.brenner-maschinenbau.de
    """,
    "french": """
        @ 60 60
        30 PERSON Hélène Marchetti
        18 TITLE Directrice commerciale
        32 ORG Atelier Lumière SARL
        18 ADDRESS 12 rue des Tilleuls
        18 ADDRESS 69003 Lyon, France
        18 = Tél. : 04 72 55 01 23 => PHONE 04 72 55 01 23
        18 = Port. : 06 12 34 56 78 => MOBILE_PHONE 06 12 34 56 78
        18 EMAIL h.marchetti@atelier-lumiere.fr
    """,
    "indian": """
        @ 60 40
        36 ORG Suryodaya Textiles Pvt. Ltd.
        @ 60 140
        28 PERSON Rajesh K. Venkatraman
        18 TITLE Managing Director
        @ 60 240
        18 ADDRESS No. 14, 3rd Cross, Indiranagar
        18 ADDRESS Bengaluru - 560 038, Karnataka, India
        18 = Mob: +91 98450 12345 => MOBILE_PHONE +91 98450 12345
        18 = Off: 080-2555 0123 => PHONE 080-2555 0123
        18 EMAIL rajesh@suryodaya.in
        18 WEBSITE www.suryodaya.in
        18 OTHER GSTIN: 29ABCDE1234F1Z5
    """,
    "australian": """
        @ 60 40
        34 ORG Bluegum Landscapes Pty Ltd
        18 OTHER ABN 12 345 678 901
        30 PERSON Kylie Hartigan
        18 TITLE Operations Manager
        18 ADDRESS Unit 3, 88 Parramatta Road
        18 ADDRESS Camperdown NSW 2050
        18 = P 02 9555 0134 => PHONE 02 9555 0134
        18 = M 0412 555 678 => MOBILE_PHONE 0412 555 678
        18 EMAIL kylie@bluegumlandscapes.com.au
        18 WEBSITE bluegumlandscapes.com.au
    """,
    "japanese": """
        @ 60 40
        32 ORG Hoshino Precision Co., Ltd.
        28 PERSON Kenji Morikawa
        18 TITLE Assistant Manager, Overseas Sales
        18 ADDRESS 2-8-5 Kita-Aoyama, Minato-ku, Tokyo 107-0061, Japan
        18 = TEL: +81-3-5555-0123  FAX: +81-3-5555-0124
        => PHONE +81-3-5555-0123
        ; FAX +81-3-5555-0124
        18 = E-mail: morikawa@hoshino-precision.co.jp => EMAIL morikawa@hoshino-precision.co.jp
        18 = URL: http://www.hoshino-precision.co.jp => WEBSITE http://www.hoshino-precision.co.jp
    """,
    "logo_name": """
        @ 80 60
        60 ORG VANTEQ
        @ 420 200
        26 PERSON Priya Subramaniam
        18 = Head of Growth => TITLE Head of Growth
        18 = +1 (415) 555-0176 => PHONE +1 (415) 555-0176
        18 EMAIL priya@vanteq.io
        18 WEBSITE vanteq.io
        18 = @vanteqhq => OTHER @vanteqhq
        18 = linkedin.com/in/priyasub => WEBSITE linkedin.com/in/priyasub
    """,
    "two_line_org": """
        @ 60 40
        32 ORG NORTHERN LAKES
        32 +ORG VETERINARY CLINIC
        @ 60 170
        26 PERSON Gretchen O'Malley, DVM
        18 TITLE Veterinarian
        @ 60 280
        18 ADDRESS P.O. Box 417
        18 ADDRESS 1250 County Road 9
        18 ADDRESS Ely, Minnesota 55731
        18 = (218) 555-0165 => PHONE (218) 555-0165
        18 = Fax (218) 555-0166 => FAX (218) 555-0166
        18 EMAIL drgretchen@northernlakesvet.com
    """,
    "stacked_name": """
        @ 60 50
        40 PERSON TOBIAS
        40 +PERSON LINDQVIST
        18 TITLE photographer
        @ 500 60
        18 = m. 917 555 0149 => MOBILE_PHONE 917 555 0149
        18 = e. hello@tobiaslindqvist.com => EMAIL hello@tobiaslindqvist.com
        18 = w. tobiaslindqvist.com => WEBSITE tobiaslindqvist.com
        18 ADDRESS Brooklyn, NY
    """,
    "name_and_title": """
        @ 60 50
        24 = Oscar Delacroix | Regional Sales Director
        => PERSON Oscar Delacroix
        ; TITLE Regional Sales Director
        36 ORG Pemberton Logistics, Inc.
        18 = 2200 Airport Fwy, Bldg 4, Irving, TX 75062
        => ADDRESS 2200 Airport Fwy, Bldg 4, Irving, TX 75062
        18 = O: 972-555-0121 • C: 214-555-0199 => PHONE 972-555-0121; MOBILE_PHONE 214-555-0199
        18 = oscar.delacroix@pembertonlogistics.com • www.pembertonlogistics.com
        => EMAIL oscar.delacroix@pembertonlogistics.com
        ; WEBSITE www.pembertonlogistics.com
    """,
    "department": """
        @ 60 40
        30 ORG Westmarch University
        18 OTHER Department of Chemistry
        28 PERSON Prof. Ingrid van der Berg, PhD
        18 TITLE Associate Professor
        18 ADDRESS Room 412, Faraday Building
        18 ADDRESS 1 College Road
        18 ADDRESS Leeds LS2 9JT
        18 = T: +44 113 496 0123 => PHONE +44 113 496 0123
        18 EMAIL i.vanderberg@westmarch.ac.uk
    """,
    "shop_hours": """
        @ 60 40
        44 ORG The Copper Kettle
        20 OTHER Coffee, cakes and conversation
        18 OTHER Open Mon-Fri 7:00 - 17:00
        18 ADDRESS 55 Harbour View
        18 ADDRESS Halifax, NS B3J 1S9
        18 = 902-555-0112 => PHONE 902-555-0112
        18 = hello@copperkettle.ca => EMAIL hello@copperkettle.ca
        18 = www.copperkettle.ca => WEBSITE www.copperkettle.ca
        18 = @copperkettle => OTHER @copperkettle
    """,
    "trailing_labels": """
        @ 60 40
        30 PERSON Walt Brannigan
        18 TITLE Owner / Operator
        34 ORG Brannigan Plumbing & Heating
        18 = 406-555-0131 office => PHONE 406-555-0131
        18 = 406-555-0132 cell => MOBILE_PHONE 406-555-0132
        18 = 406-555-0133 (fax) => FAX 406-555-0133
        18 EMAIL brannigan.plumbing@gmail.com
        18 ADDRESS 77 Frontage Rd, Missoula, MT 59808
        18 OTHER Licensed, bonded and insured
    """,
    "split_labels": """
        @ 60 40
        34 ORG Lattice Bioscience AG
        28 PERSON Urs Zellweger
        18 TITLE Chief Scientific Officer
        18 ADDRESS Technoparkstrasse 1
        18 ADDRESS CH-8005 Zürich
        @ 60 300
        18 = Phone =>
        18 = Mobile =>
        18 = Mail =>
        @ 180 300
        18 = +41 44 555 01 23 => PHONE +41 44 555 01 23
        18 = +41 79 555 01 23 => MOBILE_PHONE +41 79 555 01 23
        18 EMAIL urs.zellweger@latticebio.ch
    """,
    "noise": """
        @ 60 40
        36 ORG Redfern Security Systems
        28 PERSON Colleen Abernathy
        18 TITLE Account Executive
        18 = Tel : (O20) 7946 O958 => PHONE (020) 7946 0958
        18 = E-mail : colleen.abernathy @redfern-security.com
        => EMAIL colleen.abernathy@redfern-security.com
        18 = www. redfern-security. com => WEBSITE www.redfern-security.com
        18 ADDRESS 5 Station Approach, Reading RG1 1LX
    """,
    "insurance": """
        @ 60 40
        28 PERSON Yolanda Pruitt
        18 TITLE Insurance Agent
        30 ORG Pruitt Family Insurance
        18 OTHER Auto • Home • Life • Business
        18 ADDRESS 301 E Main St
        18 ADDRESS Murfreesboro TN 37130-3842
        18 = Bus: 615 555 0102 Fax: 615 555 0103 => PHONE 615 555 0102; FAX 615 555 0103
        18 = Toll Free 1-800-555-0147 => PHONE 1-800-555-0147
        18 EMAIL yolanda@pruittfamily.insurance
    """,
}
"""Cards that the rules were written with."""
