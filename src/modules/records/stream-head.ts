import type { Micros } from '../../kernel/time.ts';

export const recordsTopic = 'svc.records.v1';
export const headsTopic = 'svc.internal.streams.v1';

/** Key of the message that raises the epoch of a partition without a stream; also the filler's key. */
export const reservedKey = '-';

/**
 * The changes of a run in a stream.
 * @see schemas/records/stream-head.v1.avsc
 */
export interface StreamRun {
  readonly run_id: string;
  readonly attempt: number;
  readonly last_n: number;
  readonly answer: string | null;
  readonly added: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly failures: readonly string[];
  readonly keep_newer_than: number | null;
  readonly own_positions: readonly number[];
  readonly last_at: Micros;
}

/** A pass of delete tracking in the head. */
export interface PassValue {
  readonly pass_id: string;
  readonly sync_name: string | null;
  readonly run_id: string | null;
  readonly attempt: number;
  readonly is_ended: boolean;
  readonly is_of_run: boolean;
  readonly start_position: number;
  readonly marks: Uint8Array;
  readonly marks_offset: number;
  readonly is_lost: boolean;
}

/** A value of `svc.internal.streams.v1`. */
export interface StreamHeadValue {
  readonly owner_epoch: number;
  readonly command_offset: number;
  readonly environment_id: string;
  readonly integration: string;
  readonly connection_id: string;
  readonly connection_uid: string;
  readonly model: string;
  readonly variant: string;
  readonly generation: string;
  readonly stream_seq: number;
  readonly last_modified_at: Micros;
  readonly is_closed: boolean;
  readonly last_run_at: Micros | null;
  readonly runs: readonly StreamRun[];
  readonly passes: readonly PassValue[];
  readonly job: string | null;
}
