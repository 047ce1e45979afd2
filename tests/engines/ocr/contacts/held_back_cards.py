"""Invented cards that were written before the rules were tested on them.

Their form: tests/engines/ocr/contacts/card_sets.py
"""

from __future__ import annotations

HELD_BACK = {
    "us_realtor": """
        @ 60 50
        34 PERSON Savannah Tillman
        18 TITLE REALTOR®
        18 OTHER DRE# 01234567
        26 ORG Golden Mesa Realty
        18 = Direct 760.555.0177 => PHONE 760.555.0177
        18 = Office 760.555.0100 => PHONE 760.555.0100
        18 EMAIL savannah@goldenmesa.com
        18 ADDRESS 73-255 El Paseo, Suite 9
        18 ADDRESS Palm Desert, CA 92260
    """,
    "us_two_column": """
        @ 50 60
        44 ORG Ironwood
        20 OTHER Custom cabinetry since 1987
        @ 520 60
        28 PERSON Hector Villanueva
        18 TITLE Master Craftsman
        18 ADDRESS 1407 Foundry Lane
        18 ADDRESS Asheville, NC 28801
        18 = 828.555.0136 => PHONE 828.555.0136
        18 EMAIL hector@ironwoodcabinets.com
        18 WEBSITE ironwoodcabinets.com
    """,
    "uk_plc": """
        @ 60 40
        28 PERSON Alistair Cholmondeley-Reid
        18 TITLE Group Finance Director
        36 ORG Marlowe Holdings plc
        18 ADDRESS 8th Floor, 40 Leadenhall Street
        18 ADDRESS London EC3A 2BJ
        18 ADDRESS United Kingdom
        18 = Switchboard +44 20 7946 0700 => PHONE +44 20 7946 0700
        18 = Direct +44 20 7946 0712 => PHONE +44 20 7946 0712
        18 = M +44 7700 900789 => MOBILE_PHONE +44 7700 900789
        18 EMAIL alistair.cholmondeley-reid@marloweholdings.com
    """,
    "german_ev": """
        @ 60 40
        30 ORG Kanzlei Vogel & Partner
        26 PERSON Sabine Vogel
        18 TITLE Rechtsanwältin
        18 ADDRESS Goetheplatz 7
        18 ADDRESS D-60313 Frankfurt am Main
        18 = Fon 069 / 555 01 23 => PHONE 069 / 555 01 23
        18 = Fax 069 / 555 01 24 => FAX 069 / 555 01 24
        18 = Mail vogel@kanzlei-vogel.de => EMAIL vogel@kanzlei-vogel.de
        18 OTHER USt-IdNr. DE 123456789
    """,
    "italian": """
        @ 60 40
        34 ORG Officine Bertolini S.r.l.
        26 PERSON Marco Bertolini
        18 TITLE Responsabile Acquisti
        18 ADDRESS Via Garibaldi, 45
        18 ADDRESS 20121 Milano (MI) - Italia
        18 = Tel. +39 02 5550 1234 - Fax +39 02 5550 1235
        => PHONE +39 02 5550 1234
        ; FAX +39 02 5550 1235
        18 = Cell. +39 335 555 0123 => MOBILE_PHONE +39 335 555 0123
        18 EMAIL m.bertolini@officinebertolini.it
        18 OTHER P.IVA 01234567890
    """,
    "spanish": """
        @ 60 40
        30 PERSON Lucía Ferrándiz
        18 TITLE Directora de Marketing
        32 ORG Grupo Almazara S.L.
        18 ADDRESS Calle Serrano 88, 2º
        18 ADDRESS 28006 Madrid
        18 = Tel: 915 550 123 => PHONE 915 550 123
        18 = Móvil: 655 501 234 => MOBILE_PHONE 655 501 234
        18 EMAIL lferrandiz@grupoalmazara.es
        18 WEBSITE www.grupoalmazara.es
    """,
    "indian_caps": """
        @ 60 40
        30 ORG NAVYUG STEEL TRADERS
        26 PERSON ANIL BHARGAVA
        18 TITLE PROPRIETOR
        18 ADDRESS SHOP NO. 12, GANDHI MARKET
        18 ADDRESS STATION ROAD, NAGPUR - 440 001
        18 = (O) 0712-2555012 (M) 98230 55012 => PHONE 0712-2555012; MOBILE_PHONE 98230 55012
        18 EMAIL navyugsteel@rediffmail.com
    """,
    "australian_trade": """
        @ 60 40
        44 ORG SPARKY'S ELECTRICAL
        18 OTHER Lic. No. 234567C
        26 PERSON Bruce Tolland
        18 TITLE Licensed Electrician
        18 = Mobile 0438 555 901 => MOBILE_PHONE 0438 555 901
        18 EMAIL bruce@sparkyselectrical.net.au
        18 ADDRESS PO Box 88, Dubbo NSW 2830
    """,
    "dutch": """
        @ 60 40
        34 ORG Waterland Techniek B.V.
        26 PERSON Sander de Groot
        18 TITLE Project Manager
        18 ADDRESS Keizersgracht 214
        18 ADDRESS 1016 DZ Amsterdam
        18 = T +31 20 555 0123 => PHONE +31 20 555 0123
        18 = M +31 6 5550 1234 => MOBILE_PHONE +31 6 5550 1234
        18 EMAIL s.degroot@waterlandtechniek.nl
        18 WEBSITE www.waterlandtechniek.nl
    """,
    "singapore": """
        @ 60 40
        32 ORG Merlion Freight Services Pte Ltd
        26 PERSON Tan Wei Ming
        18 TITLE Business Development Manager
        18 ADDRESS 10 Anson Road #23-05
        18 ADDRESS International Plaza, Singapore 079903
        18 = Tel: (65) 6555 0123 => PHONE (65) 6555 0123
        18 = HP: (65) 9555 0123 => MOBILE_PHONE (65) 9555 0123
        18 EMAIL weiming.tan@merlionfreight.com.sg
    """,
    "startup": """
        @ 60 60
        28 PERSON zoe hartmann
        18 TITLE co-founder & ceo
        @ 500 60
        50 ORG kelpworks
        @ 60 200
        18 = zoe@kelpworks.co => EMAIL zoe@kelpworks.co
        18 = kelpworks.co => WEBSITE kelpworks.co
        18 = +1 628 555 0108 => PHONE +1 628 555 0108
    """,
    "doctor": """
        @ 60 40
        28 PERSON Samuel T. Okonkwo, MD, FACS
        18 TITLE Orthopedic Surgeon
        30 ORG Lakeshore Orthopedic Center
        18 ADDRESS 500 N. Michigan Ave., 12th Floor
        18 ADDRESS Chicago, Illinois 60611
        18 = Appointments: (312) 555-0190 => PHONE (312) 555-0190
        18 = Fax: (312) 555-0191 => FAX (312) 555-0191
        18 WEBSITE www.lakeshoreortho.org
    """,
    "bank": """
        @ 60 40
        38 ORG First Prairie Bank
        18 OTHER Member FDIC
        26 PERSON Judith A. Kowalczyk
        18 TITLE Vice President
        18 +TITLE and Branch Manager
        18 ADDRESS 600 Main Street
        18 ADDRESS Ames, IA 50010
        18 = Phone 515.555.0164 ext. 22 => PHONE 515.555.0164 ext. 22
        18 EMAIL jkowalczyk@firstprairiebank.com
    """,
    "one_line_contact": """
        @ 60 40
        30 ORG Quill & Ember Publishing
        26 PERSON Nathaniel Brooks
        18 TITLE Senior Editor
        16 = 1120 Broadway, New York, NY 10010 | 212-555-0128 | nbrooks@quillember.com
        => ADDRESS 1120 Broadway, New York, NY 10010
        ; PHONE 212-555-0128
        ; EMAIL nbrooks@quillember.com
    """,
    "irish": """
        @ 60 40
        30 ORG Shannon Dairy Cooperative
        26 PERSON Siobhán Ní Bhriain
        18 TITLE Quality Manager
        18 ADDRESS Unit 6, Raheen Business Park
        18 ADDRESS Limerick, Ireland
        18 = Tel: +353 61 555 012 => PHONE +353 61 555 012
        18 = Mob: +353 87 555 0123 => MOBILE_PHONE +353 87 555 0123
        18 EMAIL siobhan@shannondairy.ie
    """,
    "consultant": """
        @ 60 40
        32 PERSON Dr. Amara Nwosu
        18 TITLE Independent Consultant
        18 OTHER Supply chains made simple
        18 = Tel/WhatsApp: +234 803 555 0123 => MOBILE_PHONE +234 803 555 0123
        18 EMAIL amara.nwosu@outlook.com
        18 ADDRESS 14 Awolowo Road, Ikoyi
        18 ADDRESS Lagos, Nigeria
    """,
    "hotel": """
        @ 60 40
        40 ORG Hotel Miramar
        18 OTHER Where the sea begins
        26 PERSON Paulo Figueira
        18 TITLE General Manager
        18 ADDRESS Avenida Atlântica 1702
        18 ADDRESS 22021-001 Rio de Janeiro - RJ, Brasil
        18 = Tel.: +55 21 5555-0123 => PHONE +55 21 5555-0123
        18 EMAIL gm@hotelmiramar.com.br
        18 WEBSITE www.hotelmiramar.com.br
    """,
    "canadian": """
        @ 60 40
        34 ORG Maple Ridge Engineering Ltd.
        26 PERSON Genevieve Tremblay, P.Eng.
        18 TITLE Structural Engineer
        18 ADDRESS 2300 Yonge Street, Suite 1600
        18 ADDRESS Toronto, Ontario M4P 1E4
        18 = Tel 416.555.0143 x 218 => PHONE 416.555.0143 x 218
        18 = Cell 647.555.0172 => MOBILE_PHONE 647.555.0172
        18 EMAIL gtremblay@mapleridgeeng.ca
    """,
    "yoga": """
        @ 60 40
        50 ORG SOLSTICE
        16 OTHER yoga + wellness
        @ 60 200
        24 PERSON Maya Lindgren
        14 TITLE Founder, RYT-500
        14 = (720) 555-O194 => PHONE (720) 555-0194
        14 EMAIL maya@solsticeyoga.com
        14 ADDRESS 2045 Pearl St, Boulder CO 80302
    """,
    "law_firm": """
        @ 60 40
        26 PERSON JAMES R. THORNBURY III
        16 TITLE Attorney at Law
        30 ORG Thornbury, Walsh & Klein, P.C.
        16 ADDRESS One Liberty Plaza, 23rd Floor
        16 ADDRESS New York, New York 10006
        16 = Tel. (212) 555-0150 Ext. 204 => PHONE (212) 555-0150 Ext. 204
        16 = Telecopier (212) 555-0151 => FAX (212) 555-0151
        16 EMAIL jthornbury@twklaw.com
    """,
    "austrian": """
        @ 60 40
        32 ORG Kessler Automation
        16 OTHER Antriebe | Steuerungen | Service
        24 PERSON Dipl.-Ing. Markus Ebner
        16 TITLE Vertriebsleiter
        16 ADDRESS Am Gewerbepark 3a
        16 ADDRESS A-4020 Linz
        16 = Tel.: +43 (0)732 / 55 50 12-34 => PHONE +43 (0)732 / 55 50 12-34
        16 = Mobil: +43 (0)664 / 555 01 23 => MOBILE_PHONE +43 (0)664 / 555 01 23
        16 = ebner@kessler-automation.at => EMAIL ebner@kessler-automation.at
    """,
    "funeral": """
        @ 60 40
        34 ORG Blackwood & Sons
        16 OTHER Funeral Directors since 1892
        22 PERSON Edmund Blackwood
        16 ADDRESS The Old Chapel
        16 ADDRESS 14 Church Lane
        16 ADDRESS Harrogate
        16 ADDRESS HG1 5AB
        16 = 01423 555 012 (24 hours) => PHONE 01423 555 012; OTHER (24 hours)
        16 EMAIL office@blackwoodandsons.co.uk
    """,
    "chinese": """
        @ 500 40
        26 PERSON Li Wei
        16 TITLE Export Manager
        30 ORG Shenzhen Brightway Electronics Co., Ltd
        14 ADDRESS 5/F, Building B, Huaqiang Industrial Park,
        14 ADDRESS Futian District, Shenzhen 518031, China
        14 = Tel: 86-755-5555 0123 => PHONE 86-755-5555 0123
        14 = Mob: +86 138 5555 0123 => MOBILE_PHONE +86 138 5555 0123
        14 = Skype: liwei.brightway => OTHER Skype: liwei.brightway
        14 = E-mail: liwei@brightway-elec.com => EMAIL liwei@brightway-elec.com
        14 = Http://www.brightway-elec.com => WEBSITE Http://www.brightway-elec.com
    """,
    "farm_supply": """
        @ 60 40
        28 PERSON Tom Baker
        16 TITLE Sales Representative
        30 ORG Midland Farm Supply
        16 ADDRESS Hwy 52 North
        16 ADDRESS Minot, ND 58703
        @ 560 160
        16 = Res: 701-555-0109 => PHONE 701-555-0109
        16 = Bus: 701-555-0110 => PHONE 701-555-0110
        16 = Cell: 701-555-0111 => MOBILE_PHONE 701-555-0111
    """,
    "french_university": """
        @ 60 40
        20 PERSON Chloé Dubois-Laurent
        14 TITLE Chargée de communication
        14 OTHER Service Communication
        28 ORG Université de Valmont
        14 ADDRESS 4, place de la République
        14 ADDRESS BP 1203
        14 ADDRESS 35000 Rennes Cedex
        14 = T. 02 99 55 01 23 / F. 02 99 55 01 24 => PHONE 02 99 55 01 23; FAX 02 99 55 01 24
        14 EMAIL chloe.dubois-laurent@univ-valmont.fr
    """,
    "lower_case_logo": """
        @ 60 40
        40 ORG pixel
        40 +ORG orchard
        @ 500 60
        22 PERSON Ben Ashworth
        14 TITLE UX & Interaction Designer
        14 = 07911 123456 => MOBILE_PHONE 07911 123456
        14 = ben@pixelorchard.co => EMAIL ben@pixelorchard.co
        14 = www.pixelorchard.co/ben => WEBSITE www.pixelorchard.co/ben
        14 = @benashworth => OTHER @benashworth
    """,
    "city_office": """
        @ 60 40
        26 ORG City of Fairhaven
        18 ORG Department of Public Works
        22 PERSON Denise Calloway
        14 TITLE Deputy Director
        14 ADDRESS 200 City Hall Plaza, Room 305
        14 ADDRESS Fairhaven, MA 02719
        14 = Office: 508.555.0120 | Cell: 508.555.0121
        => PHONE 508.555.0120
        ; MOBILE_PHONE 508.555.0121
        14 EMAIL dcalloway@fairhaven-ma.gov
    """,
    "ghanaian": """
        @ 60 40
        24 PERSON Kwame Mensah
        14 TITLE Country Representative
        28 ORG Helping Hands International
        14 ADDRESS House No. 7, Ring Road East
        14 ADDRESS P.O. Box CT 1234, Cantonments
        14 ADDRESS Accra, Ghana
        14 = Tel: +233 30 255 5012 / +233 24 555 0123
        => PHONE +233 30 255 5012
        ; PHONE +233 24 555 0123
        14 EMAIL kmensah@helpinghands.org
        14 WEBSITE www.helpinghands.org
    """,
    "car_wash": """
        @ 60 40
        34 ORG DELUXE CAR WASH
        14 OTHER Hand Wash • Detailing • Oil Change
        20 PERSON Tony
        14 TITLE Manager
        14 ADDRESS 8811 Van Nuys Blvd.
        14 ADDRESS Panorama City, CA 91402
        14 = Tel: (818) 555-0163 => PHONE (818) 555-0163
    """,
    "vietnamese": """
        @ 60 40
        26 PERSON Nguyen Thi Lan
        14 TITLE Chief Accountant
        30 ORG VIET LOTUS TRADING JSC
        14 ADDRESS 25 Le Loi Street, District 1
        14 ADDRESS Ho Chi Minh City, Vietnam
        14 = (T) 84-28-5555 0123 (F) 84-28-5555 0124 => PHONE 84-28-5555 0123; FAX 84-28-5555 0124
        14 = (M) 0909 555 012 => MOBILE_PHONE 0909 555 012
        14 EMAIL lan.nguyen@vietlotus.vn
    """,
}
"""Cards that the rules were not written with."""
