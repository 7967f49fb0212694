import type { Instant } from '#kernel/time.ts';
import type { AlertKind } from '../alert-destinations/state.ts';

/** A message to all destinations that want the kind. */
export interface Notice {
  readonly state: 'firing' | 'recovered';
  readonly count: number;
  readonly subjects: readonly string[];
  readonly at: Instant;
  /** Number of earlier tries. */
  readonly tries: number;
  /** Those that have not accepted it yet; null: none was tried. */
  readonly pending: readonly string[] | null;
}

/** Scope = environment uid; path [environment uid, kind]. */
export interface Alert {
  readonly environmentUid: string;
  readonly kind: AlertKind;
  /** What the alert is about now; 0: it does not fire. */
  readonly count: number;
  /** The names of some of them. */
  readonly subjects: readonly string[];
  /** Of the last change between firing and not firing. */
  readonly since: Instant;
  /** `count` of the last notice about the present failure; 0: there was none. */
  readonly noticedCount: number;
  /** Time of the last notice of a failure; null: there was none. */
  readonly noticedAt: Instant | null;
  /** The notice that is being sent. */
  readonly notice: Notice | null;
}
