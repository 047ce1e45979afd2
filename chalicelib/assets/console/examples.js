// The examples of a dataset, read page by page as somebody scrolls, and only once.

import { call } from "./api.js";

const PAGE = 100;

export class Examples {
  /**
   * @param variables family and id of the dataset
   * @param query what is looked for; its answers come one after the other when their number is unknown
   * @param total how many there are, if that is known
   * @param tell is called whenever something came
   * @param only by id what a model answered to the examples that are shown; null shows all
   */
  constructor(variables, query, total, tell, only = null) {
    Object.assign(this, { variables, query, tell, only, items: [], error: null, reading: new Set(), over: false });
    this.inOrder = Boolean(only || query.contains || query.suspectsOf || query.source);
    this.total = this.inOrder ? 0 : total;
    this.next = 0;
    this.left = 0;
  }

  /** Forgets what was read, because another call changed it. */
  restart() {
    Object.assign(this, { items: [], reading: new Set(), over: false, next: 0, left: 0, total: this.inOrder ? 0 : this.total });
    this.want(0, PAGE);
    this.tell();
  }

  /** Reads what the rows from one to another show. */
  want(from, to) {
    if (this.inOrder) {
      if (!this.over && !this.reading.size && to >= this.items.length - 20) this.#readOn();
      return;
    }
    for (let page = Math.floor(from / PAGE); page * PAGE < Math.min(to, this.total); page++) this.#readPage(page);
  }

  async #readPage(page) {
    if (this.reading.has(page)) return;
    this.reading.add(page);
    // Those that went to another label stand before this page no more.
    let at = page * PAGE;
    try {
      while (at < (page + 1) * PAGE) {
        const offset = Math.max(0, at - this.left);
        const answer = await this.#ask(offset, (page + 1) * PAGE - at);
        answer.data.forEach((example, index) => { this.items[at + index] ??= example; });
        at += answer.data.length;
        if (answer.nextOffset === undefined || !answer.data.length) {
          this.total = at;
          break;
        }
      }
    } catch (error) {
      this.error = error;
      this.reading.delete(page);
    }
    this.tell();
  }

  async #readOn() {
    this.reading.add(-1);
    try {
      const answer = await this.#ask(this.next, PAGE);
      this.items.push(...this.#picked(answer.data));
      this.total = this.items.length;
      this.next = answer.nextOffset;
      this.over = this.next === undefined;
    } catch (error) { Object.assign(this, { error, over: true }); }
    this.reading.delete(-1);
    this.tell();
    if (!this.over && this.items.length < PAGE) this.#readOn();
  }

  #picked(found) {
    if (!this.only) return found;
    const kept = found.filter(({ id }) => this.only.has(id));
    return kept.map((example) => ({ ...example, ...this.only.get(example.id) }));
  }

  #ask(offset, count) {
    return call("browse", { variables: this.variables, query: { ...this.query, offset, count } });
  }

  /** Takes a row out of the list; the rows behind it move up. */
  drop(index) {
    this.items.splice(index, 1);
    this.total--;
    this.left++;
  }

  restore(index, example) {
    this.items.splice(index, 0, example);
    this.total++;
    this.left--;
  }
}
