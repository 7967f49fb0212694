import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { loadConfig } from '#app/config/config.ts';
import { topicSpecs } from '#app/process/topics.ts';
import { repartitionLog } from '#app/tools/repartition.ts';
import {
  commandsTopic,
  controlTopic,
  ownerKey,
  type EntityValue,
  type OwnerNote,
} from '#control-plane/message-codec.ts';
import { partitionOf } from '#kernel/partition.ts';
import { recordCommandsTopic } from '#modules/records/model/commands.ts';
import {
  headsTopic,
  recordsTopic,
  reservedKey,
  type StreamHeadValue,
} from '#modules/records/model/events.ts';
import { partitionHead } from '#modules/records/owner/state/stream-state.ts';
import type { ReadMessage } from '#ports/event-log.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';

const seed = seedOfRun();
console.log(`repartition: SVC_TEST_SEED=${seed}`);
const from = 4;
const group = 'svc.typed-topics';
const streams = Array.from({ length: 40 }, (_, at) => `env/connection-${at}/Contact/base`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-repartition-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Opened = Awaited<ReturnType<typeof openEmbeddedLog>>;

/** Random messages of random streams, each in the partition of its stream, and what owners note of them. */
async function fill({ log, schemas }: Opened): Promise<void> {
  const random = seeded(seed);
  await log.ensureTopics(topicSpecs(from));
  const heads = await schemas.codec<StreamHeadValue>(headsTopic);
  const entities = await schemas.codec<EntityValue>(controlTopic);
  const headers = { 'svc-epoch': '3' };
  const put = async (topic: string, by: string, key: string, value: Uint8Array | null) => {
    const messages = [{ key, value, headers, timestamp: 1 + random.int(1e9) }];
    const [place] = await log.append([{ topic, partition: partitionOf(by, from), messages }]);
    return place!;
  };
  const entity = (kind: string, scope: string, state: object) =>
    entities.encode({ kind, scope, path: [], state: JSON.stringify(state), decided_at: 1 });
  for (let n = 0; n < 400; n += 1) {
    const stream = random.pick(streams);
    const text = Buffer.from(`value ${n}`);
    const isGone = random.chance(15);
    await put(recordsTopic, stream, `${stream}/${random.int(4)}`, isGone ? null : text);
    const { partition, offset } = await put(recordCommandsTopic, stream, stream, text);
    if (n < 300 && random.chance(60)) {
      const head = partitionHead({ epoch: 2, command: offset, lastModifiedAt: n });
      await put(headsTopic, stream, random.chance(10) ? reservedKey : stream, heads.encode(head));
    }
    const scope = `scope-${random.int(30)}`;
    const command = await put(commandsTopic, scope, scope, text);
    const key = `kind/${scope}/${random.int(3)}`;
    const state = random.chance(25) ? null : entity('kind', scope, { n });
    await put(controlTopic, scope, key, state);
    if (n < 300 && random.chance(60)) {
      const note: OwnerNote = {
        decision: n,
        numbers: n,
        nextCommand: command.offset + 1,
        epoch: 3,
      };
      await put(controlTopic, scope, ownerKey, entity(ownerKey, '', note));
    }
    if (!random.chance(5)) continue;
    const positions = [{ topic: recordsTopic, partition, offset: random.int(offset + 1) }];
    await log.commit({ group, positions });
  }
}

interface Seen {
  /** By key, all values in order. */
  readonly records: ReadonlyMap<string, readonly (string | undefined)[]>;
  /** What is still to be done, whatever the partition. */
  readonly unread: readonly string[];
  readonly undecided: readonly string[];
  readonly unasked: readonly string[];
  readonly entities: ReadonlyMap<string, string>;
  /** By partition, the first numeric id that its owner would give. */
  readonly ids: readonly number[];
}

/** What consumers and owners find, as they look for it. */
async function look({ log, schemas }: Opened, partitions: number): Promise<Seen> {
  const heads = await schemas.codec<StreamHeadValue>(headsTopic);
  const entities = await schemas.codec<EntityValue>(controlTopic);
  const records = Map.groupBy([] as ReadMessage[], ({ key }) => key);
  const found = { unread: [] as string[], undecided: [] as string[], unasked: [] as string[] };
  const states = new Map<string, string>();
  const ids: number[] = [];
  const committed = await log.committed(group, recordsTopic);
  for (let partition = 0; partition < partitions; partition += 1) {
    const all = async (topic: string): Promise<ReadMessage[]> => {
      const batches = await Array.fromAsync(log.read({ topic, partition, offset: 0 }));
      return batches.flatMap(({ messages }) => messages);
    };
    const textsFrom = (messages: readonly ReadMessage[], offset: number): string[] =>
      messages.filter((one) => one.offset >= offset).map((one) => `${one.key} ${textOf(one)}`);
    const changes = await all(recordsTopic);
    for (const change of changes) {
      const stream = change.key.slice(0, change.key.lastIndexOf('/'));
      expect(partitionOf(stream, partitions)).toBe(partition);
      records.set(change.key, [...(records.get(change.key) ?? []), change]);
    }
    found.unread.push(...textsFrom(changes, committed.get(partition) ?? 0));
    let decided = -1;
    for (const { key, value } of await all(headsTopic)) {
      if (key !== reservedKey) expect(partitionOf(key, partitions)).toBe(partition);
      if (value !== null) decided = Math.max(decided, heads.decode(value).command_offset);
    }
    found.undecided.push(...textsFrom(await all(recordCommandsTopic), decided + 1));
    let note = { nextCommand: 0, numbers: 0 };
    for (const { key, value } of await all(controlTopic)) {
      const state = value === null ? null : entities.decode(value).state;
      if (key === ownerKey) note = JSON.parse(state ?? '{}') as OwnerNote;
      else if (state === null) states.delete(key);
      else states.set(key, state);
    }
    found.unasked.push(...textsFrom(await all(commandsTopic), note.nextCommand));
    ids.push(note.numbers * partitions + partition + 1);
  }
  const values = [...records].map(([key, list]) => [key, list.map(textOf)] as const);
  const sorted = Object.entries(found).map(([name, texts]) => [name, texts.sort()] as const);
  const rest = Object.fromEntries(sorted) as typeof found;
  return { records: new Map(values), ...rest, entities: states, ids };
}

const textOf = ({ value, timestamp }: ReadMessage): string =>
  `${value === null ? 'tombstone' : Buffer.from(value).toString()} at ${timestamp}`;

it.each([8, 24])(
  '%i partitions hold what 4 held, and nothing is done twice or left out',
  async (to) => {
    const dataDir = join(folder, String(to));
    await mkdir(join(dataDir, 'log'), { recursive: true });
    const open = () => openEmbeddedLog({ directory: join(dataDir, 'log') });
    let before: Seen;
    {
      await using opened = await open();
      await fill(opened);
      before = await look(opened, from);
    }
    const config = loadConfig({ SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: 'error' });
    const done = await repartitionLog(config, to, null, () => undefined);
    expect(done).toMatchObject({ from, to });
    await using opened = await open();
    const { ids, ...after } = await look(opened, to);
    const { ids: former, ...same } = before;
    expect(after).toEqual(same);
    expect(before.undecided.length).toBeGreaterThan(0);
    // An id is given again where the next one is not above the last of the former partition.
    for (const [partition, id] of ids.entries()) {
      expect(id).toBeGreaterThan(former[partition % from]! - from);
      expect((id - 1) % to).toBe(partition);
    }
  },
);
