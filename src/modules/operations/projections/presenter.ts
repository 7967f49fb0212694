import { isoMillis, type Instant } from '../../../kernel/time.ts';
import type { GenerationFigures, PartitionFigures, ProjectionFigures } from './figures.ts';
import type { Generation, Verification } from '../../../../streams/projector/projection-state.ts';
import { verificationState } from '../../../../streams/projector/projection-state.ts';

const time = (at: Instant | null): string | null => (at === null ? null : isoMillis(at));
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
    requested_at: generation.requestedAt === 0 ? null : time(generation.requestedAt),
    ready_at: time(generation.readyAt),
    switched_at: time(generation.switchedAt),
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
