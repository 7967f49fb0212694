import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Schemas } from '#ports/schemas.ts';
import { topics, type TopicName } from '#streams/topics.ts';

/** A registry that has no schema yet. */
export interface EmptyRegistry extends AsyncDisposable {
  /** Another client; `folder` has the Avro files that it registers. */
  open(folder: URL): Promise<Schemas>;
  /** What comes before bytes are handed out by the log that the client belongs to. */
  arrive(client: Schemas, bytes: Uint8Array): Promise<void>;
}

export interface SchemasHarness {
  begin(): Promise<EmptyRegistry>;
}

interface Field {
  readonly name: string;
  readonly type: unknown;
  readonly default?: unknown;
}

const text: Field = { name: 'text', type: 'string' };
const number: Field = { name: 'number', type: 'long' };
const micros = { type: 'long', logicalType: 'timestamp-micros' };
const note: Field = { name: 'note', type: ['null', 'string'], default: null };

/** The promises of `src/ports/schemas.ts`; every adapter passes the same. */
export function schemasContract(name: string, harness: SchemasHarness): void {
  const topic: TopicName = 'svc.runs.v1';

  /** A folder whose schema of the topic has these fields. */
  async function folderWith(...fields: Field[]): Promise<AsyncDisposable & { url: URL }> {
    const path = await mkdtemp(join(tmpdir(), 'svc-schemas-'));
    for (const one of [topic, 'svc.logs.v1'] as const) {
      const file = join(path, topics[one].schema);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, JSON.stringify({ type: 'record', name: 'Value', fields }));
    }
    const url = pathToFileURL(`${path}/`);
    return { url, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
  }

  describe(`Schemas contract: ${name}`, () => {
    it('gives back what was encoded, in registry framing', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith(text, number, note);
      const codec = await (await registry.open(folder.url)).codec(topic);
      const bytes = codec.encode({ text: 'ü', number: 7, note: null });
      expect(bytes[0]).toBe(0);
      expect(bytes.readUInt32BE(1)).toBeGreaterThan(0);
      expect(bytes.subarray(5).toString('hex')).toBe('04c3bc0e00');
      expect(codec.decode(bytes)).toMatchObject({ text: 'ü', number: 7, note: null });
    });

    it('decodes a value of any topic as it was written', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith(text, number, note);
      const schemas = await registry.open(folder.url);
      const codec = await schemas.codec(topic);
      const bytes = codec.encode({ text: 'ü', number: 7, note: null });
      expect(schemas.decodeWritten(bytes)).toMatchObject({
        schemaId: codec.schemaId,
        value: { text: 'ü', number: 7, note: null },
      });
      expect(() => schemas.decodeWritten(bytes.subarray(0, 7))).toThrow();
      expect(() => schemas.decodeWritten(Buffer.from('text'))).toThrow('framing');
    });

    it('decodes bytes that lie within others', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith(text, number);
      const codec = await (await registry.open(folder.url)).codec(topic);
      const bytes = codec.encode({ text: 'a', number: 1 });
      const padded = new Uint8Array(bytes.length + 20);
      padded.set(bytes, 7);
      expect(codec.decode(padded.subarray(7, 7 + bytes.length))).toMatchObject({ text: 'a' });
    });

    it('keeps microseconds exact, as plain numbers', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith({ name: 'at', type: micros });
      const codec = await (await registry.open(folder.url)).codec<{ at: number }>(topic);
      for (const at of [0, 1_790_000_000_123_457, Number.MAX_SAFE_INTEGER - 1]) {
        expect(codec.decode(codec.encode({ at })).at).toBe(at);
      }
    });

    it('encodes values of any size, one after the other', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith(text);
      const codec = await (await registry.open(folder.url)).codec<{ text: string }>(topic);
      const values = [1, 100_000, 10, 5_000_000, 3].map((size) => ({ text: 'x'.repeat(size) }));
      const encoded = values.map((value) => codec.encode(value));
      expect(encoded.map((bytes) => codec.decode(bytes).text.length)).toEqual(
        values.map((value) => value.text.length),
      );
    });

    it('refuses a value that does not fit, and takes the next', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith(text);
      const codec = await (await registry.open(folder.url)).codec<unknown>(topic);
      expect(() => codec.encode({ text: 7 })).toThrow();
      expect(codec.decode(codec.encode({ text: 'a' }))).toMatchObject({ text: 'a' });
    });

    it('gives the same schema the same id, to every client', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith(text);
      const encoded = await Promise.all(
        [1, 2, 3].map(async () => {
          const codec = await (await registry.open(folder.url)).codec(topic);
          return codec.encode({ text: 'a' }).toString('hex');
        }),
      );
      expect(new Set(encoded).size).toBe(1);
    });

    it('reads earlier and later versions, each with its own fields', async () => {
      await using registry = await harness.begin();
      await using older = await folderWith(text);
      await using newer = await folderWith(text, note);
      const olderClient = await registry.open(older.url);
      const before = await olderClient.codec(topic);
      const after = await (await registry.open(newer.url)).codec(topic);
      const early = before.encode({ text: 'early' });
      const late = after.encode({ text: 'late', note: 'n' });
      expect({ ...(after.decode(early) as object) }).toEqual({ text: 'early', note: null });
      await registry.arrive(olderClient, late);
      expect({ ...(before.decode(late) as object) }).toEqual({ text: 'late' });
    });

    it('refuses a version that breaks any earlier one, and goes on with the former', async () => {
      await using registry = await harness.begin();
      await using first = await folderWith(text);
      await using second = await folderWith(text, note);
      // Compatible with the second version, not with the first.
      await using third = await folderWith({ ...text, type: 'bytes' }, note);
      await using fourth = await folderWith(text, { name: 'needed', type: 'string' });
      const codec = await (await registry.open(first.url)).codec(topic);
      await (await registry.open(second.url)).codec(topic);
      for (const { url } of [third, fourth]) {
        const refused = (await registry.open(url)).codec(topic);
        await expect(refused).rejects.toMatchObject({ code: 'incompatible_schema' });
      }
      expect(codec.decode(codec.encode({ text: 'a' }))).toMatchObject({ text: 'a' });
    });

    it('keeps subjects apart', async () => {
      await using registry = await harness.begin();
      await using one = await folderWith(text);
      await using other = await folderWith(number);
      await (await registry.open(one.url)).codec(topic);
      const codec = await (await registry.open(other.url)).codec('svc.logs.v1');
      expect(codec.decode(codec.encode({ number: 1 }))).toMatchObject({ number: 1 });
    });

    it('refuses bytes without framing, and ids that nobody registered', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith(text);
      const client = await registry.open(folder.url);
      const codec = await client.codec(topic);
      const unknown = codec.encode({ text: 'a' });
      unknown.writeUInt32BE(999_999, 1);
      for (const bytes of [Buffer.from('{}'), Buffer.from([0, 0]), Buffer.alloc(0), unknown]) {
        await registry.arrive(client, bytes);
        expect(() => codec.decode(bytes)).toThrow(
          expect.objectContaining({ code: 'log_corrupt' }) as Error,
        );
      }
    });

    it('keeps topics that are made at run time, as compatible as the others', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith(text);
      const schemas = await registry.open(folder.url);
      const made = 'svc.cdc.dev.crm.contact.v1';
      const record = (...fields: Field[]) => ({ type: 'record', name: 'Value', fields });
      const older = await schemas.codecOf<object>(made, record(text));
      const newer = await schemas.codecOf<object>(made, record(text, note));
      const bytes = older.encode({ text: 'a' });
      expect(newer.decode(bytes)).toMatchObject({ text: 'a', note: null });
      expect(older.decode(newer.encode({ text: 'b', note: 'c' }))).toMatchObject({ text: 'b' });
      const again = await (await registry.open(folder.url)).codecOf<object>(made, record(text));
      expect(again.encode({ text: 'a' })).toEqual(bytes);
      for (const refused of [
        record({ ...text, type: 'long' }),
        record(text, number),
        { type: 'x' },
      ]) {
        await expect(schemas.codecOf(made, refused)).rejects.toMatchObject({
          code: 'incompatible_schema',
        });
      }
      const other = await schemas.codecOf<object>('svc.cdc.dev.crm.contact.v2', record(number));
      expect(other.decode(other.encode({ number: 7 }))).toMatchObject({ number: 7 });
    });

    it('knows no schema of a topic that the catalog does not name', async () => {
      await using registry = await harness.begin();
      await using folder = await folderWith(text);
      const refused = (await registry.open(folder.url)).codec('svc.nothing.v1');
      await expect(refused).rejects.toMatchObject({ code: 'unknown_topic' });
    });
  });
}
