import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { isoMillis, isoMillisOrNull, type Instant } from '#kernel/time.ts';
import {
  verificationState,
  type Difference,
  type Generation,
  type Verification,
  type VerifiedPart,
} from '#streams/projector/projection-state.ts';
import type { GenerationFigures, PartitionFigures, ProjectionFigures } from './figures.ts';

const time = timestamp.nullable();
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Positions are offsets of the topic. */
const partition = representation<PartitionFigures>()({
  partition: z.int(),
  position: z.int(),
  end: z.int(),
  lag: [z.int(), ({ position, end }) => end - position],
});

const difference = representation<Difference>()({
  table: z.string().describe('Name of the table.'),
  partition: z.int(),
  stream: z.string().describe('The stream of records.'),
  expected_rows: z.int(),
  found_rows: z.int(),
  expected_last_position: [
    z.int().describe('Position of the last record, counted by the active generation.'),
    ({ expectedLast }) => expectedLast,
  ],
  found_last_position: [
    z.int().describe('Position of the last record, counted by the other generation.'),
    ({ foundLast }) => foundLast,
  ],
});

interface GenerationVerification {
  readonly verification: Verification;
  readonly parts: readonly VerifiedPart[];
  /** Number of partitions. */
  readonly partitions: number;
}

const verification = representation<GenerationVerification>()({
  id: [z.string().describe('Id of the verification.'), (one) => one.verification.id],
  state: [
    z.string().meta({ description: 'State of the verification.', examples: ['matched'] }),
    (one) => verificationState(one.verification, one.partitions),
  ],
  against: [
    z.int().describe('Number of the generation that it is compared with.'),
    (one) => one.verification.against,
  ],
  requested_at: [timestamp, (one) => isoMillis(one.verification.requestedAt)],
  failure: [z.string().nullable(), (one) => one.verification.failure],
  streams: [z.int(), ({ parts }) => sum(parts.map(({ streams }) => streams))],
  expected_rows: [z.int(), ({ parts }) => sum(parts.map(({ expectedRows }) => expectedRows))],
  found_rows: [z.int(), ({ parts }) => sum(parts.map(({ foundRows }) => foundRows))],
  differences: [
    z.int().describe('Number of streams that differ.'),
    ({ parts }) => sum(parts.map(({ differences }) => differences)),
  ],
  examples: [
    z.array(difference.schema).describe('Some of the differences.'),
    ({ parts }) => parts.flatMap(({ examples }) => examples.map(difference.of)),
  ],
});

interface ShownGeneration extends GenerationFigures {
  readonly position: number;
  readonly end: number;
  readonly speed: RebuildSpeed;
}

const generation = representation<ShownGeneration>()({
  generation: [z.int(), (one) => one.generation.number],
  state: [
    z.string().meta({ description: 'State of the generation.', examples: ['active'] }),
    (one) => one.generation.state,
  ],
  is_paused: [z.boolean().describe('Whether it is paused.'), (one) => one.generation.isPaused],
  schema_version: [z.int(), (one) => one.generation.schemaVersion],
  pace_percent: [
    z.number().describe('Share of the processor time that the rebuild may use.'),
    (one) => one.generation.pacePercent,
  ],
  tables: z.array(z.string()).describe('Names of its tables.'),
  rows: z.int(),
  bytes: z.int(),
  position: z.int(),
  end: z.int(),
  lag: [z.int(), ({ position, end }) => end - position],
  partitions: [z.array(partition.schema), ({ partitions }) => partitions.map(partition.of)],
  progress: [
    z.number().describe('Share of the log that it has read, from 0 to 1.'),
    ({ speed }) => speed.progress,
  ],
  rate_per_s: [
    z.number().nullable().describe('Messages per second; null while it is unknown.'),
    ({ speed }) => speed.perSecond,
  ],
  seconds_left: [
    z.number().nullable().describe('Estimated seconds to the end; null while it is unknown.'),
    ({ speed }) => speed.secondsLeft,
  ],
  requested_at: [
    time,
    ({ generation: { requestedAt } }) => (requestedAt === 0 ? null : isoMillis(requestedAt)),
  ],
  ready_at: [
    time.describe('Time at which it reached the end of the log (RFC 3339); null before.'),
    (one) => isoMillisOrNull(one.generation.readyAt),
  ],
  switched_at: [
    time.describe('Time from which it was read (RFC 3339); null before.'),
    (one) => isoMillisOrNull(one.generation.switchedAt),
  ],
  failure: [z.string().nullable(), (one) => one.generation.failure],
  new_failures: [
    z
      .int()
      .nullable()
      .describe(
        'Number of records that the active generation has rows of and this one failed to map: it does not replace the active one by itself. Null: nothing holds it back.',
      ),
    ({ generation: { state, newFailures } }) => (state === 'ready' ? (newFailures ?? null) : null),
  ],
  verification: [
    verification.schema.nullable().describe('Its last verification; null without one.'),
    ({ generation: { verification: found }, partitions: { length: partitions } }) =>
      found === null
        ? null
        : verification.of({ verification: found, parts: Object.values(found.parts), partitions }),
  ],
});

interface ShownProjection extends ProjectionFigures {
  readonly shown: readonly ReturnType<typeof generation.of>[];
  /** The active generation. */
  readonly active: ReturnType<typeof generation.of> | undefined;
}

const projection = representation<ShownProjection>()({
  name: [
    z.string().meta({ description: 'Name of the projection.', examples: ['records'] }),
    (one) => one.projection.name,
  ],
  topic: [z.string(), (one) => one.of.topic],
  active_generation: [
    z.int().describe('Number of the generation that is read.'),
    (one) => one.projection.active,
  ],
  schema_version: [z.int(), (one) => one.active?.schema_version ?? one.of.schemaVersion],
  latest_schema_version: [
    z.int().describe('Version of the schema that this release would build.'),
    (one) => one.of.schemaVersion,
  ],
  position: [z.int(), ({ active }) => active?.position ?? 0],
  end: [z.int(), ({ active }) => active?.end ?? 0],
  lag: [z.int(), ({ active }) => active?.lag ?? 0],
  rows: [z.int(), ({ active }) => active?.rows ?? 0],
  generations: [
    z
      .array(generation.schema.meta({ id: 'ProjectionGeneration' }))
      .describe('All generations that exist.'),
    ({ shown }) => shown,
  ],
});

const projectionShape = projection.schema.meta({ id: 'Projection' });
export const oneProjectionShape = data(projectionShape);
export const projectionsShape = data(z.array(projectionShape));

/** A projection: the active generation, and every generation beside it. Positions are offsets of the topic. */
export function presentProjection(figures: ProjectionFigures, now: Instant) {
  const shown = figures.generations.map((one) => {
    const { partitions } = one;
    return generation.of({
      ...one,
      position: sum(partitions.map(({ position }) => position)),
      end: sum(partitions.map(({ end }) => end)),
      speed: speedOf(one.generation, partitions, now),
    });
  });
  const active = shown.find((one) => one.generation === figures.projection.active);
  return projection.of({ ...figures, shown, active });
}

interface RebuildSpeed {
  /** From 0 to 1. */
  readonly progress: number;
  readonly perSecond: number | null;
  readonly secondsLeft: number | null;
}

/** Since the start of the build; null for a generation that is not being built. */
function speedOf(
  { state, requestedAt, isPaused }: Generation,
  partitions: readonly PartitionFigures[],
  now: Instant,
): RebuildSpeed {
  const done = sum(partitions.map(({ position, start }) => position - start));
  const all = sum(partitions.map(({ end, start }) => end - start));
  const progress = all === 0 ? 1 : done / all;
  if (state !== 'building') return { progress, perSecond: null, secondsLeft: null };
  const perSecond = done / Math.max(0.001, (now - requestedAt) / 1000);
  return {
    progress,
    perSecond: Math.round(perSecond),
    secondsLeft: isPaused || perSecond === 0 ? null : Math.ceil((all - done) / perSecond),
  };
}
