import { randomUUID } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import { systemClock } from '#kernel/time.ts';
import { openSource, type Transfer } from '#modules/extensions/log-transfer/export.ts';
import { fillLog, mustBeMultiple } from '#modules/extensions/log-transfer/import.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Config } from '../config/config.ts';
import { version } from '../config/version.ts';
import { createFaultPoint } from '../process/fault-points.ts';
import { copying, foldersOf, hasLog, replaceLog } from '../process/folders.ts';
import { LogCorruption } from '../process/log-corruption.ts';
import { createLogger } from '../process/logger.ts';
import { openMainLog } from '../process/open-log.ts';
import { topicSpecs } from '../process/topics.ts';

export interface RepartitionResult {
  readonly from: number;
  readonly to: number;
  /** Null: there was nothing to do. */
  readonly messages: number | null;
}

/** Group whose positions in the new log say how far the former one is copied. */
const copiesGroup = 'svc.log-copies';

/**
 * Copies the log of the settings to one with more partitions. The copy of an embedded log takes its place, and what was
 * derived from the former is removed; in Kafka the new topics have another prefix, and the former stay as they are. No
 * process of the service may run. A kill at any point leaves the former log or the new one; started again, it begins
 * again, or does nothing where it had ended.
 * @param prefix of the new topics; null for an embedded log
 * @throws GatewayError `conflict`, `invalid_request`
 */
export async function repartitionLog(
  config: Config,
  to: number,
  prefix: string | null,
  progress: Transfer['progress'],
): Promise<RepartitionResult> {
  const folders = foldersOf(config.dataDir);
  const isEmbedded = config.logUrl.kind === 'embedded';
  mustName(config, prefix);
  if (isEmbedded && !hasLog(folders)) {
    const message = `SVC_DATA_DIR: ${folders.log} has no event log. Name the data folder of a service.`;
    throw new GatewayError('invalid_request', { message });
  }
  const faultPoint = createFaultPoint(config.faultPoint);
  const repartitioned = await copyLog(config, to, prefix, (done) => {
    faultPoint('repartition:copying');
    progress(done);
  });
  if (isEmbedded && repartitioned.messages !== null) replaceLog(folders, faultPoint);
  return repartitioned;
}

/** @throws GatewayError `invalid_request` */
function mustName({ logUrl, topicPrefix }: Config, prefix: string | null): void {
  const isEmbedded = logUrl.kind === 'embedded';
  if (isEmbedded ? prefix === null : prefix !== null && prefix !== topicPrefix) return;
  const message = isEmbedded
    ? 'The topics of the embedded log have no prefix: name only the number of partitions.'
    : `Name the prefix of the new topics, another one than ${topicPrefix}: those of Kafka are copied to topics of their own.`;
  throw new GatewayError('invalid_request', { message });
}

/** Both logs are closed at the end. */
async function copyLog(
  config: Config,
  to: number,
  prefix: string | null,
  progress: Transfer['progress'],
): Promise<RepartitionResult> {
  await using stack = new AsyncDisposableStack();
  const folders = foldersOf(config.dataDir);
  const corruption = new LogCorruption(folders);
  const logger = createLogger(config.logLevel, 'log');
  const clock = systemClock;
  const openLog = async (partitions: number, topicPrefix: string, log: string) => {
    const deps = { folders: { ...folders, log }, corruption, clock, logger, node: randomUUID() };
    return openMainLog(stack, { ...config, partitions, topicPrefix }, deps).catch(
      (error: unknown) => {
        throw corruption.causeOf(error);
      },
    );
  };
  const former = await openLog(config.partitions, config.topicPrefix, folders.log);
  const from = await former.log.partitions(recordsTopic);
  if (from === to) return { from, to, messages: null };
  mustBeMultiple(from, to);
  const named = { ...former, version: version(), topics: topicSpecs(from) };
  const source = await openSource(named);
  const ends = await former.log.endOffsets(recordsTopic);
  const target = await openLog(to, prefix ?? config.topicPrefix, copying(folders.log));
  if (prefix !== null && (await isCopied(target.log, ends))) return { from, to, messages: null };
  const messages = await fillLog({ ...target, topics: topicSpecs(to), progress }, source);
  await source.mustHaveStood();
  const positions = ends.map((offset, partition) => ({ topic: recordsTopic, partition, offset }));
  await target.log.commit({ group: copiesGroup, positions });
  return { from, to, messages };
}

/** Whether a repartition has ended there: the last that it writes are these positions. */
async function isCopied(log: EventLog, ends: readonly number[]): Promise<boolean> {
  const copied = await log.committed(copiesGroup, recordsTopic).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === 'unknown_topic') return new Map();
    throw error;
  });
  return ends.every((end, partition) => copied.get(partition) === end);
}
