import type * as values from '#streams/values.ts';

export const recordsTopic = 'svc.records.v1';
export const headsTopic = 'svc.internal.streams.v1';

/** Key of the message that raises the epoch of a partition without a stream; also the filler's key. */
export const reservedKey = '-';

/** The changes of a run in a stream. */
export type StreamRun = values.StreamRun;

/** A value of `svc.internal.streams.v1`. */
export type StreamHeadValue = values.StreamHead;
