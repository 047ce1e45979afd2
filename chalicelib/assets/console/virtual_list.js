// A list or grid of any length that renders only its visible items.

import { useEffect, useLayoutEffect, useRef, useState } from "./hooks.module.js";
import { html } from "./ui.js";

const ROW = 60;
const CELL = { width: 176, height: 200 };
// Items read before they become visible.
const READ_AHEAD = 100;
// Rows rendered above and below the view.
const SPARE_ROWS = 4;

export function VirtualList({ list, label, count, at, load, row, chosen, pick, wide }) {
  const [view, setView] = useState({ top: 0, height: 600, columns: 1 });
  const frame = useRef(0);
  const drawn = useRef({});
  const height = wide ? CELL.height : ROW;
  const measure = () => {
    const element = list.current;
    if (!element) return;
    const columns = wide ? Math.max(1, Math.floor(element.clientWidth / CELL.width)) : 1;
    const next = { top: element.scrollTop, height: element.clientHeight, columns };
    setView((old) =>
      old.columns === next.columns &&
      old.height === next.height &&
      Math.floor(old.top / height) === Math.floor(next.top / height)
        ? old
        : next,
    );
  };
  const scrolled = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(measure);
  };
  useLayoutEffect(measure, []);
  useEffect(() => {
    const size = new ResizeObserver(measure);
    size.observe(list.current);
    return () => size.disconnect();
  }, []);
  const { columns } = view;
  const first = Math.max(0, Math.floor(view.top / height) - SPARE_ROWS) * columns;
  const last = Math.min(count, (Math.ceil((view.top + view.height) / height) + SPARE_ROWS) * columns);
  useEffect(() => {
    load(first, Math.min(count, last + READ_AHEAD));
  }, [first, last]);
  useLayoutEffect(() => {
    const element = list.current,
      top = Math.floor(at / columns) * height;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight)
      element.scrollTop = top + height - element.clientHeight;
  }, [at, columns]);
  const shown = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset);
  // Scrolling reuses rendered items, which keeps it smooth; any other change passes a new `row` function.
  if (drawn.current.row !== row || drawn.current.columns !== columns)
    drawn.current = { row, columns, items: new Map() };
  const before = drawn.current.items;
  drawn.current.items = new Map();
  const item = (index) => {
    const made =
      before.get(index) ??
      html`
        <div
          key=${index}
          id=${`item-${index}`}
          role="option"
          aria-selected=${chosen.has(index)}
          aria-posinset=${index + 1}
          aria-setsize=${count}
          class=${`item ${index === at ? "present" : ""} ${chosen.has(index) ? "chosen" : ""}`}
          onClick=${(event) => pick(index, event)}
          style=${{
            transform: `translate(${(index % columns) * 100}%, ${Math.floor(index / columns) * height}px)`,
            height: `${height}px`,
            width: `${100 / columns}%`,
          }}
        >
          ${row(index)}
        </div>
      `;
    drawn.current.items.set(index, made);
    return made;
  };
  const present = at >= first && at < last ? `item-${at}` : undefined;
  return html`
    <div
      class="list"
      role="listbox"
      aria-label=${label}
      aria-multiselectable="true"
      aria-activedescendant=${present}
      tabindex="0"
      ref=${list}
      onScroll=${scrolled}
    >
      <div
        class="list-whole"
        role="presentation"
        style=${{ height: `${Math.ceil(count / columns) * height}px` }}
      >
        ${shown.map(item)}
      </div>
    </div>
  `;
}
