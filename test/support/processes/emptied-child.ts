/**
 * A stream that is emptied and forgotten by the log, and written again: `emptied-child.ts empty <data
 * folder>`, then `emptied-child.ts again <data folder> <old cursor …>` in another process.
 */
import { dayMs } from '#kernel/time.ts';
import {
  changesOf,
  connectionUid,
  messagesOf,
  originOf,
  pageOf,
  pagesOf,
  readable,
  recordsIn,
  startNode,
  streamOf,
  tellAll,
  type ToldPage,
} from './node-child.ts';
import { cleanLog, type WholeNode } from './whole-node.ts';

export interface ToldEmptied {
  /** Cursor of a record in the middle, and of the last one. */
  readonly cursors: readonly string[];
  readonly generation: string;
  /** Of the last change, which is a purge. */
  readonly seq: number;
  readonly lastModifiedAt: number;
  /** Messages of the stream that the log has after it was cleaned. */
  readonly messages: number;
}

/** What follows an old cursor. */
export interface ToldContinuation {
  /** Before anything was written again. */
  readonly before: ToldPage;
  /** After that, by pages of one record and by one page. */
  readonly singles: readonly ToldPage[];
  readonly whole: ToldPage;
}

export interface ToldAgain {
  readonly continuations: readonly ToldContinuation[];
  readonly changes: readonly {
    readonly id: string;
    readonly seq: number;
    readonly action: string;
    readonly generation: string;
    readonly modifiedAt: number;
  }[];
}

const stream = streamOf('Emptied');
const idOf = (at: number) => ({ id: `r${at}` });

async function empty(node: WholeNode): Promise<ToldEmptied> {
  const { writer } = node.services.records;
  const origin = originOf('before', 1);
  await writer.save(
    stream,
    origin,
    Array.from({ length: 60 }, (_, at) => ({ ...idOf(at), n: 1 })),
  );
  await writer.update(
    stream,
    origin,
    Array.from({ length: 25 }, (_, at) => ({ ...idOf(at), n: 2 })),
  );
  await writer.delete(stream, origin, [idOf(3), idOf(59)]);
  await readable(node, stream, origin);
  const records = recordsIn(await pageOf(node, stream, null, 1000));
  const cursors = [30, 59].map((at) => records[at]?._svc_metadata.cursor ?? '');
  await writer.empty(stream, 'system');
  await readable(node, stream, origin);
  const changes = await changesOf(node, stream);
  const last = changes.at(-1);
  const now = Date.now();
  for (const days of [30, 38]) await cleanLog(node, now + days * dayMs);
  const messages = (await Array.fromAsync(messagesOf(node, stream))).length;
  return {
    cursors,
    generation: last?.stream_generation ?? '',
    seq: last?.stream_seq ?? 0,
    lastModifiedAt: Math.max(...changes.map((change) => change.last_modified_at)),
    messages,
  };
}

async function again(node: WholeNode, cursors: readonly string[]): Promise<ToldAgain> {
  const { writer } = node.services.records;
  const page = (cursor: string) => pageOf(node, stream, cursor, 1000);
  const before = await Promise.all(cursors.map(page));
  await writer.save(stream, originOf('after', 1), [3, 100, 101].map(idOf));
  await writer.update(stream, originOf('after', 1), [{ ...idOf(100), n: 3 }]);
  await readable(node, stream, originOf('after', 1));
  const changes = (await changesOf(node, stream)).map((change) => ({
    id: change.record_id,
    seq: change.stream_seq,
    action: change.action,
    generation: change.stream_generation,
    modifiedAt: change.last_modified_at,
  }));
  const continuations: ToldContinuation[] = [];
  for (const [at, cursor] of cursors.entries()) {
    const singles = await pagesOf(node, stream, { cursor, limit: 1 });
    continuations.push({ before: before[at]!, singles, whole: await page(cursor) });
  }
  return { continuations, changes };
}

const [mode, folder = '', ...cursors] = process.argv.slice(2);
const node = await startNode(folder);
await node.services.vault.create(connectionUid);
tellAll(folder, mode === 'empty' ? await empty(node) : await again(node, cursors));
await node[Symbol.asyncDispose]();
