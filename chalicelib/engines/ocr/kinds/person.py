"""Estimates whether a line is the name of a person."""

from __future__ import annotations

import re
import unicodedata

from chalicelib.engines.ocr.kinds.span import word_set, words_of

# In lower case.
GIVEN_NAMES = word_set(
    """
    aaron abby abdul abdullah abel abigail abraham ada adam addison adele adnan adrian adriana
    adrienne agnes ahmad ahmed aidan aiden aileen aisha ajay akash akio akira alain alan alana
    albert alberto alec alejandra alejandro alessandra alessandro alex alexa alexander alexandra
    alexandre alexandria alexis alfonso alfred alfredo ali alice alicia alina alison alistair
    allan allen allison allyson alma alois alvin alyssa amal amanda amar amber amelia amelie amina
    amir amit amy ana anand anastasia anders anderson andre andrea andreas andreea andres andrew
    andrei andrzej andy angel angela angelica angelina angelo angie anil anita anja anjali ann
    anna annabelle anne annette annie anthony antoine antonia antonio antony anya april arash
    archie ariana ariel arjun arlene armando arnav arnold arthur arturo arun arvind asha ashley
    ashok astrid aubrey audrey august aurora austin autumn ava avery axel ayesha aziz baptiste
    barbara barry bart bartosz beatrice beatriz becky bella ben benedict benjamin bennett benoit
    bernadette bernard bernd bernhard bert bertha beth bethany betty beverly bhavesh bianca bill
    billy bjorn blake blanca bob bobby bonnie boris brad bradley brady brandi brandon brandy
    brenda brendan brent bret brett brian briana brianna bridget brigitte brittany brittney bruce
    bruno bryan bryce bryant caitlin caleb callum calvin cameron camila camille candace candice
    cara carl carla carlo carlos carly carmen carol carole carolina caroline carolyn carrie
    carsten casey cassandra cassidy catalina catherine cathy cecilia cedric celeste celia celine
    cesar chad chandra chantal charlene charles charlie charlotte chase chelsea chen cheryl chiara
    chloe chris christa christian christie christina christine christophe christopher christy
    cindy claire clara clarence clark claude claudia claudio clayton clement clifford clinton
    clive clyde cody cole colette colin colleen connie connor conrad constance cora corey corinne
    cory courtney craig cristian cristina crystal curtis cynthia daisy dale damian damien damon
    dan dana daniel daniela daniele danielle danny daphne darius darlene darrell darren darryl
    dave david dawn dean deanna deb debbie deborah debra deepa deepak deirdre delia denis denise
    dennis derek derrick desiree desmond destiny devin devon dexter diana diane diego dieter
    dietmar dimitri dina dinesh dirk divya dolores dominic dominik dominique don donald donna
    doris dorothy doug douglas drew duane duncan dustin dwayne dwight dylan earl ebony ed eddie
    eden edgar edith edmund eduardo edward edwin eileen elaine eleanor elena eli elias elijah
    elisa elisabeth elise eliza elizabeth ella ellen elliot elliott ellis elmer elsa elsie elvira
    emanuel emil emilia emilie emilio emily emma emmanuel enrico enrique eric erica erich erick
    erik erika erin ernest ernesto ernst esteban esther ethan eugene eva evan eve evelyn ezra
    fabian fabio fabrice faith farah farid fatima federico felicia felipe felix ferdinand fernanda
    fernando filip finn fiona flora florence florian floyd frances francesca francesco francine
    francis francisco franco francois françois frank frankie franklin franz fred freddie frederic
    frédéric frederick frederik frida friedrich fritz gabriel gabriela gabriele gabriella
    gabrielle gail garrett gary gaurav gavin gayle geoff geoffrey george georgia georgina gerald
    geraldine gerard gerhard gerrit giacomo gilbert gilles gina giorgio giovanni giulia giuseppe
    gladys glen glenda glenn gloria gonzalo gopal gordon grace graham grant greg gregg gregor
    gregory greta guido guillaume guillermo gunnar gunter günter guy gwen hailey haley hamza hana
    hannah hannes hans harald hari harish harold harriet harrison harry haruki harvey hassan hazel
    heath heather hector hedwig heidi heike heinrich heinz helen helena helene helga helmut
    hendrik henri henrik henry herbert herman hermann hilary hilda hiroshi hiroko holger holly
    homer hope horst howard hubert hugh hugo hussein ian ibrahim ida ignacio igor ilse imran ines
    inga inge ingrid irene irina iris irma isaac isabel isabella isabelle isaiah ismael ivan ivy
    jace jack jackie jackson jaclyn jacob jacqueline jacques jade jaime jake jakob jakub jamal
    james jamie jan jana jane janet janice janine jared jarrod jasmine jason javier jay jayden
    jayesh jean jeanette jeanne jeannie jeff jeffery jeffrey jenna jennifer jenny jens jeremiah
    jeremy jerome jerry jesper jesse jessica jessie jesus jill jillian jim jimmy jiro jo joan
    joana joann joanna joanne joao joaquin jocelyn jochen jodi jodie jody joe joel joerg joern
    johan johanna johannes john johnathan johnny jolene jon jonas jonathan jordan jorge jörg jose
    josé josef josefina joseph josephine josh joshua joy joyce juan juana juanita judith judy
    julia julian juliana julianne julie julien juliet jun june jürgen jurgen justin justine kaelo
    kai kaitlin kamal kara karan karen karin karina karl karla karthik kasper kat katarina kate
    katelyn katharina katherine kathleen kathryn kathy katie katja katrina kavita kayla kazuo
    keiko keith kelley kelli kellie kelly kelsey ken kendra kenji kenneth kenny kent kerry kevin
    khaled khalid kiara kieran kim kimberly kiran kirk kirsten klaus knut konrad krista kristen
    kristi kristian kristie kristin kristina kristine kristy krzysztof kumar kurt kyle kylie
    lakshmi lance lara larry lars latoya laura laure lauren laurence laurent laurie lawrence lea
    leah leanne lee leena leila lena leo leon leonard leonardo leroy lesley leslie lester leticia
    levi lewis liam liliana lillian lily lina linda lindsay lindsey lisa liz lloyd logan lois lola
    lonnie lora lorena lorenzo loretta lori lorraine lothar lou louis louisa louise luc luca lucas
    lucia lucien lucille lucy ludwig luis luisa luiz lukas luke luna lydia lyle lynda lynn mabel
    mackenzie madeleine madeline madison maeve magdalena maggie mahesh mai makoto malcolm malik
    mandy manfred manish manoj manuel manuela mara marc marcel marcella marcia marcin marco marcos
    marcus margaret margarita margot maria mariah mariam marian mariana marianne marie mariko
    marilyn mario marion marisa marissa marjorie mark markus marlene marsha marta martha martin
    martina marvin mary maryam masashi mason massimo mateo mathew mathias mathieu mathilde matt
    matteo matthew matthias maureen maurice mauricio max maxim maxime maximilian maxwell maya
    meera megan meghan mehmet mei melanie melinda melissa melody mercedes meredith michael
    michaela michal michel michele micheal micheala michelle miguel mihai mikael mike mikhail
    milan mildred miles milo mina ming miranda miriam misty mitchell mohamed mohammad mohammed
    mohan moira molly mona monica monika monique morgan moritz muhammad mukesh murray myra myriam
    nadia nadine naomi natalia natalie natasha nathalie nathan nathaniel neal neena neha neil
    nelson nicholas nick nicola nicolas nicole nigel nikhil niklas nikolai nikolas nina nisha
    nitin noah noel noelle nora norbert norma norman olaf oleg olga oliver olivia olivier omar
    orlando oscar oskar otto owen pablo paige pam pamela paola paolo pascal pat patrice patricia
    patrick paul paula paulina pauline paulo pavel pedro peggy penelope penny per perry pete peter
    petra phil philip philipp philippe phillip phoebe phyllis pia pierre pierre-yves piotr poonam
    prakash pranav prasad praveen preeti priya priyanka quentin quinn rachael rachel rafael raj
    raja rajan rajesh rajiv rakesh ralf ralph ram ramesh ramiro ramon randall randy raphael raquel
    rashid raul ravi ray raymond rebecca rebekah reggie regina reginald reinhard remy rené rene
    renee reza rhonda ricardo riccardo richard rick ricky rita rob robert roberta roberto robin
    robyn rochelle rodney rodrigo roger rohan rohit roland rolf roman ron ronald ronnie rosa
    rosalie rosario rose rosemary ross roy ruben rudolf rudy rupert russell ruth ryan sabine
    sabrina sachin sally salma salman salvador sam samantha samir sami samuel sana sandeep sandra
    sandy sanjay sanjeev santiago sara sarah sasha satish satoshi saul savannah scott sean
    sebastian sebastien selena serena serge sergei sergey sergio seth shalini shane shannon shari
    sharon shashi shaun shauna shawn sheila shelby shelley shelly sheri sherri sherry shirley sid
    siddharth sidney siegfried sierra silke silvia simon simona simone sofia sofie sonia sonja
    sonya sophia sophie soren spencer stacey stacie stacy stan stanley stefan stefanie stefano
    stella stephan stephanie stephen sterling steve steven stewart stuart sue suman sunil sunita
    suresh susan susana susanne suzanne sven svetlana sydney sylvia sylvie tadashi takeshi tamara
    tammy tania tanja tanya tara tariq taro tasha tatiana taylor ted terence teresa terrance terri
    terry tess thelma theo theodore theresa therese thierry thomas thorsten tiffany tim timo
    timothy tina tobias toby todd tom tomas tomasz tommy toni tony torsten tracey traci tracy
    travis trevor trish tristan troy tyler tyrone ulrich ulrike ulf uma ursula uwe valentina
    valerie vanessa vera verena vernon veronica veronika vicki vicky victor victoria vijay vikas
    vikram vikrant vincent vincenzo vinod viola violet virginia vishal vivek vivian viviane
    vladimir volker wade walt walter wanda warren wayne wei wendy werner wesley whitney wilfried
    wilhelm will willem william willie wilma winston wolfgang xavier xiao yan yasmin yasuko
    yolanda yoshio yosuke yuan yuki yuko yuri yusuf yves yvette yvonne zachary zahra zainab zara
    zoe zoltan
    """
)

# Words in front of a name, in lower case, without dots.
HONORIFICS = word_set(
    """
    mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend fr father sr sister hon
    capt captain col colonel gen general lt maj major sgt herr frau monsieur madame mme mlle sig
    signor signora ing dipl-ing dr-ing señor señora sra smt shri sri mag lic arq dott avv
    """
)
# Words behind a name, in lower case, without dots.
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
# Small words inside a name, in lower case.
PARTICLES = word_set(
    """
    van von der den de del della di da dos das do du la le el al bin bint ibn ben ter ten zu zur
    vom y e san santa st mac mc o d' af av bel
    """
)

_WORD = re.compile(
    r"(?:[A-ZÀ-ÞŁŚŽŠČŐ]['’](?=[A-Z]))?[A-ZÀ-ÞŁŚŽŠČŐ][A-Za-zÀ-ÿŁłŚśŽžŠšČčŐőąęńćźżěřůğışİ]{0,24}"
    r"(?:['’`\-][A-Za-zÀ-ÿ]{1,20}){0,2}"
)
_INITIALS = re.compile(r"(?:[A-Z]\.?){1,3}")
_NICK = re.compile(r"[(\"“”'‘][^)\"“”'’]{1,20}[)\"“”'’]")
_FEWEST, _MOST = 2, 4
_LONGEST = 60


def person_confidence(text: str) -> float:
    """Return the confidence, 0 to 1, that a line is only the name of a person.

    The confidence is about 0.5 for a line of capitalised words. Given names, initials, honorifics
    and credentials increase it. Words of trades and companies are not considered.
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


def without_credentials(text: str) -> tuple[str, bool]:
    """Return a name without trailing credentials such as `PhD`, and whether it had any."""
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
    """Return the confidence that words, apart from honorifics and credentials, are a name."""
    full = [word for word in words if word.lower() not in PARTICLES or word[:1].isupper()]
    shaped = all(_is_name_word(word) for word in full)
    count = len(words)
    if not shaped or count > _MOST + (count != len(full)) + 1 or not _has_long_word(full):
        return 0.0
    given = any(_is_given_name(word) for word in (words[:1] if count == 1 else words[:-1]))
    confidence = 0.45 if _FEWEST <= count <= _MOST else 0.2
    if count == 1:
        confidence = 0.1
    confidence += 0.35 * given + 0.3 * titled + 0.3 * has_credentials
    if _is_given_name(words[-1]) and not given:
        confidence += 0.15
    if len(full) < count:
        confidence += 0.2
    if any(_is_initial(word) for word in words[:-1]):
        confidence += 0.2
    return min(0.97, confidence)


def _is_given_name(word: str) -> bool:
    """Return whether a word, or its part before a hyphen, is a frequent given name."""
    folded = unicodedata.normalize("NFKD", word.lower())
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    return not GIVEN_NAMES.isdisjoint((plain, word.lower(), plain.partition("-")[0]))


def _is_name_word(word: str) -> bool:
    return _INITIALS.fullmatch(word) is not None or _WORD.fullmatch(word) is not None


def _is_initial(word: str) -> bool:
    return len(word) == 1 or ("." in word and _INITIALS.fullmatch(word) is not None)


def _has_long_word(words: list[str]) -> bool:
    return any(len(word) > 1 and "." not in word for word in words)
