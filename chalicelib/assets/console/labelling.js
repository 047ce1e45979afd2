// Labels unlabelled samples: each becomes an example of the dataset in the background, and can be undone.

import { call } from "./api.js";

const RETRY_MILLISECONDS = 2_000;

export class Labelling {
  /**
   * @param variables family and id of the dataset that gets the examples
   * @param files images by their name in the ranking
   * @param notify called after every change of state
   */
  constructor(variables, files, notify) {
    Object.assign(this, {
      variables,
      files,
      notify,
      history: [],
      waiting: new Set(),
      error: null,
      sending: false,
    });
  }

  /** Label samples. */
  assign(items, label) {
    const changes = items.map((item) => [item, item.label]);
    for (const item of items) this.#set(item, label);
    this.history.push(changes);
    this.#sync();
  }

  undo() {
    for (const [item, label] of this.history.pop() ?? []) this.#set(item, label);
    this.#sync();
  }

  get unsent() {
    return this.waiting.size;
  }

  /** Wait until every label is saved. */
  async finish() {
    while (this.waiting.size) await new Promise((done) => setTimeout(done, 50));
  }

  #set(item, label) {
    item.label = label;
    this.waiting.add(item);
  }

  /** Save the pending samples one after the other; calls that may not have arrived are retried. */
  async #sync() {
    this.notify();
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
          setTimeout(() => this.#sync(), RETRY_MILLISECONDS);
          break;
        }
        item.label = item.savedLabel; // refused: show what is stored
      }
      if (item.label === item.savedLabel) this.waiting.delete(item); // otherwise its label changed meanwhile
      this.notify();
    }
    this.sending = false;
    this.notify();
  }

  async #send(item, label) {
    if (label === item.savedLabel) return;
    const place = { ...this.variables, example_id: item.exampleId };
    if (!label) {
      await call("removeExample", { variables: place });
      item.exampleId = undefined;
    } else if (item.exampleId) await call("changeExample", { variables: place, json: { labelId: label.id } });
    else item.exampleId = (await this.#add(item, label)).id;
    item.savedLabel = label;
  }

  #add(item, label) {
    const file = this.files?.get(item.id);
    if (!file)
      return call("addExample", {
        variables: this.variables,
        json: { document: item.text, labelId: label.id },
      });
    return call("addExample", { variables: this.variables, fields: { labelId: label.id }, file });
  }
}
