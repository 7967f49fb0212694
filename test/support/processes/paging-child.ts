/**
 * A node on which four runs write one stream while a reader pages it and another caller prunes it: `paging-child.ts
 * <data folder> <seed> <plain|sealed> <calls of each run>`. Reports the records read, and those of the log.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '#kernel/stable-json.ts';
import { isoMicros } from '#kernel/time.ts';
import { payloadsOf } from '#modules/records/history/logged-changes.ts';
import { decodeCursor } from '#modules/records/model/cursor.ts';
import type { RecordChange } from '#modules/records/model/events.ts';
import { streamKey, type Stream } from '#modules/records/model/stream.ts';
import type { SeenRecord, ToldChange, ToldPaging } from '../judges/paging-judge.ts';
import { seeded, type Random } from '../judges/random.ts';
import type { ReadRecord } from '../worlds/projection.ts';
import {
  changesOf,
  connectionUid,
  environmentWith,
  originOf,
  pageOf,
  pagesOf,
  readable,
  recordsIn,
  startNode,
  streamOf,
  tellAll,
} from './node-child.ts';
import type { WholeNode } from './whole-node.ts';

const runs = ['first', 'second', 'third', 'fourth'] as const;
const idsOfStream = 400;

const [folder = '', seed = '0', mode, calls = '0'] = process.argv.slice(2);
const callsPerRun = Number(calls);
/** The call before which one of the runs has the stream emptied. */
const emptyingCall = Math.floor(callsPerRun / 3);

/** The stream, and who is at work on it. */
interface Scene {
  readonly node: WholeNode;
  readonly stream: Stream;
  readonly seen: SeenRecord[];
  isWritten: boolean;
  /** Pages with records, and polls that found none. */
  pages: number;
  polls: number;
  prunes: number;
  /** Resolves with the reader's next page. */
  nextPage: PromiseWithResolvers<undefined>;
}

/** Few values, so that many saves change nothing and some bring a pruned payload back. */
function batch(random: Random) {
  const kind = random.pick(['save', 'save', 'save', 'update', 'delete'] as const);
  const size = random.pick([1, 5, 40, 150]);
  const ids = new Set(Array.from({ length: 1 + random.int(size) }, () => random.int(idsOfStream)));
  const records = [...ids].map((id): JsonObject => {
    if (kind === 'delete') return { id: `r${id}` };
    const fields = { value: random.int(3), text: 'x'.repeat(random.int(2) * 300) };
    return kind === 'save' ? { id: `r${id}`, ...fields } : { id: `r${id}`, value: fields.value };
  });
  return { kind, records };
}

async function write(scene: Scene, run: string, random: Random): Promise<void> {
  const { node, stream } = scene;
  const { writer } = node.services.records;
  const origin = originOf(run, 1);
  for (let call = 0; call < callsPerRun; call += 1) {
    if (call === emptyingCall && run === runs[0]) await writer.empty(stream, 'system');
    const { kind, records } = batch(random);
    await writer[kind](stream, origin, records);
    // Reader and writers keep about the same pace, whatever the machine.
    if (random.chance(30)) await scene.nextPage.promise;
    if (random.chance(10)) await readable(node, stream, origin);
  }
  await readable(node, stream, origin);
}

async function prune(scene: Scene, random: Random): Promise<void> {
  const { node, stream, seen } = scene;
  const { reader, writer } = node.services.records;
  while (!scene.isWritten) {
    await scene.nextPage.promise;
    if (seen.length === 0) continue;
    const position = await reader.positionOf(stream, random.pick(seen).cursor);
    const until = { position, limit: 1 + random.int(50) };
    scene.prunes += (await writer.prune(stream, 'system', until)).count;
  }
}

/** Follows its cursor until the writers have ended and nothing is left. */
async function read(scene: Scene, random: Random): Promise<void> {
  const { node, stream, seen } = scene;
  for (let cursor: string | null = null; ;) {
    const isLast = scene.isWritten;
    const page = await pageOf(node, stream, cursor, 1 + random.int(50));
    const records = recordsIn(page).map(seenOf);
    seen.push(...records);
    cursor = page.next ?? records.at(-1)?.cursor ?? cursor;
    if (records.length > 0) scene.pages += 1;
    else scene.polls += 1;
    const { resolve } = scene.nextPage;
    scene.nextPage = Promise.withResolvers();
    resolve(undefined);
    if (records.length > 0) continue;
    if (isLast) return;
    await sleep(random.int(3));
  }
}

function seenOf({ _svc_metadata: metadata, ...payload }: ReadRecord): SeenRecord {
  const { cursor, ...times } = metadata;
  return { position: decodeCursor(cursor).position, cursor, payload, ...times };
}

async function toldChange({ node, stream }: Scene, change: RecordChange): Promise<ToldChange> {
  return {
    id: change.record_id,
    seq: change.stream_seq,
    action: change.action,
    position: change.position,
    firstSeenAt: isoMicros(change.first_seen_at),
    modifiedAt: isoMicros(change.last_modified_at),
    deletedAt: change.deleted_at === null ? null : isoMicros(change.deleted_at),
    isPruned: change.pruned_at !== null,
    encoding: change.payload_encoding,
    payload: await payloadOf(node, stream, change),
  };
}

async function payloadOf(
  { services }: WholeNode,
  stream: Stream,
  change: RecordChange,
): Promise<JsonObject | null> {
  const text = await payloadsOf(services, streamKey(stream))(change);
  return text === null ? null : (JSON.parse(text.toString()) as JsonObject);
}

const node = await startNode(folder);
const environmentUid = await environmentWith(node, mode === 'sealed' ? 'sealed' : 'plain');
await node.services.vault.create(connectionUid);
const scene: Scene = {
  node,
  stream: streamOf('Contact', environmentUid),
  seen: [],
  isWritten: false,
  pages: 0,
  polls: 0,
  prunes: 0,
  nextPage: Promise.withResolvers(),
};
const random = seeded(Number(seed));
const reading = read(scene, random);
const pruning = prune(scene, seeded(random.int(2 ** 31)));
await Promise.all(runs.map((run) => write(scene, run, seeded(random.int(2 ** 31)))));
scene.isWritten = true;
await Promise.all([reading, pruning]);
// Published: a prune that came last may still be on its way into the tables.
await readable(node, scene.stream, originOf('last', 1));

const walk = async (limit: number) =>
  (await pagesOf(node, scene.stream, { limit })).flatMap(recordsIn).map(seenOf);
const changes: ToldChange[] = [];
for (const change of await changesOf(node, scene.stream))
  changes.push(await toldChange(scene, change));
const { seen, pages, polls, prunes } = scene;
const walks = [await walk(1), await walk(1000)];
tellAll(folder, { seen, pages, polls, prunes, walks, changes } satisfies ToldPaging);
await node[Symbol.asyncDispose]();
