// What somebody changes is shown at once, sent in the background, and can be undone.

import { call } from "./api.js";

const REMOVAL_MILLISECONDS = 10_000;
const GATHER_MILLISECONDS = 250;
const AGAIN_MILLISECONDS = 2_000;
const MOST_CORRECTIONS = 10_000;
const REMEMBERED = 1_000;

export class Mending {
  /**
   * @param variables family and id of the dataset
   * @param tell is called whenever the state changed
   */
  constructor(variables, tell) {
    Object.assign(this, { variables, tell, history: [], removals: new Map(), error: null, moved: 0 });
    this.pending = new Map();
    this.sending = false;
  }

  get unsent() { return this.pending.size; }

  /** Puts examples under another label: shown at once, sent together. */
  move(examples, label) {
    const changes = examples.filter((one) => one.label.id !== label.id).map((example) => ({ example, was: example.label, now: label }));
    if (!changes.length) return;
    for (const { example } of changes) this.#set(example, label);
    this.#remember({ undo: () => { for (const { example, was } of changes) this.#set(example, was); } });
    this.moved += changes.length;
    this.tell();
  }

  /** Removes examples, in ten seconds unless it is undone; `back` shows them again. */
  remove(examples, back) {
    for (const example of examples) this.removals.set(example.id, setTimeout(() => this.#sendRemoval([example.id]), REMOVAL_MILLISECONDS));
    this.#remember({
      undo: () => {
        const waiting = examples.filter(({ id }) => this.removals.has(id));
        for (const { id } of waiting) { clearTimeout(this.removals.get(id)); this.removals.delete(id); }
        if (waiting.length) back(waiting);
      },
    });
    this.tell();
  }

  undo() {
    this.history.pop()?.undo();
    this.tell();
  }

  /** Sends now what waits, removals too: the page is left, and nobody can undo any more. */
  async finish() {
    const ids = [...this.removals.keys()];
    for (const timer of this.removals.values()) clearTimeout(timer);
    if (ids.length) await this.#sendRemoval(ids);
    await this.#send();
  }

  #set(example, label) {
    example.label = label;
    this.pending.set(example.id, { exampleId: example.id, labelId: label.id });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#send(), GATHER_MILLISECONDS);
  }

  #remember(step) {
    this.history.push(step);
    if (this.history.length > REMEMBERED) this.history.shift();
  }

  async #sendRemoval(ids) {
    for (const id of ids) { this.removals.delete(id); this.pending.set(id, { exampleId: id, remove: true }); }
    await this.#send();
  }

  /** Sends corrections; of those that name an example that another tab removed, all others. */
  async #deliver(corrections) {
    try { await call("correct", { variables: this.variables, json: { corrections } }); } catch (error) {
      if (error.code !== "example_not_found") throw error;
      if (corrections.length === 1) {
        if (!corrections[0].remove) this.error = error;
        return;
      }
      const middle = Math.ceil(corrections.length / 2);
      await this.#deliver(corrections.slice(0, middle));
      await this.#deliver(corrections.slice(middle));
    }
  }

  /** Sends one call after the other; what was changed meanwhile goes with the next. */
  async #send() {
    if (this.sending || !this.pending.size) return;
    this.sending = true;
    const corrections = [...this.pending.values()].slice(0, MOST_CORRECTIONS);
    for (const { exampleId } of corrections) this.pending.delete(exampleId);
    this.error = null;
    try { await this.#deliver(corrections); } catch (error) {
      this.error = error;
      // What the service could not hear is said again; the same correction twice changes nothing.
      if (error.status === 0 || error.status >= 500 || error.status === 409) {
        for (const one of corrections) if (!this.pending.has(one.exampleId)) this.pending.set(one.exampleId, one);
        this.timer = setTimeout(() => this.#send(), AGAIN_MILLISECONDS);
        this.sending = false;
        this.tell();
        return;
      }
    }
    this.sending = false;
    this.tell();
    if (this.pending.size) await this.#send();
  }
}
