"""Minimal .xlsx workbooks."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def sheet(rows: Iterable[Sequence[object]], more: str = "") -> str:
    """Return the XML of a sheet; numbers stay numbers, and cells that are None are left out."""
    written = []
    for number, row in enumerate(rows, 1):
        cells = "".join(_cell(f"{_letters(at)}{number}", value) for at, value in enumerate(row))
        written.append(f'<row r="{number}">{cells}</row>')
    return f"<sheetData>{''.join(written)}</sheetData>{more}"


def workbook(
    sheets: Mapping[str, str], extra: Mapping[str, bytes] | None = None, hidden: str = ""
) -> bytes:
    """Return a workbook of sheets by name and further parts; one sheet may be hidden."""
    ids = [(number, name) for number, name in enumerate(sheets, 1)]
    states = {hidden: " state='hidden'"}
    listed = "".join(
        f'<sheet name="{n}" sheetId="{i}" r:id="rId{i}"{states.get(n, "")}/>' for i, n in ids
    )
    links = "".join(
        f'<Relationship Id="rId{i}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i, _ in ids
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}'
        "</Relationships>",
    }
    for number, xml in enumerate(sheets.values(), 1):
        parts[f"xl/worksheets/sheet{number}.xml"] = f'<worksheet xmlns="{_MAIN}">{xml}</worksheet>'
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in parts.items():
            archive.writestr(path, text)
        for path, content in (extra or {}).items():
            archive.writestr(path, content)
    return target.getvalue()


def _letters(at: int) -> str:
    """Return the name of a column by its position from 0, up to ZZ."""
    return (chr(64 + at // 26) if at >= 26 else "") + chr(65 + at % 26)


def _cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'
