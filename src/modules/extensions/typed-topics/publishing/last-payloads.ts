import type { RecordChange } from '#modules/records/model/events.ts';

/**
 * The last payload of each record of the models whose updates have the row as it was; of one partition, in memory. It is
 * rebuilt from the records topic, which keeps the last change of every record.
 */
export class LastPayloads {
  /** By the id of the opt-in, then by the key of the record. */
  readonly #models = new Map<string, Map<string, Uint8Array>>();

  has(optIn: string): boolean {
    return this.#models.has(optIn);
  }

  /** Begins a model without payloads. */
  add(optIn: string): void {
    this.#models.set(optIn, new Map());
  }

  keepOnly(optIns: ReadonlySet<string>): void {
    for (const optIn of this.#models.keys()) if (!optIns.has(optIn)) this.#models.delete(optIn);
  }

  get(optIn: string, key: string): Uint8Array | null {
    return this.#models.get(optIn)?.get(key) ?? null;
  }

  /** Takes the payload after the change. */
  apply(optIn: string, key: string, change: RecordChange): void {
    const payloads = this.#models.get(optIn);
    if (payloads === undefined) return;
    const { action, payload, payload_encoding: encoding } = change;
    // Copied: a payload shares the memory of its whole batch.
    if (action === 'deleted' || payload === null || encoding !== 'json') payloads.delete(key);
    else payloads.set(key, Uint8Array.from(payload));
  }
}
