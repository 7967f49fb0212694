import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AvroCodec, schemaText } from '#adapters/event-log/avro-codec.ts';
import { checkSchemas } from '#adapters/event-log/schema-compatibility.ts';
import { topics } from '#streams/topics.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';
import {
  folders,
  fromJson,
  fullOf,
  goldenFile,
  isSameSchema,
  leastOf,
  readGolden,
  readType,
  releasedPath,
  releasedSchema,
  releasesOf,
  todaysSchema,
  toJson,
  topicNames,
  type Golden,
} from './golden.ts';
import { release } from './release.ts';

const frameBytes = 5;
const releases = topicNames.flatMap((topic) =>
  releasesOf(topic).map((version) => [topic, version] as const),
);

describe.each(topicNames)('%s today', (topic) => {
  const newest = releasesOf(topic).at(-1);

  it('has the schema of its newest release: run `npm run schemas:release`', () => {
    expect(newest).toBeDefined();
    expect(isSameSchema(releasedSchema(topic, newest!), todaysSchema(topic))).toBe(true);
  });

  it('encodes the golden events to exactly their bytes, and decodes them again', () => {
    const codec = new AvroCodec<unknown>(schemaText(topic), 7, () => null);
    const { events } = readGolden(topic, newest!);
    expect(events.map(({ name }) => name)).toEqual(['full', 'least']);
    for (const { value, encoded } of events) {
      const bytes = codec.encode(fromJson(value));
      expect(bytes.subarray(frameBytes).toString('hex')).toBe(encoded);
      expect(toJson(codec.decode(bytes))).toEqual(value);
    }
  });

  it('has golden events with a value of each field, and with as few as may be', () => {
    const [full, least] = readGolden(topic, newest!).events;
    const schema = JSON.parse(todaysSchema(topic)) as Parameters<typeof leastOf>[1];
    const today = fullOf(topic);
    expect(full?.value).toEqual(toJson(today));
    expect(least?.value).toEqual(toJson(leastOf(today, schema)));
  });
});

describe('events of every release', () => {
  it('are there for each released schema, and for nothing else', () => {
    const golden = globSync('**/*.json', { cwd: fileURLToPath(folders.events) });
    expect(golden.sort()).toEqual(releases.map((one) => `${one.join('/')}.json`).sort());
    const schemas = globSync('**/*.avsc', { cwd: new URL('released/', folders.schemas) });
    expect(schemas.sort()).toEqual(releases.map((one) => releasedPath(...one)).sort());
  });

  it.each(releases)('%s of %s can be read today', (topic, version) => {
    const written = releasedSchema(topic, version);
    const codec = new AvroCodec<unknown>(schemaText(topic), 8, () => written);
    const today = JSON.parse(todaysSchema(topic)) as { fields: { name: string }[] };
    const known = new Set(today.fields.map(({ name }) => name));
    for (const { value, encoded } of readGolden(topic, version).events) {
      const body = Buffer.from(encoded, 'hex');
      expect(readType(written).toBuffer(fromJson(value))).toEqual(body);
      const frame = Buffer.from([0, 0, 0, 0, 7]);
      const read = toJson(codec.decode(Buffer.concat([frame, body])));
      const fields = Object.entries(value as object).filter(([name]) => known.has(name));
      expect(read).toMatchObject(Object.fromEntries(fields));
    }
  });
});

describe('a release', () => {
  async function copied() {
    const folder = await temporaryFolder();
    const root = pathToFileURL(`${folder.path}/`);
    const to = { schemas: new URL('schemas/', root), events: new URL('events/', root) };
    cpSync(folders.schemas, to.schemas, { recursive: true });
    cpSync(folders.events, to.events, { recursive: true });
    return { to, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  }
  const topic = 'svc.logs.v1';
  const change = (file: URL, name: string, type: unknown, preset?: unknown): void => {
    const schema = JSON.parse(readFileSync(file, 'utf8')) as { fields: object[] };
    schema.fields = schema.fields.filter((field) => (field as { name: string }).name !== name);
    schema.fields.push({ name, type, doc: 'Changed.', default: preset });
    writeFileSync(file, JSON.stringify(schema));
  };

  it('without a change writes nothing', async () => {
    await using copy = await copied();
    expect(await release('9.0.0', copy.to)).toEqual([]);
  });

  it('keeps the changed schema with its golden events, once per version', async () => {
    await using copy = await copied();
    const file = new URL(topics[topic].schema, copy.to.schemas);
    change(file, 'more', ['null', 'string'], null);
    expect(await release('9.0.0', copy.to)).toEqual([topic]);
    expect(releasesOf(topic, copy.to).at(-1)).toBe('9.0.0');
    const { events } = JSON.parse(
      readFileSync(goldenFile(topic, '9.0.0', copy.to), 'utf8'),
    ) as Golden;
    expect(events.map(({ value }) => (value as { more: unknown }).more)).toEqual(['A more.', null]);
    expect(checkSchemas(copy.to.schemas)).toEqual([]);
    change(file, 'evenMore', ['null', 'string'], null);
    await expect(release('9.0.0', copy.to)).rejects.toThrow(/raise the version/);
    expect(await release('9.0.1', copy.to)).toEqual([topic]);
  });

  it('is not possible with a schema that breaks readers: the check names the file', async () => {
    await using copy = await copied();
    change(new URL(topics[topic].schema, copy.to.schemas), 'message', 'bytes');
    expect(checkSchemas(copy.to.schemas)).toEqual([
      expect.stringContaining(`${topics[topic].schema} breaks FULL_TRANSITIVE`),
    ]);
  });
});
