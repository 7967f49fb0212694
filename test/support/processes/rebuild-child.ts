/**
 * A node whose tables, state stores and views may have been deleted before: `rebuild-child.ts <data folder> <seed>
 * <round> <calls per stream> [compacted]`. Reports its state, writes, and reports the state after. From the second
 * round on it also resumes from old cursors, and ends the delete pass that the previous round began.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { operation } from '../judges/crash-model.ts';
import { seeded, type Random } from '../judges/random.ts';
import { toldBy, toldFile } from './child.ts';
import {
  changesOf,
  connectionUid,
  originOf,
  pagesOf,
  readable,
  startNode,
  streamOf,
  tellAll,
  type ToldPage,
} from './node-child.ts';
import { cleanLog, type WholeNode } from './whole-node.ts';

const models = ['Alpha', 'Beta', 'Gamma', 'Emptied'] as const;
const passModel = 'Pass';
const idsOfPass = Array.from({ length: 40 }, (_, at) => `p${at}`);
const limit = 23;

/** All that a stream holds, as its readers and the log have it. */
export interface ToldStream {
  readonly model: string;
  readonly pages: readonly ToldPage[];
  /** The records after the cursor of a page in the middle of those reported last. */
  readonly continued: { readonly from: number; readonly pages: readonly ToldPage[] } | null;
  readonly generations: readonly string[];
  readonly seqs: readonly number[];
  readonly eventIds: readonly string[];
}

export interface ToldRound {
  readonly found: readonly ToldStream[];
  readonly left: readonly ToldStream[];
  /** Of the pass that was open while the node was down. */
  readonly deletedKeys: readonly string[];
  /** What the pass that is open now would delete. */
  readonly unmarked: readonly string[];
}

async function look(node: WholeNode, last: readonly ToldStream[] | null): Promise<ToldStream[]> {
  const told = [...models, passModel].map(async (model) => {
    const stream = streamOf(model);
    await readable(node, stream, originOf('look', attempt));
    const before = last?.find((candidate) => candidate.model === model)?.pages;
    const changes = await changesOf(node, stream);
    return {
      model,
      pages: await pagesOf(node, stream, { limit }),
      continued: before === undefined ? null : await goOn(node, model, before),
      generations: [...new Set(changes.map((change) => change.stream_generation))],
      seqs: changes.map((change) => change.stream_seq),
      eventIds: changes.map((change) => change.event_id),
    };
  });
  return Promise.all(told);
}

async function goOn(node: WholeNode, model: string, before: readonly ToldPage[]) {
  const from = before.length >> 1;
  const cursor = before[from - 1]?.next ?? null;
  return { from, pages: await pagesOf(node, streamOf(model), { cursor, limit }) };
}

async function write(node: WholeNode, model: string, random: Random, calls: number): Promise<void> {
  const { writer } = node.services.records;
  const stream = streamOf(model);
  for (let call = 0; call < calls; call += 1) {
    const { kind, records } = operation(random, 600);
    await writer[kind](stream, originOf(`write-${model}`, attempt), records);
    if (!random.chance(4)) continue;
    if (model === 'Emptied') await writer.empty(stream, 'system');
    else {
      const until = { position: random.int(call * 20), limit: 1 + random.int(60) };
      await writer.prune(stream, 'system', until);
    }
  }
}

/** Begins a pass, and marks some records by saves that change nothing. Returns the ids of the others. */
async function beginPass(node: WholeNode, random: Random): Promise<string[]> {
  const { writer } = node.services.records;
  const stream = streamOf(passModel);
  const origin = originOf('pass', attempt);
  await writer.save(
    stream,
    origin,
    idsOfPass.map((id) => ({ id })),
  );
  await writer.passStart(stream, origin);
  const marked = idsOfPass.filter(() => random.chance(60));
  await writer.save(
    stream,
    origin,
    marked.map((id) => ({ id })),
  );
  return idsOfPass.filter((id) => !marked.includes(id));
}

async function endPass(node: WholeNode): Promise<string[]> {
  const { writer } = node.services.records;
  return (await writer.passEnd(streamOf(passModel), originOf('pass', attempt))).deletedKeys;
}

/**
 * Leaves of each record what the log keeps for ever. First all of it becomes readable: nobody lags by the weeks that
 * the log keeps history for, and who did would have to start over.
 */
async function forgetHistory(node: WholeNode): Promise<void> {
  const origin = originOf('look', attempt);
  const all = [...models, passModel].map((model) => readable(node, streamOf(model), origin));
  await Promise.all(all);
  const now = Date.now();
  for (const days of [30, 38]) await cleanLog(node, now + days * 86_400_000);
}

const [folder = '', seed, round, calls, mode] = process.argv.slice(2);
const attempt = Number(round);
const node = await startNode(folder);
await node.services.vault.create(connectionUid);
const last = existsSync(join(folder, toldFile)) ? (toldBy(folder) as ToldRound) : null;
const found = await look(node, last?.left ?? null);
const deletedKeys = last === null ? [] : await endPass(node);
const random = seeded(Number(seed) + attempt);
const writers = models.map((model) =>
  write(node, model, seeded(random.int(2 ** 31)), Number(calls)),
);
await Promise.all(writers);
const unmarked = await beginPass(node, random);
if (mode === 'compacted') await forgetHistory(node);
const left = await look(node, null);
tellAll(folder, { found, left, deletedKeys, unmarked } satisfies ToldRound);
await node[Symbol.asyncDispose]();
