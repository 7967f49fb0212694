import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';

export const isForm = (contentType: string): boolean =>
  contentType.startsWith('application/x-www-form-urlencoded');

/**
 * The body of a call (docs/reference/functions.md#bodies): objects and lists become JSON, or a form where the header
 * says so; text and bytes are sent unchanged. `injected` is merged into objects. Sets `content-type` where the caller
 * set none.
 */
export function encodeBody(
  data: unknown,
  injected: JsonObject | undefined,
  headers: Record<string, string>,
): string | Uint8Array | undefined {
  if (data === undefined || data === null) {
    return injected ? encodeObject({ ...injected }, headers) : undefined;
  }
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  if (data instanceof URLSearchParams) {
    headers['content-type'] ??= 'application/x-www-form-urlencoded';
    return [formText(injected ?? {}), data.toString()].filter((text) => text !== '').join('&');
  }
  if (isJsonObject(data)) {
    return encodeObject({ ...injected, ...data }, headers);
  }
  if (typeof data === 'string') {
    headers['content-type'] ??= 'application/x-www-form-urlencoded';
    return data;
  }
  headers['content-type'] ??= 'application/json';
  return JSON.stringify(data);
}

function encodeObject(
  fields: Readonly<Record<string, unknown>>,
  headers: Record<string, string>,
): string | Uint8Array {
  const type = headers['content-type'] ?? '';
  if (isForm(type)) return formText(fields);
  if (type.startsWith('multipart/form-data')) return multipart(fields, headers);
  headers['content-type'] ??= 'application/json';
  return JSON.stringify(fields);
}

function formText(fields: Readonly<Record<string, unknown>>): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    const key = Array.isArray(value) ? `${name}[]` : name;
    for (const item of items) if (item !== undefined) form.append(key, plainText(item));
  }
  return form.toString();
}

/** One part per key, with a generated boundary: that of the caller's header would not match the bytes. */
function multipart(
  fields: Readonly<Record<string, unknown>>,
  headers: Record<string, string>,
): Buffer {
  const boundary = `svc-${randomUUID()}`;
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => {
      const safeName = name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
      const isBytes = value instanceof Uint8Array;
      const file = isBytes
        ? `; filename="${safeName}"\r\nContent-Type: application/octet-stream`
        : '';
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${safeName}"${file}\r\n\r\n`;
      return [
        Buffer.from(head),
        isBytes ? value : Buffer.from(plainText(value)),
        Buffer.from('\r\n'),
      ];
    });
  headers['content-type'] = `multipart/form-data; boundary=${boundary}`;
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

function plainText(value: unknown): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Date) return value.toISOString();
  return JSON.stringify(value);
}
