import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import type { Json } from '#kernel/stable-json.ts';
import { recordsTopic } from '#modules/records/model/stream-head.ts';
import type { ReadMessage } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';

/** The value of a message for people. */
export interface MessageContent {
  readonly kind: 'value' | 'tombstone' | 'unreadable';
  /** Of the value as it was written; null without one. */
  readonly schemaId: number | null;
  readonly value: Json;
  /** Why the value cannot be read. */
  readonly error: string | null;
}

/**
 * Decodes a value as it was written. Bytes are shown by their size, because they are sealed or belong to another
 * message, except for the payload of a record in the clear.
 * @throws GatewayError `registry_unavailable`: a schema cannot be loaded now
 */
export function contentOf(
  schemas: Pick<Schemas, 'decodeWritten'>,
  topic: string,
  { value }: Pick<ReadMessage, 'value'>,
): MessageContent {
  if (value === null) return { kind: 'tombstone', schemaId: null, value: null, error: null };
  try {
    const written = schemas.decodeWritten(value);
    const shown = shownValue(written.value);
    const isRecord = topic === recordsTopic;
    const withPayload = isRecord ? withClearPayload(written.value, shown) : shown;
    return { kind: 'value', schemaId: written.schemaId, value: withPayload, error: null };
  } catch (error) {
    if (error instanceof GatewayError && error.code !== 'log_corrupt') throw error;
    return { kind: 'unreadable', schemaId: null, value: null, error: reasonOf(error) };
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof GatewayError
    ? error.message
    : 'The value does not fit the schema that it names.';

function shownValue(value: unknown): Json {
  if (value instanceof Uint8Array) return { bytes: value.length };
  if (Array.isArray(value)) return value.map(shownValue);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shownValue(one)]));
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** Sealed payloads stay sealed: the account has no access to the data keys of connections. */
function withClearPayload(written: unknown, shown: Json): Json {
  if (typeof written !== 'object' || written === null || !isFields(shown)) return shown;
  const { payload, payload_encoding: encoding } = written as Readonly<Record<string, unknown>>;
  if (!(payload instanceof Uint8Array) || encoding !== 'json') return shown;
  try {
    return { ...shown, payload: parseRawJson(Buffer.from(payload).toString()) as Json };
  } catch {
    return shown;
  }
}

const isFields = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
