import type { FailedCall } from '#ports/sandbox.ts';
import type { SourcePosition } from './source-map.ts';

/** A line of the stack, in the user's source. */
export interface FailureFrame extends SourcePosition {
  /** Null at the top of a file, and of an anonymous function. */
  readonly function: string | null;
}

/** What is known of a failure beside its code and message (docs/reference/functions.md#failures). */
export interface FailureDetail {
  /** Class of the error. */
  readonly name: string;
  /** From where the error was made outwards. */
  readonly frames: readonly FailureFrame[];
  /** Lines around the first frame. */
  readonly excerpt: { readonly line: number; readonly lines: readonly string[] } | null;
  readonly causes: readonly {
    readonly name: string;
    readonly message: string;
    readonly code: string | null;
    readonly location: string | null;
  }[];
  readonly call: FailedCall | null;
}

/** `src/create.ts:12:5` */
export const placeText = ({ file, line, column }: SourcePosition): string =>
  `${file}:${line}:${column}`;

/** The place of the first frame; null without one. */
export function locationOf({ frames }: Pick<FailureDetail, 'frames'>): string | null {
  const [first] = frames;
  return first === undefined ? null : placeText(first);
}

/** The location in brackets behind a message; empty without one. */
export function locationSuffix(detail: Pick<FailureDetail, 'frames'> | null | undefined): string {
  const location = detail == null ? null : locationOf(detail);
  return location === null ? '' : ` (${location})`;
}

/** A failure in the format of the API. */
export function presentFailure({ name, frames, excerpt, causes, call }: FailureDetail) {
  return { name, location: locationOf({ frames }), excerpt, frames, causes, call };
}

export type ShownFailure = ReturnType<typeof presentFailure>;
