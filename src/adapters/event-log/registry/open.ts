import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import { overridden } from '#kernel/overridden.ts';
import { retrying } from '#kernel/retry.ts';
import type { Batch, EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import { openSchemas, schemaIdOf, type Registry } from '../avro-codec.ts';
import { Names } from '../kafka/names.ts';
import { mustBeCompatible } from '../schema-compatibility.ts';
import { RegistryClient } from './client.ts';

export interface RegistrySchemasOptions {
  /** Of a Confluent-compatible registry, with its path, and user and password if required. */
  readonly url: string;
  /** Replaces the first part `svc` of a topic's name in subjects. */
  readonly prefix: string;
  readonly logger?: Logger;
  /** Folder of the Avro files. Default: those of this package. */
  readonly schemasFolder?: URL;
  /** How long temporary failures are retried. Default 8 s. */
  readonly retryForMs?: number;
}

export interface RegistrySchemas extends Schemas {
  /**
   * Resolves when every schema for decoding these values is loaded; free if they are already.
   * @throws GatewayError `registry_unavailable`: a schema is unknown here, and the registry is away. Decoding the
   *   value would throw the same.
   */
  load(values: Iterable<Uint8Array | null>): Promise<void>;
}

/**
 * Schemas with their ids from a registry. Encoding and decoding send no request: a codec is opened with every
 * version of its subject, and `load` fetches later ones.
 */
export function openRegistrySchemas(options: RegistrySchemasOptions): RegistrySchemas {
  const existing = new KnownSchemas(new RegistryClient(options.url, options.retryForMs), options);
  const registry: Registry = {
    register: (subject, definition) => existing.register(subject, definition),
    definition: (id) => existing.definition(id),
  };
  return {
    ...openSchemas(registry, options.schemasFolder),
    load: (values) => existing.load(values),
  };
}

class KnownSchemas {
  readonly #client: RegistryClient;
  readonly #names: Names;
  readonly #logger: Logger | undefined;
  /** By id; null if the registry does not know it. */
  readonly #definitions = new Map<number, string | null>();
  readonly #loading = new Map<number, Promise<void>>();

  constructor(client: RegistryClient, { prefix, logger }: RegistrySchemasOptions) {
    this.#client = client;
    this.#names = new Names(prefix);
    this.#logger = logger;
  }

  /** @throws GatewayError `incompatible_schema`, `registry_unavailable` */
  async register(subject: string, definition: string): Promise<number> {
    const name = this.#names.inKafka(subject);
    const versions = await this.#client.versions(name);
    for (const version of versions) this.#definitions.set(version.id, version.definition);
    // Stricter than registries, which allow bytes to be read as text.
    const earlier = versions.map((version) => version.definition);
    mustBeCompatible(name, definition, earlier);
    const id = await this.#client.register(name, definition);
    this.#definitions.set(id, definition);
    this.#logger?.debug({ subject: name, id, versions: versions.length }, 'schema registered');
    return id;
  }

  /** Null if the registry does not know it. @throws GatewayError `registry_unavailable` if it was not requested yet */
  definition(id: number): string | null {
    const definition = this.#definitions.get(id);
    if (definition !== undefined) return definition;
    // Available for the next attempt.
    this.#fetch(id).catch((error: unknown) => {
      this.#logger?.warn({ err: error, id }, 'schema not loaded');
    });
    const message = `The schema with the id ${id} is not loaded yet.`;
    throw new GatewayError('registry_unavailable', { message, retryAfterS: 1 });
  }

  async load(values: Iterable<Uint8Array | null>): Promise<void> {
    const missing = new Set<number>();
    let former = -1;
    for (const value of values) {
      const id = value === null ? null : schemaIdOf(value);
      if (id === null || id === former) continue;
      former = id;
      if ((this.#definitions.get(id) ?? null) === null) missing.add(id);
    }
    if (missing.size > 0) await Promise.all([...missing].map((id) => this.#fetch(id)));
  }

  /** Concurrent callers share one request. */
  #fetch(id: number): Promise<void> {
    let loading = this.#loading.get(id);
    if (loading === undefined) {
      loading = this.#client
        .definition(id)
        .then((definition) => void this.#definitions.set(id, definition))
        .finally(() => this.#loading.delete(id));
      this.#loading.set(id, loading);
    }
    return loading;
  }
}

/** Between two loads, each of which has retried for some seconds unless the registry refused. */
const pauseMs = 1_000;

/**
 * The log, which returns messages only when their schemas are loaded: one that a newer process registered is
 * fetched first. While the registry is away, followers wait and a read fails with `registry_unavailable`, so that
 * no message is mistaken for an unreadable one.
 */
export function readWithSchemas(
  log: EventLog,
  schemas: Pick<RegistrySchemas, 'load'>,
  logger?: Logger,
): EventLog {
  const load = ({ messages }: Batch) => schemas.load(messages.map(({ value }) => value));

  /** Retries until it succeeds, or the signal aborts. */
  const loadPatiently = (batch: Batch, signal: AbortSignal): Promise<void> => {
    const { topic, partition } = batch;
    return retrying(() => load(batch), {
      signal,
      isRetryable: (error) =>
        error instanceof GatewayError && error.code === 'registry_unavailable',
      failed: (err) => logger?.warn({ err, topic, partition }, 'waiting for the schema registry'),
      firstMs: pauseMs,
      lastMs: pauseMs,
    });
  };

  return overridden(log, {
    async *follow(from, options) {
      const { signal } = options;
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      for await (const batch of log.follow(from, options)) {
        await Promise.race([loadPatiently(batch, signal), aborted]);
        if (signal.aborted) return;
        yield batch;
      }
    },
    async *read(from, options) {
      for await (const batch of log.read(from, options)) {
        await load(batch);
        yield batch;
      }
    },
  });
}
