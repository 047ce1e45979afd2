"""Finds the columns with texts and labels by their names in a header."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OLD_TEXT = _words("text document utterance")
_OLD_LABEL = _words("label intent sentiment")
# Words in exports of help desks, surveys and annotation tools, in the ten languages.
TEXT_NAMES = _OLD_TEXT | _words(
    """message messages subject body content comment comments review sentence query question
    description title headline tweet phrase input prompt email ticket request feedback post
    texte sujet commentaire contenu texto mensaje asunto comentario frase consulta testo
    messaggio oggetto commento domanda mensagem assunto pergunta anfrage nachricht betreff
    beschreibung kommentar frage satz inhalt
    テキスト 本文 文章 文 質問 文本 内容 文字 內容 問題 问题"""
)
LABEL_NAMES = _OLD_LABEL | _words(
    """labels category categories class classification topic tag target output completion polarity
    kategorie klasse thema absicht stimmung catégorie categorie classe étiquette etiquette
    intention categoría categoria etiqueta clase intención intencion sentimiento tema etichetta
    intento sentimento rótulo rotulo
    ラベル カテゴリ カテゴリー 分類 感情 意図 标签 類別 类别 标注 標籤 分类 意图 意圖 情感"""
)
# Words that raise the rank of a column in wide tables, but do not make a row a header.
TEXT_HINTS = _words(
    """summary snippet details messagebody nachrichtentext anfragetext freitext freitextfeld
    descripción descripcion descrição descricao descrizione problème problema réclamation
    reclamación reclamo reclamação richiesta demande pedido avis opinión opinião
    parere お問い合わせ内容 問い合わせ内容 ご意見 件名 詳細 説明 描述 详情 詳情 留言 反馈 意见 意見
    标题 標題"""
)
LABEL_HINTS = _words(
    """type types kind reason categories kategorien anliegen grund typ typologie tipo motif motivo
    categorias categorías catégories categorie area área bereich rubrique rubrik
    種別 種類 区分 お問い合わせ種別 問い合わせ種別 类型 類型 问题类型 問題類型 原因"""
)
_NEITHER = _words(
    "id ids date time timestamp score confidence count number language lang length version url"
)
# Words of columns that are neither text nor label, in exports of help desks, shops and forms: what
# became of a request, who has it, and who wrote it from where.
OTHER_NAMES = _NEITHER | _words(
    """status state stage priority urgency severity impact channel source via origin medium via
    assignee assigned agent owner group team requester requested customer client contact author
    reporter sender recipient from to cc name user username company organization organisation
    account phone city country region state zip gender age plan tier brand store browser os
    device platform  satisfaction csat nps stars sla created updated resolved closed opened due
    by at on date day  resolution reply response answer signature notes
    zustand stand priorität dringlichkeit kanal quelle herkunft bearbeiter zuständig absender
    empfänger von an kunde name firma land stadt ort filiale gerät bewertung antwort lösung datum
    statut état etat priorité canal origine agent assigné expéditeur destinataire client société
    pays ville magasin appareil réponse résolution note
    estado prioridad canal origen agente asignado remitente cliente empresa país ciudad tienda
    dispositivo respuesta solución fecha nombre
    stato priorità canale origine operatore assegnato mittente cliente azienda paese città negozio
    dispositivo risposta soluzione data nome
    situação prioridade canal origem agente responsável remetente cliente empresa país cidade loja
    resposta solução data nome
    vorname nachname kundenname sachbearbeiter ansprechpartner betrag prénom nom montant
    propriétaire succursale apellido apellidos propietario importe sobrenome proprietário valor
    cognome proprietario importo zuweisungsgruppe gruppe auswirkung groupe équipe grupo equipo
    gruppo persona gestor incaricato assegnatario responsable
    状態 ステータス 優先度 担当 担当者 担当者名 顧客 氏名 国 都市 チャネル 経路 回答 返信 日時
    状态 优先级 渠道 来源 处理人 客户 姓名 国家 城市 门店 回复 日期
    狀態 優先級 渠道 來源 客戶 回覆"""
)
# Words of rows below a table that sum it up.
TOTAL_NAMES = _words(
    """total totals subtotal sum count average avg mean median min max minimum maximum summe gesamt
    gesamtsumme zwischensumme anzahl durchschnitt mittelwert somme totaux nombre moyenne médiane
    suma recuento promedio media mediana totale somma conteggio soma contagem média
    合計 総計 件数 平均 合计 总计 总数 平均值 總計 總數"""
)
_MOST_WORDS = 4
_BETWEEN = re.compile(r"[\W_]+")


class Columns(NamedTuple):
    """Positions of the text column and the label column, from 0."""

    text: int
    label: int


class NamedColumns(NamedTuple):
    """The columns that, by their names, may contain the texts or the labels."""

    texts: list[int]
    """Positions of the likely text columns; several if their names are equally likely."""
    labels: list[int]
    """Positions of the likely label columns; several if their names are equally likely."""
    is_sure: bool = False
    """Whether the whole names are known, not just a word in them."""

    @property
    def columns(self) -> Columns | None:
        """Return the columns; None unless exactly one text and one label column are likely."""
        if len(self.texts) == len(self.labels) == 1:
            return Columns(self.texts[0], self.labels[0])
        return None


def find_documented_columns(cells: Sequence[str]) -> Columns | None:
    """Find a text column and a label column with documented names, such as `text` and `label`.

    Returns:
        The positions of the columns; None if a name is missing, or another cell is not empty.
    """
    names = [cell.strip() for cell in cells]
    if len(names) < 2 or any(names[2:]):
        return None
    for text, label in ((0, 1), (1, 0)):
        if names[text] in _OLD_TEXT and names[label] in _OLD_LABEL:
            return Columns(text, label)
    return None


def find_named_columns(names: Sequence[str]) -> NamedColumns:
    """Return the likely text columns and the likely label columns, judged by names in a header."""
    folded = [fold_name(name) for name in names]
    texts = _surest(folded, _OLD_TEXT, TEXT_NAMES, LABEL_NAMES)
    labels = _surest(folded, _OLD_LABEL, LABEL_NAMES, TEXT_NAMES)
    is_sure = all(
        found and folded[found[0]] in known
        for found, known in ((texts, TEXT_NAMES), (labels, LABEL_NAMES))
    )
    return NamedColumns(texts, labels, is_sure)


def find_other_column(names: Sequence[str]) -> Columns | None:
    """Find the columns of a header with two names, if one name is known and the other is unknown.

    Returns:
        The columns; None for any other header.
    """
    is_text, is_label = (
        [fold_name(name) in known for name in names] for known in (TEXT_NAMES, LABEL_NAMES)
    )
    if len(names) != 2 or sum(is_text) + sum(is_label) != 1:
        return None
    label = is_label.index(True) if any(is_label) else 1 - is_text.index(True)
    return Columns(1 - label, label)


def has_known_word(names: Sequence[str]) -> bool:
    """Return whether any name contains a word (of any language) for texts or labels."""
    words = {word for name in names for word in fold_name(name).split()}
    return not words.isdisjoint(TEXT_NAMES | LABEL_NAMES)


def fold_name(name: str) -> str:
    """Return the name of a column in lower case and with single spaces, for comparison."""
    return " ".join(_BETWEEN.split(unicodedata.normalize("NFKC", name).casefold())).strip()


def find_column(names: Sequence[str], column: str) -> int | None:
    """Return the index of a column, given its name or number (from 1); None if missing."""
    if column in names:
        return list(names).index(column)
    folded = [fold_name(name) for name in names]
    if fold_name(column) in folded:
        return folded.index(fold_name(column))
    return int(column) - 1 if column.isdecimal() and 0 < int(column) <= len(names) else None


def split_columns(names: Sequence[str], text: str) -> list[str]:
    """Split the column names in a request: one name, a JSON array, or names separated by commas.

    The name of an existing column is not split, even if it contains commas.
    """
    if find_column(names, text) is not None:
        return [text]
    try:
        found = json.loads(text)
    except ValueError:
        found = text.split(",")
    columns = found if isinstance(found, list) else [text]
    return [str(column).strip() for column in columns if str(column).strip()] or [text]


def _surest(
    folded: Sequence[str], documented: frozenset[str], known: frozenset[str], other: frozenset[str]
) -> list[int]:
    """Return the positions of documented names, or else known names, or else similar names."""
    for meant in (documented.__contains__, known.__contains__, _Holding(known, other)):
        found = [at for at, name in enumerate(folded) if meant(name)]
        if found:
            return found
    return []


class _Holding(NamedTuple):
    """Tests whether a name contains a known word. "customer message" passes, "message id" fails."""

    known: frozenset[str]
    other: frozenset[str]

    def __call__(self, name: str) -> bool:
        words = name.split()
        if not words or len(words) > _MOST_WORDS or _NEITHER.intersection(words):
            return False
        if words[-1] in self.known:
            return True
        others = self.other | OTHER_NAMES
        return not others.intersection(words) and not self.known.isdisjoint(words)
