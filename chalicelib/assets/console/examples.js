// The examples of a dataset, read page by page while the user scrolls, each only once.

import { call } from "./api.js";

const PAGE = 100;

export class Examples {
  /**
   * @param variables family and id of the dataset
   * @param query the filter; with one, the number of matches is unknown and pages are read in order
   * @param total number of examples without a filter
   * @param notify called after every change of state
   * @param only predictions by example id, of the examples to show; null shows all
   */
  constructor(variables, query, total, notify, only = null) {
    Object.assign(this, {
      variables,
      query,
      notify,
      only,
      items: [],
      error: null,
      reading: new Set(),
      isComplete: false,
    });
    this.inOrder = Boolean(only || query.contains || query.suspectsOf || query.source);
    this.total = this.inOrder ? 0 : total;
    this.next = 0;
    this.dropped = 0;
  }

  /** Read everything again, because another call changed it. */
  reload() {
    Object.assign(this, {
      items: [],
      reading: new Set(),
      isComplete: false,
      next: 0,
      dropped: 0,
      total: this.inOrder ? 0 : this.total,
    });
    this.load(0, PAGE);
    this.notify();
  }

  /** Read the rows from one index to another. */
  load(from, to) {
    if (this.inOrder) {
      if (!this.isComplete && !this.reading.size && to >= this.items.length - 20) this.#readNext();
      return;
    }
    for (let page = Math.floor(from / PAGE); page * PAGE < Math.min(to, this.total); page++)
      this.#readPage(page);
  }

  async #readPage(page) {
    if (this.reading.has(page)) return;
    this.reading.add(page);
    // Examples that were removed from the list no longer count for the service's offsets.
    let at = page * PAGE;
    try {
      while (at < (page + 1) * PAGE) {
        const offset = Math.max(0, at - this.dropped);
        const answer = await this.#request(offset, (page + 1) * PAGE - at);
        answer.data.forEach((example, index) => {
          this.items[at + index] ??= example;
        });
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
    this.notify();
  }

  async #readNext() {
    this.reading.add(-1);
    try {
      const answer = await this.#request(this.next, PAGE);
      this.items.push(...this.#filter(answer.data));
      this.total = this.items.length;
      this.next = answer.nextOffset;
      this.isComplete = this.next === undefined;
    } catch (error) {
      Object.assign(this, { error, isComplete: true });
    }
    this.reading.delete(-1);
    this.notify();
    if (!this.isComplete && this.items.length < PAGE) this.#readNext();
  }

  #filter(found) {
    if (!this.only) return found;
    const matching = found.filter(({ id }) => this.only.has(id));
    return matching.map((example) => ({ ...example, ...this.only.get(example.id) }));
  }

  #request(offset, count) {
    return call("browse", { variables: this.variables, query: { ...this.query, offset, count } });
  }

  /** Remove a row; later rows move up. */
  drop(index) {
    this.items.splice(index, 1);
    this.total--;
    this.dropped++;
  }

  restore(index, example) {
    this.items.splice(index, 0, example);
    this.total++;
    this.left--;
  }
}
