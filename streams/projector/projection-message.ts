import type { PublicFields } from '../../src/kernel/public-fields.ts';
import type { Projection, Verification } from './projection-state.ts';
import { verificationState } from './projection-state.ts';

export const projectionsTopic = 'svc.projections.v1';

/** A generation, with what projectors and readers need. */
export interface PublishedGeneration {
  readonly generation: number;
  readonly schema_version: number;
  /** As `GenerationState`; an open set. */
  readonly state: string;
  readonly is_paused: boolean;
  readonly pace_percent: number;
  /** When it was last activated or deactivated, µs. */
  readonly switched_at: number | null;
  /** Set while it must be compared with `active_generation`. */
  readonly verification_id: string | null;
}

/**
 * Fields of a value of `svc.projections.v1` besides the common ones: the full state, because the topic is
 * compacted.
 */
export interface PublishedProjection {
  readonly action: string;
  readonly schema_version: number;
  /** The generation that the action is about. */
  readonly generation: number;
  /** By partition, the next offset to read. */
  readonly position: Readonly<Record<string, number>>;
  readonly end_position: Readonly<Record<string, number>>;
  readonly rows: number;
  readonly active_generation: number;
  readonly generations: readonly PublishedGeneration[];
}

export type ProjectionMessage = PublicFields & PublishedProjection;

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
