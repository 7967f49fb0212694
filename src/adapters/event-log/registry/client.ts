import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { GatewayError } from '#kernel/errors.ts';
import { retrying } from '#kernel/retry.ts';

/** How long one request may take. */
const answerTimeoutMs = 3_000;
const retryForMsDefault = 8_000;
const retryDelayMsFirst = 100;
const retryDelayMsMax = 2_000;

/**
 * A conflict is an incompatible schema or setting, or two nodes that set up the same subject at once: a retry by
 * the second succeeds.
 */
const conflictsMax = 5;

/** A registry that numbers versions without end is invalid. */
const versionsMax = 10_000;

type Middleware = NonNullable<ConstructorParameters<typeof SchemaRegistry>[0]['middlewares']>[0];

export interface Version {
  readonly id: number;
  /** JSON text, as registered. */
  readonly definition: string;
}

/**
 * Client of a Confluent-compatible registry. Requests that may succeed later are retried with growing pauses.
 * @throws GatewayError `registry_unavailable` from each of them
 */
export class RegistryClient {
  readonly #registry: SchemaRegistry;
  /** For messages: the URL without user and password. */
  readonly #address: string;
  /** Texts of the received schemas, by id; the client library keeps only parsed ones. */
  readonly #definitions = new Map<number, string>();

  readonly #retryForMs: number;

  /** @param retryForMs how long a request is retried before it fails */
  constructor(url: string, retryForMs = retryForMsDefault) {
    const { host, auth } = accessOf(url);
    this.#retryForMs = retryForMs;
    this.#address = host;
    this.#registry = new SchemaRegistry({
      host,
      ...(auth === null ? {} : { auth }),
      retry: { retries: 0 },
      middlewares: [withinTime, unsetCompatibility, this.#keepDefinitions()],
    });
  }

  /** Every version of the subject; none if the subject does not exist. */
  async versions(subject: string): Promise<readonly Version[]> {
    const latest = await this.#request(() => this.#registry.getLatestSchemaId(subject));
    const ids = new Set<number>();
    for (let number = 1; latest !== null && !ids.has(latest); number += 1) {
      if (number > versionsMax)
        throw this.#unavailable(`${subject} has more than ${versionsMax} versions`);
      const id = await this.#request(() => this.#registry.getRegistryId(subject, number));
      if (id !== null) ids.add(id);
    }
    const versions = await Promise.all(
      [...ids].map(async (id) => ({ id, definition: await this.definition(id) })),
    );
    return versions.filter((version): version is Version => version.definition !== null);
  }

  /** The text of the schema, or null when the registry does not know the id. */
  async definition(id: number): Promise<string | null> {
    if (!this.#definitions.has(id)) await this.#request(() => this.#registry.getSchema(id));
    return this.#definitions.get(id) ?? null;
  }

  /**
   * The id of the definition, with FULL_TRANSITIVE set on the subject.
   * @throws GatewayError `incompatible_schema`: the registry refuses it, or the subject has another compatibility
   */
  async register(subject: string, definition: string): Promise<number> {
    const schema = { type: SchemaType.AVRO as const, schema: definition };
    const options = { subject, compatibility: COMPATIBILITY.FULL_TRANSITIVE };
    const registered = await this.#request(() => this.#registry.register(schema, options), subject);
    if (registered !== null) return registered.id;
    throw this.#unavailable(`it has no endpoint to register ${subject}: check the path of its URL`);
  }

  /** The response; null for 404. */
  async #request<T>(question: () => Promise<T>, subject = ''): Promise<T | null> {
    try {
      return await retrying(question, {
        isRetryable: (error, attempts) =>
          statusOf(error) !== 404 &&
          // A conflict may be a race.
          ((isConflict(error) && attempts < conflictsMax) ||
            this.#refusal(error, subject) === null),
        firstMs: retryDelayMsFirst,
        lastMs: retryDelayMsMax,
        withinMs: this.#retryForMs,
      });
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw this.#refusal(error, subject) ?? this.#unavailable(reasonOf(error));
    }
  }

  /** Errors that a retry does not fix. */
  #refusal(error: unknown, subject: string): GatewayError | null {
    const status = statusOf(error);
    if (status === 401 || status === 403) {
      return this.#unavailable(`it answers ${status}: check the user and password of its URL`);
    }
    if (status === 409 || status === 422) {
      const message = `The schema registry refuses the schema of ${subject}: ${reasonOf(error)}. Every version must be able to read what every other version wrote.`;
      return new GatewayError('incompatible_schema', { message });
    }
    if (isOtherCompatibility(error)) {
      const message = `The subject ${subject} of the schema registry has another compatibility: ${reasonOf(error)}. Set it to FULL_TRANSITIVE there (PUT /config/${subject}), then start again.`;
      return new GatewayError('incompatible_schema', { message });
    }
    return null;
  }

  #unavailable(reason: string): GatewayError {
    const message = `The schema registry ${this.#address} cannot be used: ${reason}.`;
    return new GatewayError('registry_unavailable', { message, retryAfterS: 5 });
  }

  #keepDefinitions(): Middleware {
    return ({ resourceName }) => ({
      response: async (next) => {
        const response = await next();
        if (resourceName === 'Schema') {
          const { id } = response.request().params() as { id: number };
          this.#definitions.set(id, response.data<{ schema: string }>().schema);
        }
        return response;
      },
    });
  }
}

/** The library's own timeout detects a silent connection, but not one that ends in the middle of a response. */
const withinTime: Middleware = () => ({
  prepareRequest: async (next) => (await next()).enhance({ timeout: answerTimeoutMs }),
  response: async (next) => {
    const late = Promise.withResolvers<never>();
    const error = new Error(`no complete response within ${answerTimeoutMs} ms`);
    const timer = setTimeout(() => late.reject(error), answerTimeoutMs);
    try {
      return await Promise.race([next(), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  },
});

/**
 * The response for a subject without a compatibility is 404, or NONE: a process may have died after its first
 * schema. The client library sets the compatibility only after a 404.
 */
const unsetCompatibility: Middleware = ({ resourceName, resourceMethod }) => ({
  response: async (next) => {
    const response = await next();
    if (resourceName !== 'Subject' || resourceMethod !== 'config') return response;
    const { compatibilityLevel } = response.data<{ compatibilityLevel?: string }>();
    if (compatibilityLevel !== 'NONE') return response;
    throw Object.assign(new Error('The compatibility is not set.'), { status: 404 });
  },
});

function accessOf(url: string) {
  const { protocol, host, pathname, username, password } = new URL(url);
  const credentials = {
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
  };
  return {
    host: `${protocol}//${host}${pathname.replace(/\/$/, '')}`,
    auth: username === '' && password === '' ? null : credentials,
  };
}

const statusOf = (error: unknown): unknown => (error as { status?: unknown } | null)?.status;

/** The client library compares the setting of an existing subject. */
const isOtherCompatibility = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Compatibility does not match');

const isConflict = (error: unknown): boolean =>
  statusOf(error) === 409 || isOtherCompatibility(error);

const reasonOf = (error: unknown): string =>
  error instanceof Error
    ? error.message.replace(/^Confluent_Schema_Registry - /, '')
    : String(error);
