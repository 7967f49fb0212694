import { GatewayError } from '#kernel/errors.ts';
import { parseWrittenJson } from '#kernel/exact-json.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { Schemas } from '#ports/schemas.ts';
import type { DeadLetterValue } from '#streams/dead-letters/events.ts';

/** The message of a dead letter, without secrets. */
export interface ShownMessage {
  readonly key: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  /** The value decoded by its schema; null for a tombstone or an unreadable value. */
  readonly value: Json;
  readonly unreadable: string | null;
}

const listMax = 20;
/** `v1.<key id>.<ciphertext>` (credentials/open-vault.ts). */
const sealedText = /^v\d+\.[\w-]+\.[\w-]{20,}$/;

/**
 * Decodes the message by the schema of its topic. Bytes (payloads, bodies) and sealed texts are replaced by their size:
 * a dead letter may be of an internal topic.
 */
export async function shownMessage(
  schemas: Schemas,
  topic: string,
  { key, value, headers }: DeadLetterValue,
): Promise<ShownMessage> {
  const texts = Object.entries(headers).map(([name, bytes]) => [
    name,
    Buffer.from(bytes).toString(),
  ]);
  const frame = {
    key: key === null ? null : Buffer.from(key).toString(),
    headers: Object.fromEntries(texts) as Record<string, string>,
    bytes: value?.length ?? 0,
  };
  if (value === null) return { ...frame, value: null, unreadable: null };
  try {
    const codec = await schemas.codec<unknown>(topic);
    return { ...frame, value: withoutContent(codec.decode(value)), unreadable: null };
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'log_unavailable') throw error;
    const unreadable = `The value does not fit the schema of ${topic}.`;
    return { ...frame, value: null, unreadable };
  }
}

function withoutContent(value: unknown): Json {
  if (value instanceof Uint8Array) return { bytes: value.length };
  if (Array.isArray(value)) {
    const shown = value.slice(0, listMax).map(withoutContent);
    return value.length > listMax ? [...shown, `… ${value.length - listMax} more`] : shown;
  }
  if (typeof value === 'string') return shownText(value);
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, item]) => [name, withoutContent(item)]);
    return Object.fromEntries(fields) as Json;
  }
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** Strings that contain JSON are parsed, because they may contain sealed values. */
function shownText(text: string): Json {
  if (sealedText.test(text)) return '[sealed]';
  if (!text.startsWith('{') && !text.startsWith('[')) return text;
  try {
    const inner = parseWrittenJson(text) as Json;
    return isJsonObject(inner) || Array.isArray(inner) ? withoutContent(inner) : text;
  } catch {
    return text;
  }
}
