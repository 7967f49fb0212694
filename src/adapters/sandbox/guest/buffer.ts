import { Buffer } from 'buffer/index.js';
import { toText, utf8Decode, utf8Encode, utf8Length } from './text.ts';

/**
 * Node's `Buffer` over memory of the isolate, by the package of the same name. What it lacks is added here: the name
 * `base64url`, whose text it reads as `base64` already, and UTF-8 without a list of numbers, decoded as Node does.
 */
const from = Buffer.from.bind(Buffer);
const byteLength = Buffer.byteLength.bind(Buffer);
const isEncoding = Buffer.isEncoding.bind(Buffer);
// oxlint-disable-next-line typescript/unbound-method -- called with its buffer below
const { toString } = Buffer.prototype;
const encoders = ['write', 'fill', 'indexOf', 'lastIndexOf', 'includes'] as const;

const isUtf8 = (name: unknown): boolean => name === undefined || /^utf-?8$/i.test(toText(name));
const isUrl = (name: unknown): boolean => toText(name).toLowerCase() === 'base64url';
const readable = <T>(name: T): T | 'base64' => (isUrl(name) ? 'base64' : name);

Object.assign(Buffer, {
  from(value: unknown, encodingOrOffset?: unknown, length?: unknown): Buffer {
    if (typeof value === 'string' && isUtf8(encodingOrOffset)) {
      const { buffer, byteOffset, length: size } = utf8Encode(value);
      return from(buffer, byteOffset, size);
    }
    return from(value as never, readable(encodingOrOffset) as never, length as never);
  },
  byteLength: (value: unknown, encoding?: string): number =>
    typeof value === 'string' && isUtf8(encoding)
      ? utf8Length(value)
      : byteLength(value as never, readable(encoding)),
  isEncoding: (name: string): boolean => isUrl(name) || isEncoding(name),
});

Object.assign(Buffer.prototype, {
  toString(this: Buffer, encoding?: string, start?: number, end?: number): string {
    if (isUtf8(encoding)) return utf8Decode(this.subarray(start, end));
    const text = toString.call(this, readable(encoding), start, end);
    if (!isUrl(encoding)) return text;
    return text
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/={1,2}$/, '');
  },
});

for (const name of encoders) {
  const method = Buffer.prototype[name] as (this: Buffer, ...args: unknown[]) => unknown;
  Object.assign(Buffer.prototype, {
    [name](this: Buffer, first: unknown, ...rest: unknown[]): unknown {
      return method.call(this, first, ...rest.map(readable));
    },
  });
}

export { Buffer };
