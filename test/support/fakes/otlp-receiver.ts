import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it came over OTLP. Ids are hexadecimal; the parent of a root is empty. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly isFailed: boolean;
  readonly attributes: Attributes;
  /** Of the process and thread. */
  readonly resource: Attributes;
}

type Attributes = Readonly<Record<string, unknown>>;

/** The spans of one trace, with their places in its tree. */
export interface ReceivedTrace {
  readonly spans: readonly ReceivedSpan[];
  /** The names from the root to the span, joined by ` > `. */
  readonly pathOf: (span: ReceivedSpan) => string;
  /** Parents that are not in the trace: of a complete one the caller's span alone, once for each root. */
  readonly outerParents: readonly string[];
}

/** The trace that the `traceparent` of its caller names. */
export function traceOf(all: readonly ReceivedSpan[], traceparent: string): ReceivedTrace {
  const spans = all.filter(({ traceId }) => traceId === traceparent.slice(3, 35));
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const pathOf = (span: ReceivedSpan): string => {
    const parent = byId.get(span.parentId);
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`;
  };
  const roots = spans.filter(({ parentId }) => !byId.has(parentId));
  return { spans, pathOf, outerParents: roots.map(({ parentId }) => parentId) };
}

/** The span's id in a `traceparent`. */
export const spanIdOf = (traceparent: string): string => traceparent.slice(36, 52);

export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that was received, undecoded. */
  readonly bytes: readonly Buffer[];
}

/** A collector that accepts protobuf over HTTP at `/v1/traces`. */
export async function openOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bytes: Buffer[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const body = Buffer.concat(chunks);
      const isFit =
        request.url === '/v1/traces' &&
        request.headers['content-type'] === 'application/x-protobuf';
      if (isFit) {
        bytes.push(body);
        spans.push(...spansOf(body));
      }
      response.writeHead(isFit ? 200 : 400, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bytes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A message of protobuf: the values of each field, by its number. */
class Message {
  readonly #fields = new Map<number, (bigint | Buffer)[]>();

  constructor(bytes: Buffer) {
    for (let at = 0; at < bytes.length;) {
      const tag = varint(bytes, at);
      at = tag.next;
      const wire = Number(tag.value & 7n);
      const { value, next } = valueOf(bytes, at, wire);
      at = next;
      const field = Number(tag.value >> 3n);
      this.#fields.set(field, [...(this.#fields.get(field) ?? []), value]);
    }
  }

  messages(field: number): Message[] {
    return this.#buffers(field).map((bytes) => new Message(bytes));
  }

  text(field: number): string {
    return this.#buffers(field)[0]?.toString() ?? '';
  }

  hex(field: number): string {
    return this.#buffers(field)[0]?.toString('hex') ?? '';
  }

  number(field: number): bigint | undefined {
    return this.#fields.get(field)?.find((value) => typeof value === 'bigint');
  }

  has(field: number): boolean {
    return this.#fields.has(field);
  }

  #buffers(field: number): Buffer[] {
    return (this.#fields.get(field) ?? []).filter((value) => typeof value !== 'bigint');
  }
}

function valueOf(
  bytes: Buffer,
  at: number,
  wire: number,
): { readonly value: bigint | Buffer; readonly next: number } {
  switch (wire) {
    case 0:
      return varint(bytes, at);
    case 1:
      return { value: bytes.readBigUInt64LE(at), next: at + 8 };
    case 2: {
      const { value, next } = varint(bytes, at);
      const end = next + Number(value);
      return { value: bytes.subarray(next, end), next: end };
    }
    case 5:
      return { value: BigInt(bytes.readUInt32LE(at)), next: at + 4 };
    default:
      throw new Error(`no wire type ${wire}`);
  }
}

function varint(bytes: Buffer, from: number): { readonly value: bigint; readonly next: number } {
  let value = 0n;
  for (let at = from, shift = 0n; ; at += 1, shift += 7n) {
    const byte = bytes.readUInt8(at);
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return { value, next: at + 1 };
  }
}

/** The numbers are those of the fields in opentelemetry/proto/trace/v1/trace.proto, version 1. */
const spansOf = (request: Buffer): ReceivedSpan[] =>
  new Message(request).messages(1).flatMap((resourceSpans) => {
    const resource = attributesOf(resourceSpans.messages(1)[0], 1);
    return resourceSpans
      .messages(2)
      .flatMap((scopeSpans) => scopeSpans.messages(2))
      .map((span) => ({
        traceId: span.hex(1),
        spanId: span.hex(2),
        parentId: span.hex(4),
        name: span.text(5),
        kind: Number(span.number(6) ?? 0n),
        startNs: span.number(7) ?? 0n,
        endNs: span.number(8) ?? 0n,
        attributes: attributesOf(span, 9),
        isFailed: span.messages(15)[0]?.number(3) === 2n,
        resource,
      }));
  });

const attributesOf = (message: Message | undefined, field: number): Attributes =>
  Object.fromEntries(
    (message?.messages(field) ?? []).map((pair) => [pair.text(1), anyOf(pair.messages(2)[0])]),
  );

function anyOf(value: Message | undefined): unknown {
  if (value === undefined) return null;
  if (value.has(5)) return value.messages(5)[0]?.messages(1).map(anyOf) ?? [];
  if (value.has(2)) return value.number(2) === 1n;
  if (value.has(3)) return Number(value.number(3));
  return value.text(1);
}
