import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '#kernel/errors.ts';
import { systemClock } from '#kernel/time.ts';
import {
  BackupFolder,
  damaged,
  type Backup,
  type BackupList,
  type PartitionPart,
  type TopicBackup,
} from './backup-folder.ts';
import { blocksAt, bytesAt, magic, type Entry } from './frames.ts';
import { fillLog, type Target } from './import.ts';
import type { FramingSchema, Source, SourceTopic } from './source.ts';

const chunkBytes = 1024 ** 2;

/**
 * Fills an empty log with a backup: the newest one not after the time, or the one with the id. Every byte is compared with
 * its checksum before the first message is written.
 * @param at null: the last one
 * @throws GatewayError `invalid_request` if there is none; `log_corrupt` naming file, topic, partition and offsets;
 *   `conflict` if the log is not empty
 */
export async function restoreLog(
  target: Target,
  path: string,
  at: string | null,
): Promise<{ readonly backup: Backup; readonly messages: number }> {
  const folder = new BackupFolder(path);
  const list = await folder.list();
  const chain = await folder.chain(refAt(list, at, path));
  await verifyBackups(path, chain);
  const backup = chain.at(-1) as Backup;
  const source = { ...sourceOf(path, chain, backup), restoredAt: systemClock.nowMicros() };
  return { backup, messages: await fillLog(target, source) };
}

/** @throws GatewayError `invalid_request` */
function refAt(list: BackupList, at: string | null, path: string): BackupList[number] {
  const [first, last] = [list[0], list.at(-1)];
  if (first === undefined || last === undefined) {
    const message = `${path} has no backup: name the folder that svc backup has written.`;
    throw new GatewayError('invalid_request', { message });
  }
  if (at === null) return last;
  const named = list.find(({ id }) => id === at);
  if (named !== undefined) return named;
  const time = Date.parse(at);
  const found = list.findLast(({ made_at }) => Date.parse(made_at) <= time);
  if (found !== undefined) return found;
  const message = Number.isNaN(time)
    ? `--at ${at}: ${path} has no backup with this id. Name one of backups.json, or a time such as ${last.made_at}.`
    : `--at ${at}: the first backup of ${path} is of ${first.made_at}. Name that time or a later one.`;
  throw new GatewayError('invalid_request', { message });
}

/**
 * Compares all data of the backups with its checksums.
 * @throws GatewayError `log_corrupt` naming file, topic, partition and offsets
 */
export async function verifyBackups(path: string, chain: readonly Backup[]): Promise<void> {
  for (const backup of chain) {
    const { file, bytes, topics } = backup;
    await using handle = await open(join(path, file), 'r').catch((error: unknown) => {
      throw damaged(file, `which cannot be read; it has ${rangesOf(backup)}`, error);
    });
    for (const topic of topics) {
      for (const part of topic.parts) {
        if ((await digestOf(handle, part)) !== part.sha256) {
          throw damaged(file, placeOf(topic, part));
        }
      }
    }
    const { size } = await handle.stat();
    const head = await bytesAt(handle, 0, magic.length);
    if (size !== bytes || !head.equals(magic)) {
      throw damaged(file, `which has ${size} bytes instead of ${bytes}, or another head`);
    }
  }
}

async function digestOf(handle: FileHandle, { position, bytes }: PartitionPart): Promise<string> {
  const hash = createHash('sha256');
  for (let done = 0; done < bytes;) {
    const chunk = await bytesAt(handle, position + done, Math.min(chunkBytes, bytes - done));
    if (chunk.length === 0) break;
    hash.update(chunk);
    done += chunk.length;
  }
  return hash.digest('hex');
}

const placeOf = ({ name }: TopicBackup, { partition, start, end }: PartitionPart): string =>
  `${name}/${partition}, offsets ${start} to ${end - 1}`;

const namedMax = 5;

function rangesOf({ topics }: Backup): string {
  const places = topics.flatMap((topic) => topic.parts.map((part) => placeOf(topic, part)));
  const others = places.length - namedMax;
  const named = places.slice(0, namedMax).join('; ');
  return others > 0 ? `${named} and ${others} other ranges` : named || 'no message';
}

function sourceOf(
  path: string,
  chain: readonly Backup[],
  { topics, version, groups }: Backup,
): Omit<Source, 'restoredAt'> {
  return {
    version,
    groups,
    topics: topics.map(({ name, partitions }) => ({
      name,
      partitions,
      schemas: schemasOf(chain, name),
    })),
    async *blocks(name, partition) {
      const retained = topics.find((topic) => topic.name === name)?.starts[partition] ?? 0;
      for (const { file, topics: added } of chain) {
        for (const topic of added) {
          if (topic.name !== name) continue;
          for (const part of topic.parts) {
            if (part.partition !== partition || part.end <= retained) continue;
            yield* entriesOf(path, file, { topic, part, retained });
          }
        }
      }
    },
  };
}

function schemasOf(chain: readonly Backup[], name: string): SourceTopic['schemas'] {
  const found = new Map<number, FramingSchema>();
  for (const { topics } of chain) {
    for (const topic of topics) {
      if (topic.name === name) for (const one of topic.schemas) found.set(one.id, one);
    }
  }
  return [...found.values()].sort((one, other) => one.id - other.id);
}

/** Without what the log had removed by the time of the backup. */
async function* entriesOf(
  path: string,
  file: string,
  from: { readonly topic: TopicBackup; readonly part: PartitionPart; readonly retained: number },
): AsyncGenerator<readonly Entry[]> {
  const { topic, part, retained } = from;
  await using handle = await open(join(path, file), 'r');
  const range = { start: part.position, end: part.position + part.bytes };
  let messages = 0;
  for await (const entries of blocksAt(handle, range, `${file}, ${placeOf(topic, part)},`)) {
    messages += entries.length;
    const kept = entries.filter(({ offset }) => offset >= retained);
    if (kept.length > 0) yield kept;
  }
  if (messages !== part.messages) throw damaged(file, placeOf(topic, part));
}
