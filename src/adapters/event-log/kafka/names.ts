/** The first part of names at the port; its Kafka counterpart is configured. */
const ownPrefix = 'svc.';

/**
 * Names of topics, groups and writers at the port, and in Kafka. `svc.records.v1` becomes `<prefix>.records.v1`; a
 * name of another form becomes `<prefix>-<name>`, so that names never collide.
 */
export class Names {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  inKafka(name: string): string {
    if (name.startsWith(ownPrefix)) return `${this.#prefix}.${name.slice(ownPrefix.length)}`;
    return `${this.#prefix}-${name}`;
  }
}
