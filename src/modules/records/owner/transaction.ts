import { deadLettersTopic } from '#control-plane/message-codec.ts';
import { replyMessage } from '#control-plane/replies.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { GroupPositions, Message, PartitionMessages, Position } from '#ports/event-log.ts';
import { recordCommandsTopic } from '../model/commands.ts';
import { headsTopic, recordsTopic, reservedKey } from '../model/stream-head.ts';
import type { Round } from './decisions/round.ts';
import { recordOwnersGroup, type OwnerServices } from './deps.ts';
import type { Progress, StateStore } from './state/state-store.ts';
import { partitionHead, toHead, type HeadMeta } from './state/stream-state.ts';

/** A round as one transaction of the log. */
export interface Transaction {
  readonly batch: readonly PartitionMessages[];
  readonly positions: GroupPositions;
  /** Positions of the log after it. */
  reach(before: ReachedProgress, places: readonly Position[]): ReachedProgress;
  readonly reaches: ReachedProgress;
}

type ReachedProgress = Omit<Progress, 'atEndAt'>;

/** A round, the heads of the streams that it touched, and its last command. */
export interface DecidedRound {
  readonly round: Round;
  readonly heads: readonly Message[];
  readonly meta: HeadMeta;
}

const avroHeaders = { 'content-type': 'application/avro' };

export function transactionOf(
  services: OwnerServices,
  partition: number,
  { round, heads, meta }: DecidedRound,
): Omit<Transaction, 'reaches'> {
  const batch: PartitionMessages[] = [];
  const put = (topic: string, target: number, messages: readonly Message[]): void => {
    if (messages.length > 0) batch.push({ topic, partition: target, messages });
  };
  put(recordsTopic, partition, round.changes);
  put(headsTopic, partition, heads);
  batch.push(...repliesOf(services, partition, round));
  for (const deadLetter of round.deadLetters) {
    put(deadLettersTopic, partitionOf(deadLetter.key, services.deadLetterPartitions), [deadLetter]);
  }
  const next = { topic: recordCommandsTopic, partition, offset: meta.command + 1 };
  return {
    batch,
    positions: { group: recordOwnersGroup, positions: [next] },
    reach(before, places) {
      const changes = endOf(places, recordsTopic, round.changes.length) ?? before.changes;
      const headsEnd = endOf(places, headsTopic, heads.length) ?? before.heads;
      const { command, lastModifiedAt, epoch } = meta;
      const epochs = { changesEpoch: epoch, headsEpoch: epoch };
      return { command, lastModifiedAt, ...epochs, changes, heads: headsEnd };
    },
  };
}

/** The heads go into the state store in the same form, so that a restored one is equal. */
export function headsOf(
  { headCodec }: OwnerServices,
  round: Round,
  meta: HeadMeta,
  store: StateStore,
): Message[] {
  const heads: Message[] = [];
  for (const stream of round.touched) {
    const value = headCodec.encode(toHead(stream, meta));
    store.putHead(stream.no, value);
    heads.push({ key: stream.key, value, headers: avroHeaders });
  }
  if (heads.length > 0) return heads;
  // A command was decided without a stream: it was unreadable.
  return [{ key: reservedKey, value: headCodec.encode(partitionHead(meta)), headers: avroHeaders }];
}

function repliesOf(services: OwnerServices, partition: number, round: Round): PartitionMessages[] {
  return round.replies.map(({ commandId, node, answer }) => {
    const position = { partition, offset: 0 };
    const reply = replyMessage(services.replyCodec, services.replyPartitions, {
      commandId,
      node,
      place: position,
      answer: answer.outcome === 'done' ? { outcome: 'done', body: answer.body } : answer,
    });
    return { topic: reply.topic, partition: reply.partition, messages: [reply.message] };
  });
}

function endOf(places: readonly Position[], topic: string, count: number): number | undefined {
  const place = places.find((position) => position.topic === topic);
  return place === undefined ? undefined : place.offset + count;
}
