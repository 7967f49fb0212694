import type { Instant } from '#kernel/time.ts';
import type {
  Generation,
  PartitionProgress,
  VerifiedPart,
} from '#streams/projector/projection-state.ts';

interface OfGeneration {
  readonly generation: number;
  readonly at: Instant;
}

interface Exchange {
  /** The previously active generation. */
  readonly from: number;
  /** The active generation. */
  readonly to: number;
  readonly at: Instant;
}

export type ProjectionEvent =
  /** Of a projection whose first generation is read while it is built. */
  | {
      readonly type: 'ProjectionBegun';
      readonly name: string;
      readonly partitions: number;
      readonly generation: Generation;
      readonly at: Instant;
    }
  | {
      readonly type: 'GenerationRequested';
      readonly name: string;
      readonly partitions: number;
      readonly generation: Generation;
      readonly at: Instant;
    }
  | ({
      readonly type: 'GenerationProgressed';
      readonly places: Readonly<Record<string, PartitionProgress>>;
      readonly rows: number;
    } & OfGeneration)
  | ({
      readonly type: 'GenerationCaughtUp';
      /** Absent: it was not compared, or none. */
      readonly newFailures?: number;
    } & OfGeneration)
  | ({ readonly type: 'GenerationFailed'; readonly code: string } & OfGeneration)
  | ({
      readonly type: 'VerificationRequested';
      readonly name: string;
      readonly id: string;
      readonly against: number;
    } & OfGeneration)
  | ({
      readonly type: 'PartsVerified';
      readonly parts: Readonly<Record<string, VerifiedPart>>;
    } & OfGeneration)
  | ({ readonly type: 'VerificationFailed'; readonly code: string } & OfGeneration)
  | ({ readonly type: 'Switched' } & Exchange)
  | ({ readonly type: 'RolledBack' } & Exchange)
  | ({ readonly type: 'GenerationPaused'; readonly name: string } & OfGeneration)
  | ({ readonly type: 'GenerationResumed'; readonly name: string } & OfGeneration)
  | ({ readonly type: 'RetirementBegun' } & OfGeneration)
  | ({ readonly type: 'GenerationRetired' } & OfGeneration)
  /** Its definition was deleted, and with it every generation. */
  | { readonly type: 'ProjectionForgotten'; readonly at: Instant };
