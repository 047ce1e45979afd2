// Samples that get their first label: each becomes an example at once, in the background, and can be undone.

import { call } from "./api.js";

const AGAIN_MILLISECONDS = 2_000;

export class Teaching {
  /**
   * @param variables family and id of the dataset that gets the examples
   * @param files pictures by the name that the ranking has for them
   * @param tell is called whenever the state changed
   */
  constructor(variables, files, tell) {
    Object.assign(this, { variables, files, tell, history: [], waiting: new Set(), error: null, sending: false });
  }

  /** Gives samples a label. */
  give(items, label) {
    const changes = items.map((item) => [item, item.label]);
    for (const item of items) this.#put(item, label);
    this.history.push(changes);
    this.#settle();
  }

  undo() {
    for (const [item, label] of this.history.pop() ?? []) this.#put(item, label);
    this.#settle();
  }

  get unsent() { return this.waiting.size; }

  /** Waits until the service knows everything that is shown. */
  async finish() { while (this.waiting.size) await new Promise((done) => setTimeout(done, 50)); }

  #put(item, label) {
    item.label = label;
    this.waiting.add(item);
  }

  /** Brings one sample after the other to the service as it is shown; what cannot be heard is said again. */
  async #settle() {
    this.tell();
    if (this.sending) return;
    this.sending = true;
    while (this.waiting.size) {
      const [item] = this.waiting;
      try {
        await this.#send(item, item.label);
        this.error = null;
      } catch (error) {
        this.error = error;
        if (error.status === 0 || error.status >= 500 || error.status === 409) {
          setTimeout(() => this.#settle(), AGAIN_MILLISECONDS);
          break;
        }
        item.label = item.known; // refused: it is shown as it is
      }
      if (item.label === item.known) this.waiting.delete(item); // otherwise somebody changed it meanwhile
      this.tell();
    }
    this.sending = false;
    this.tell();
  }

  async #send(item, label) {
    if (label === item.known) return;
    const place = { ...this.variables, example_id: item.exampleId };
    if (!label) {
      await call("removeExample", { variables: place });
      item.exampleId = undefined;
    } else if (item.exampleId) await call("changeExample", { variables: place, json: { labelId: label.id } });
    else item.exampleId = (await this.#add(item, label)).id;
    item.known = label;
  }

  #add(item, label) {
    const file = this.files?.get(item.id);
    if (!file) return call("addExample", { variables: this.variables, json: { document: item.text, labelId: label.id } });
    return call("addExample", { variables: this.variables, fields: { labelId: label.id }, file });
  }
}
