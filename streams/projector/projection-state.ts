import type { Instant } from '#kernel/time.ts';

/**
 * `building`: reads the topic from its start; the first one of a new projection is read meanwhile. `ready`: has caught up and is fed. `active`: is read. `kept`: was
 * active before, and is fed so that it can be again. `failed`: its projector could not continue. `retiring`: its
 * tables are being dropped.
 */
export type GenerationState = 'building' | 'ready' | 'active' | 'kept' | 'failed' | 'retiring';

/** Progress of a projector in one partition. Offsets. */
export interface PartitionProgress {
  /** Start of the topic when the build began. */
  readonly start: number;
  readonly next: number;
  readonly end: number;
  readonly isCaughtUp: boolean;
}

/** Rows of one stream that differ between two generations. */
export interface Difference {
  readonly table: string;
  /** Number of the stream, as in the column `stream_id`. */
  readonly stream: string;
  readonly partition: number;
  readonly expectedRows: number;
  readonly foundRows: number;
  /** Highest positions. */
  readonly expectedLast: number;
  readonly foundLast: number;
}

/** Result of the comparison of one partition. */
export interface VerifiedPart {
  /** Offset up to which both generations were read for the comparison. */
  readonly position: number;
  readonly streams: number;
  /** Live records of the active generation, and of the other one. */
  readonly expectedRows: number;
  readonly foundRows: number;
  readonly differences: number;
  /** The first differences. */
  readonly examples: readonly Difference[];
}

export interface Verification {
  readonly id: string;
  /** The generation to compare with. */
  readonly against: number;
  readonly requestedAt: Instant;
  /** By partition. */
  readonly parts: Readonly<Record<string, VerifiedPart>>;
  /** Code of the error that ended it. */
  readonly failure: string | null;
}

/** One set of tables with its projector. */
export interface Generation {
  readonly number: number;
  readonly schemaVersion: number;
  readonly state: GenerationState;
  readonly isPaused: boolean;
  /** It becomes the active one when it has caught up. Absent: on request. */
  readonly switchesWhenReady?: true;
  /** Changes that the active one had rows of and this one failed to take when it had caught up: it did not switch. */
  readonly newFailures?: number;
  /** Share of the time that the build may take, in percent. */
  readonly pacePercent: number;
  readonly requestedAt: Instant;
  readonly readyAt: Instant | null;
  /** When it was last activated or deactivated. */
  readonly switchedAt: Instant | null;
  /** By partition, as last reported during the build. */
  readonly places: Readonly<Record<string, PartitionProgress>>;
  readonly rows: number;
  /** Code of the error that stopped its projector. */
  readonly failure: string | null;
  readonly verification: Verification | null;
}

/** Scope: `projections`. Path: [name]. Absent until the first command: `untouched`. */
export interface Projection {
  readonly name: string;
  /** The active generation. */
  readonly active: number;
  /** The highest number so far; none is reused. */
  readonly last: number;
  readonly partitions: number;
  readonly generations: readonly Generation[];
  readonly updatedAt: Instant;
}

/** A projection without commands: its tables are the first generation. */
export function untouched(name: string): Projection {
  const generation: Generation = {
    number: 1,
    schemaVersion: 1,
    state: 'active',
    isPaused: false,
    pacePercent: 100,
    requestedAt: 0,
    readyAt: null,
    switchedAt: null,
    places: {},
    rows: 0,
    failure: null,
    verification: null,
  };
  return { name, active: 1, last: 1, partitions: 0, generations: [generation], updatedAt: 0 };
}

export type VerificationState = 'running' | 'passed' | 'differs' | 'failed';

export function verificationState(
  { parts, failure }: Verification,
  partitions: number,
): VerificationState {
  if (failure !== null) return 'failed';
  const found = Object.values(parts);
  if (found.length < partitions) return 'running';
  return found.some(({ differences }) => differences > 0) ? 'differs' : 'passed';
}
