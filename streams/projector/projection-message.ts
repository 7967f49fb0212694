import type * as values from '../values.ts';
import type { Projection, Verification } from './projection-state.ts';
import { verificationState } from './projection-state.ts';

export const projectionsTopic = 'svc.projections.v1';

/** A generation, with what projectors and readers need; `state` as `GenerationState`, an open set. */
export type PublishedGeneration = values.ProjectionGeneration;

/** A value of `svc.projections.v1`: the full state, because the topic is compacted. */
export type ProjectionMessage = values.ProjectionChanged;

/** The same without the common fields. */
export type PublishedProjection = values.PublishedValues['svc.projections.v1'];

export function messageOf(
  projection: Projection,
  action: string,
  subject: number,
): PublishedProjection {
  const about = projection.generations.find(({ number }) => number === subject);
  const places = Object.entries(about?.places ?? {});
  return {
    action,
    schema_version: about?.schemaVersion ?? 0,
    generation: subject,
    position: Object.fromEntries(places.map(([at, { next }]) => [at, next])),
    end_position: Object.fromEntries(places.map(([at, { end }]) => [at, end])),
    rows: about?.rows ?? 0,
    active_generation: projection.active,
    generations: projection.generations.map((one) => ({
      generation: one.number,
      schema_version: one.schemaVersion,
      state: one.state,
      is_paused: one.isPaused,
      pace_percent: one.pacePercent,
      switched_at: one.switchedAt === null ? null : one.switchedAt * 1000,
      verification_id: awaited(one.verification, projection.partitions),
    })),
  };
}

function awaited(verification: Verification | null, partitions: number): string | null {
  if (verification === null) return null;
  return verificationState(verification, partitions) === 'running' ? verification.id : null;
}
