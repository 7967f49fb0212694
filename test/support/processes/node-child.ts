/** What the children of the system tests have in common: a composed node, and all that it holds of a stream. */
import { writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '#app/config/config.ts';
import type { ConnectionId, ConnectionUid, EnvironmentUid, IntegrationKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import { patchEnvironment } from '#modules/access/environments/handlers.ts';
import { environmentByName } from '#modules/access/environments/queries.ts';
import { type RecordChange, recordsTopic } from '#modules/records/model/events.ts';
import { streamKey, type Stream } from '#modules/records/model/stream.ts';
import type { BarrierAnswer, WriteOrigin } from '#modules/records/write/writer.ts';
import type { ReadRecord } from '../worlds/projection.ts';
import { toldFile } from './child.ts';
import { deploymentEnv } from './deployment.ts';
import { composeWhole, type WholeNode } from './whole-node.ts';

/** API, owners and projector of a gateway over the folder, as `npm start` composes them. */
export function startNode(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Promise<WholeNode> {
  return composeWhole(
    loadConfig({
      ...process.env,
      SVC_DATA_DIR: folder,
      SVC_PORT: '0',
      SVC_ROLES: 'api,owner,projector',
      SVC_LOG_LEVEL: 'error',
      ...deploymentEnv(folder),
      ...env,
    }),
  );
}

const pauseMs = 2;
const nobodyWakes = new Int32Array(new SharedArrayBuffer(4));

/** To the parent process, at once: waits while the pipe is full, as its reader may be slower. */
export function tell(line: unknown): void {
  let left = Buffer.from(`${JSON.stringify(line)}\n`);
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(nobodyWakes, 0, 0, pauseMs);
    }
  }
}

/** For `toldBy`. */
export function tellAll(folder: string, told: unknown): void {
  writeFileSync(join(folder, toldFile), JSON.stringify(told));
}

export const connectionUid = '00000000-0000-4000-8000-000000000002' as ConnectionUid;

/** The environment `dev`, which the first start made. */
export async function environmentWith(
  { services }: WholeNode,
  payloadMode: 'plain' | 'sealed',
): Promise<string> {
  const environment = environmentByName(services.control, 'dev');
  if (environment === null) throw new Error('no environment');
  const { uid } = environment;
  if (environment.payloadMode !== payloadMode) {
    await patchEnvironment(services, uid, { payloadMode }, { actor: 'system' });
  }
  return uid;
}

export function streamOf(
  model: string,
  environmentUid = '00000000-0000-4000-8000-000000000001',
): Stream {
  return {
    environmentUid: environmentUid as EnvironmentUid,
    connectionUid,
    integration: 'crm' as IntegrationKey,
    connectionId: 'tested' as ConnectionId,
    model,
    variant: 'base',
  };
}

export function originOf(runId: string, attempt: number): WriteOrigin {
  return { runId, attempt, syncName: 'tested', actor: `run:${runId}` };
}

/** Resolves when all that was sent to the stream is decided and can be read. */
export async function readable(
  { services: { records } }: WholeNode,
  stream: Stream,
  origin: WriteOrigin,
): Promise<BarrierAnswer> {
  const barrier = await records.writer.barrier(stream, origin);
  const { partition, offset } = barrier;
  await records.reader.published(partition, offset, AbortSignal.timeout(60_000));
  return barrier;
}

/** A page as a client gets it. */
export interface ToldPage {
  readonly body: string;
  readonly next: string | null;
}

export async function pageOf(
  { services: { records } }: WholeNode,
  stream: Stream,
  cursor: string | null,
  limit: number,
): Promise<ToldPage> {
  const query = { stream, cursor, modifiedAfter: null, actions: null, ids: null, limit };
  const page = await records.reader.page(query);
  return { body: Buffer.from(page.body).toString(), next: page.nextCursor };
}

/** All pages after the cursor. */
export async function pagesOf(
  node: WholeNode,
  stream: Stream,
  { cursor = null, limit }: { readonly cursor?: string | null; readonly limit: number },
): Promise<ToldPage[]> {
  const pages = [await pageOf(node, stream, cursor, limit)];
  for (let next = pages[0]?.next ?? null; next !== null;) {
    const page = await pageOf(node, stream, next, limit);
    pages.push(page);
    next = page.next;
  }
  return pages;
}

export function recordsIn({ body }: ToldPage): ReadRecord[] {
  return (JSON.parse(body) as { records: ReadRecord[] }).records;
}

/** The changes of the stream in the order of the log. */
export async function changesOf(node: WholeNode, stream: Stream): Promise<RecordChange[]> {
  const codec = await node.schemas.codec<RecordChange>(recordsTopic);
  const changes: RecordChange[] = [];
  for await (const { value } of messagesOf(node, stream)) {
    if (value !== null) changes.push(codec.decode(value));
  }
  return changes;
}

/** What the log has of the stream, tombstones too. */
export async function* messagesOf(node: WholeNode, stream: Stream) {
  const topic = recordsTopic;
  const partition = partitionOf(streamKey(stream), await node.log.partitions(topic));
  for await (const batch of node.log.read({ topic, partition, offset: 0 })) {
    for (const message of batch.messages) {
      if (message.key.startsWith(`${streamKey(stream)}/`)) yield message;
    }
  }
}
