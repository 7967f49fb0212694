/** What a customer needs, from figures that `capacity.ts` measured. Pure functions; `docs/capacity.md` explains the model. */
import { partitionsOf, topics } from '#streams/topics.ts';

export const units = ['record', 'run', 'webhookIn', 'webhookOut', 'proxied'] as const;
export type Unit = (typeof units)[number];

/** Of one unit: microseconds of one core, messages and bytes. Offsets count as messages, so markers of transactions do. */
export interface Cost {
  readonly gatewayUs: number;
  /** What one more gateway process spends because it reads the topics that every process reads. */
  readonly followerUs: number;
  readonly kafkaUs: number;
  readonly clickhouseUs: number;
  readonly messages: number;
  readonly topicBytes: number;
  readonly clickhouseBytes: number;
}

/** Measured with this number of gateway processes; `idle` is in ms of one core per second, of all processes together. */
export interface Measured {
  readonly gateways: number;
  readonly idle: { readonly gatewayMs: number; readonly kafkaMs: number };
  readonly units: Readonly<Record<Unit, Cost>>;
}

export interface Figures {
  /** Ascending; the first is of one process. */
  readonly sizes: readonly Measured[];
}

/** Units per day, and the records that are stored. */
export type Load = Readonly<Record<Unit, number>> & { readonly stored: number };

/** Of one installation, unless it says otherwise. */
export interface Plan {
  /** Separate installations, each with an equal part of the environments. */
  readonly installations: number;
  readonly nodes: number;
  readonly partitions: number;
  readonly partitionReplicas: number;
  readonly brokers: number;
  readonly kafkaTb: number;
  readonly clickhouseCores: number;
  readonly clickhouseTb: number;
  /** What a larger load exceeds first; null while less than a tenth of every limit is used. */
  readonly limit: Limit | null;
}

export type Limit = 'ClickHouse' | 'following' | 'nodes' | 'Kafka';

/** What the plans assume beside the figures; the page lists them. */
export const assumptions = {
  peakFactor: 3,
  busyShare: 0.6,
  nodeCores: 4,
  nodesMax: 1_000,
  brokerCores: 8,
  brokersMax: 60,
  replicasPerBroker: 4_000,
  clickhouseCores: 64,
  replication: 3,
  historyDays: 28,
  partitionsMin: 24,
  /** An owner decides on one thread, beside encryption and the rest of its process. */
  ownerShare: 0.5,
} as const;

const daySeconds = 86_400;

function first({ sizes: [one] }: Figures): Measured {
  if (one === undefined) throw new Error('There are no figures.');
  return one;
}

/** What one more process spends on following a unit: the mean over all sizes, because it is small beside the noise. */
export function followerUs({ sizes }: Figures, unit: Unit): number {
  return sizes.reduce((sum, size) => sum + size.units[unit].followerUs, 0) / sizes.length;
}

/** Processor time of all gateways for one unit, with this number of processes. */
export function gatewayUs(figures: Figures, unit: Unit, gateways: number): number {
  return first(figures).units[unit].gatewayUs + (gateways - 1) * followerUs(figures, unit);
}

/** Per second at the peak of the day. */
const peak = (perDay: number): number => (perDay * assumptions.peakFactor) / daySeconds;

const summed = (load: Load, part: number, of: (unit: Unit) => number): number =>
  units.reduce((sum, unit) => sum + (load[unit] / part) * of(unit), 0);

/** Cores at the peak. */
const coresOf = (load: Load, part: number, us: (unit: Unit) => number): number =>
  peak(summed(load, part, us)) / 1e6;

/** What the broker spends on each process that rests, in cores. */
export function restingKafka({ sizes }: Figures): number {
  const [one, last] = [sizes[0], sizes.at(-1)];
  if (one === undefined || last === undefined || one === last) return 0;
  const ms = (last.idle.kafkaMs - one.idle.kafkaMs) / (last.gateways - one.gateways);
  return Math.max(0, ms) / 1000;
}

/** The smallest number of equal installations of which none exceeds a limit. */
export function plan(figures: Figures, load: Load): Plan {
  for (let installations = 1; ; installations++) {
    const one = installation(figures, load, installations);
    if (one.shares.every(([, share]) => share <= 1)) {
      const [limit, share] = one.shares.reduce((most, each) => (each[1] > most[1] ? each : most));
      return { installations, ...one.needs, limit: share < 0.1 ? null : limit };
    }
  }
}

function installation(figures: Figures, load: Load, part: number) {
  const { idle, units: cost } = first(figures);
  const usable = assumptions.nodeCores * assumptions.busyShare;
  const following = coresOf(load, part, (unit) => followerUs(figures, unit));
  const idleCores = idle.gatewayMs / 1000;
  const left = usable - following - idleCores;
  const own = coresOf(load, part, (unit) =>
    Math.max(0, cost[unit].gatewayUs - followerUs(figures, unit)),
  );
  // Two, so that one may fail.
  const nodes = Math.max(2, Math.ceil(own / Math.max(left, 1e-9)));

  const perPartition = (1e6 / cost.record.gatewayUs) * assumptions.ownerShare;
  const wanted = Math.max(
    peak(load.record / part) / perPartition,
    nodes,
    assumptions.partitionsMin,
  );
  const partitions = Math.ceil(wanted / 12) * 12;
  const all = Object.values(topics).reduce(
    (sum, topic) => sum + partitionsOf(topic, partitions),
    0,
  );
  const partitionReplicas = all * assumptions.replication;

  const kafkaWork = coresOf(load, part, (unit) => cost[unit].kafkaUs) * assumptions.replication;
  const kafkaCores = kafkaWork + restingKafka(figures) * nodes;
  const brokers = Math.max(
    assumptions.replication,
    Math.ceil(kafkaCores / (assumptions.brokerCores * assumptions.busyShare)),
    Math.ceil(partitionReplicas / assumptions.replicasPerBroker),
  );
  const kept = assumptions.historyDays * assumptions.replication;
  const kafkaTb = (summed(load, part, (unit) => cost[unit].topicBytes) * kept) / 1e12;
  const clickhouseCores = Math.ceil(
    coresOf(load, part, (unit) => cost[unit].clickhouseUs) / assumptions.busyShare,
  );
  const clickhouseTb = ((load.stored / part) * cost.record.clickhouseBytes) / 1e12;

  const shares: readonly (readonly [Limit, number])[] = [
    ['ClickHouse', clickhouseCores / assumptions.clickhouseCores],
    // Beyond half of a node, more nodes bring little.
    ['following', following / (usable / 2)],
    ['nodes', nodes / assumptions.nodesMax],
    ['Kafka', brokers / assumptions.brokersMax],
  ];
  const needs = {
    nodes,
    partitions,
    partitionReplicas,
    brokers,
    kafkaTb,
    clickhouseCores,
    clickhouseTb,
  };
  return { needs, shares };
}

/** Runs per second at which a node spends half of its cores on following the others, however many nodes there are. */
export function followedRunsMax(figures: Figures): number {
  const us = followerUs(figures, 'run');
  return us === 0 ? Infinity : (assumptions.nodeCores * assumptions.busyShare * 0.5 * 1e6) / us;
}

/** Changed records per second that one ClickHouse server takes. */
export const recordsPerServer = (figures: Figures): number =>
  (assumptions.clickhouseCores * assumptions.busyShare * 1e6) /
  first(figures).units.record.clickhouseUs;

/** Changed records per second that one partition takes. */
export const recordsPerPartition = (figures: Figures): number =>
  (1e6 / first(figures).units.record.gatewayUs) * assumptions.ownerShare;

/** Syncs that find 1,000 changed records each, a webhook of each, and some calls. */
export function mixOf(recordsPerDay: number): Load {
  const run = recordsPerDay / 1_000;
  return {
    record: recordsPerDay,
    run,
    webhookIn: run / 10,
    webhookOut: run,
    proxied: run * 10,
    stored: recordsPerDay * 10,
  };
}
