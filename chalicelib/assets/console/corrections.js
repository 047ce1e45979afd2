// Label corrections and removals: shown at once, sent in the background, and undoable.

import { call, currentAccount } from "./api.js";

// How long a removal can be undone before it is sent.
const REMOVAL_MILLISECONDS = 10_000;
// Changes within this time go in one call.
const BATCH_MILLISECONDS = 250;
const RETRY_MILLISECONDS = 2_000;
// The service's limit for one call of corrections.
const MAX_CORRECTIONS = 10_000;
// Bounds the page's memory in a long session.
const MAX_UNDO_STEPS = 1_000;

export class Corrections {
  /**
   * @param variables family and id of the dataset
   * @param notify called after every change of state
   */
  constructor(variables, notify) {
    Object.assign(this, { variables, notify, history: [], removals: new Map(), error: null, moved: 0 });
    this.pending = new Map();
    this.account = currentAccount();
    this.sending = false;
  }

  get unsent() {
    return this.pending.size;
  }

  /** Give examples another label. */
  move(examples, label) {
    const changes = examples
      .filter((one) => one.label.id !== label.id)
      .map((example) => ({ example, before: example.label }));
    if (!changes.length) return;
    for (const { example } of changes) this.#set(example, label);
    this.#remember({
      undo: () => {
        for (const { example, before } of changes) this.#set(example, before);
      },
    });
    this.moved += changes.length;
    this.notify();
  }

  /** Remove examples after ten seconds. Undoing it before calls `restore` with the examples to show again. */
  remove(examples, restore) {
    for (const example of examples)
      this.removals.set(
        example.id,
        setTimeout(() => this.#sendRemoval([example.id]), REMOVAL_MILLISECONDS),
      );
    this.#remember({
      undo: () => {
        const waiting = examples.filter(({ id }) => this.removals.has(id));
        for (const { id } of waiting) {
          clearTimeout(this.removals.get(id));
          this.removals.delete(id);
        }
        if (waiting.length) restore(waiting);
      },
    });
    this.notify();
  }

  undo() {
    this.history.pop()?.undo();
    this.notify();
  }

  /** Send all pending changes and removals now, because the user leaves the page and can no longer undo them. */
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
    this.timer = setTimeout(() => this.#send(), BATCH_MILLISECONDS);
  }

  #remember(step) {
    this.history.push(step);
    if (this.history.length > MAX_UNDO_STEPS) this.history.shift();
  }

  async #sendRemoval(ids) {
    for (const id of ids) {
      this.removals.delete(id);
      this.pending.set(id, { exampleId: id, remove: true });
    }
    await this.#send();
  }

  /**
   * Send corrections. One that names an example removed in another tab makes the service refuse all of them,
   * so halve the list until only that one is left out.
   */
  async #deliver(corrections) {
    try {
      await call("correct", { variables: this.variables, account: this.account, json: { corrections } });
    } catch (error) {
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

  /** Send pending corrections, one call at a time; changes made meanwhile go with the next call. */
  async #send() {
    if (this.sending || !this.pending.size) return;
    this.sending = true;
    const corrections = [...this.pending.values()].slice(0, MAX_CORRECTIONS);
    for (const { exampleId } of corrections) this.pending.delete(exampleId);
    this.error = null;
    try {
      await this.#deliver(corrections);
    } catch (error) {
      this.error = error;
      // Retry what the service may not have received: corrections are idempotent.
      if (error.status === 0 || error.status >= 500 || error.status === 409) {
        for (const one of corrections)
          if (!this.pending.has(one.exampleId)) this.pending.set(one.exampleId, one);
        this.timer = setTimeout(() => this.#send(), RETRY_MILLISECONDS);
        this.sending = false;
        this.notify();
        return;
      }
    }
    this.sending = false;
    this.notify();
    if (this.pending.size) await this.#send();
  }
}
