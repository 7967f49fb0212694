/**
 * `node test/golden/release.ts`: for every topic whose schema is new or has changed since its last release,
 * copies the schema to `schemas/released/` under the version of package.json and writes the golden events
 * of that version beside this file. Nothing that is there is ever overwritten.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import type { TopicName } from '#streams/topics.ts';
import {
  folders,
  fullOf,
  goldenFile,
  isSameSchema,
  leastOf,
  readType,
  releasedPath,
  releasedSchema,
  releasesOf,
  toJson,
  todaysSchema,
  topicNames,
  type Folders,
  type Golden,
} from './golden.ts';

/**
 * Returns the topics that got a version.
 * @throws Error when the version has been released with another schema: raise it in package.json
 */
export async function release(version: string, to: Folders = folders): Promise<TopicName[]> {
  const changed = topicNames.filter((topic) => {
    const last = releasesOf(topic, to).at(-1);
    const schema = todaysSchema(topic, to);
    return last === undefined || !isSameSchema(releasedSchema(topic, last, to), schema);
  });
  for (const topic of changed) {
    const schemaFile = new URL(`released/${releasedPath(topic, version)}`, to.schemas);
    if (existsSync(schemaFile) || existsSync(goldenFile(topic, version, to))) {
      throw new Error(`${topic} has a version ${version}: raise the version in package.json.`);
    }
  }
  for (const topic of changed) {
    const golden = JSON.stringify(goldenOf(topic, version, to));
    const style = { objectWrap: 'collapse', printWidth: 100 } as const;
    const { code } = await format('golden.json', golden, style);
    write(goldenFile(topic, version, to), code);
    const released = new URL(`released/${releasedPath(topic, version)}`, to.schemas);
    write(released, todaysSchema(topic, to));
  }
  return changed;
}

function goldenOf(topic: TopicName, version: string, to: Folders): Golden {
  const schema = todaysSchema(topic, to);
  const type = readType(schema);
  const full = fullOf(topic, to);
  const least = leastOf(full, JSON.parse(schema) as Parameters<typeof leastOf>[1]);
  const events = Object.entries({ full, least }).map(([name, value]) => ({
    name,
    value: toJson(value),
    encoded: type.toBuffer(value).toString('hex'),
  }));
  return { topic, schema: releasedPath(topic, version), events };
}

function write(file: URL, text: string): void {
  mkdirSync(new URL('.', file), { recursive: true });
  writeFileSync(file, text, { flag: 'wx' });
}

if (import.meta.main) {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  const topics = await release(version);
  console.log(topics.length === 0 ? 'no schema has changed' : `${version}: ${topics.join(', ')}`);
}
