import type * as values from '#streams/values.ts';

/** A value of `svc.logs.v1`. */
export type LogEntry = values.LogEntry;
