import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { isoMillis, type Instant } from '../../../kernel/time.ts';
import type { GenerationFigures, PartitionFigures, ProjectionFigures } from './figures.ts';
import {
  type Generation,
  type Verification,
  verificationState,
} from '../../../../streams/projector/projection-state.ts';

const time = timestamp.nullable();
const position = { position: z.int(), end: z.int(), lag: z.int() };

const difference = z.strictObject({
  table: z.string(),
  partition: z.int(),
  stream: z.string(),
  expected_rows: z.int(),
  found_rows: z.int(),
  expected_last_position: z.int(),
  found_last_position: z.int(),
});

const verificationShape = z.strictObject({
  id: z.string(),
  state: z.string().meta({ examples: ['matched'] }),
  against: z.int(),
  requested_at: timestamp,
  failure: z.string().nullable(),
  streams: z.int(),
  expected_rows: z.int(),
  found_rows: z.int(),
  differences: z.int(),
  examples: z.array(difference),
});

const generationShape = z
  .strictObject({
    generation: z.int(),
    state: z.string().meta({ examples: ['active'] }),
    is_paused: z.boolean(),
    schema_version: z.int(),
    pace_percent: z.number(),
    tables: z.array(z.string()),
    rows: z.int(),
    bytes: z.int(),
    ...position,
    partitions: z.array(z.strictObject({ partition: z.int(), ...position })),
    progress: z.number(),
    rate_per_s: z.number().nullable(),
    seconds_left: z.number().nullable(),
    requested_at: time,
    ready_at: time,
    switched_at: time,
    failure: z.string().nullable(),
    verification: verificationShape.nullable(),
  })
  .meta({ id: 'ProjectionGeneration' });

const projectionShape = z
  .strictObject({
    name: z.string().meta({ examples: ['records'] }),
    topic: z.string(),
    active_generation: z.int(),
    schema_version: z.int(),
    latest_schema_version: z.int(),
    ...position,
    rows: z.int(),
    generations: z.array(generationShape),
  })
  .meta({ id: 'Projection' });

export const oneProjectionShape = data(projectionShape);
export const projectionsShape = data(z.array(projectionShape));

const isoOrNull = (at: Instant | null): string | null => (at === null ? null : isoMillis(at));
const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** A projection: the active generation, and every generation beside it. Positions are offsets of the topic. */
export function presentProjection(
  { of: projectionTables, projection, generations }: ProjectionFigures,
  now: Instant,
) {
  const { name, active, partitions } = projection;
  const shown = generations.map((one) => presentGeneration(one, partitions, now));
  const read = shown.find(({ generation }) => generation === active);
  return {
    name,
    topic: projectionTables.topic,
    active_generation: active,
    schema_version: read?.schema_version ?? projectionTables.schemaVersion,
    latest_schema_version: projectionTables.schemaVersion,
    position: read?.position ?? 0,
    end: read?.end ?? 0,
    lag: read?.lag ?? 0,
    rows: read?.rows ?? 0,
    generations: shown,
  };
}

function presentGeneration(figures: GenerationFigures, partitions: number, now: Instant) {
  const { generation, tables, rows, bytes } = figures;
  const { number, schemaVersion, state, isPaused, pacePercent, failure, verification } = generation;
  return {
    generation: number,
    state,
    is_paused: isPaused,
    schema_version: schemaVersion,
    pace_percent: pacePercent,
    tables,
    rows,
    bytes,
    ...presentPlaces(figures.partitions),
    ...speedOf(generation, figures.partitions, now),
    requested_at: generation.requestedAt === 0 ? null : isoOrNull(generation.requestedAt),
    ready_at: isoOrNull(generation.readyAt),
    switched_at: isoOrNull(generation.switchedAt),
    failure,
    verification: verification === null ? null : presentVerification(verification, partitions),
  };
}

function presentPlaces(partitions: readonly PartitionFigures[]) {
  const position = sum(partitions.map((one) => one.position));
  const end = sum(partitions.map((one) => one.end));
  return {
    position,
    end,
    lag: end - position,
    partitions: partitions.map((one) => ({
      partition: one.partition,
      position: one.position,
      end: one.end,
      lag: one.end - one.position,
    })),
  };
}

/** Since the start of the build; null for a generation that is not being built. */
function speedOf(
  { state, requestedAt, isPaused }: Generation,
  partitions: readonly PartitionFigures[],
  now: Instant,
) {
  const done = sum(partitions.map(({ position, start }) => position - start));
  const all = sum(partitions.map(({ end, start }) => end - start));
  const progress = all === 0 ? 1 : done / all;
  if (state !== 'building') return { progress, rate_per_s: null, seconds_left: null };
  const perSecond = done / Math.max(0.001, (now - requestedAt) / 1000);
  return {
    progress,
    rate_per_s: Math.round(perSecond),
    seconds_left: isPaused || perSecond === 0 ? null : Math.ceil((all - done) / perSecond),
  };
}

function presentVerification(verification: Verification, partitions: number) {
  const { id, against, requestedAt, failure } = verification;
  const parts = Object.values(verification.parts);
  return {
    id,
    state: verificationState(verification, partitions),
    against,
    requested_at: isoMillis(requestedAt),
    failure,
    streams: sum(parts.map((part) => part.streams)),
    expected_rows: sum(parts.map((part) => part.expectedRows)),
    found_rows: sum(parts.map((part) => part.foundRows)),
    differences: sum(parts.map((part) => part.differences)),
    examples: parts
      .flatMap((part) => part.examples)
      .map((one) => ({
        table: one.table,
        partition: one.partition,
        stream: one.stream,
        expected_rows: one.expectedRows,
        found_rows: one.foundRows,
        expected_last_position: one.expectedLast,
        found_last_position: one.foundLast,
      })),
  };
}
