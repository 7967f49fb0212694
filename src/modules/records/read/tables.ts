/** The tables of one generation of the records projection (src/modules/records/projection/definition.ts). */
export interface RecordTables {
  readonly generation: number;
  /** One row per position: pages. */
  readonly records: string;
  /** Which positions are dead. */
  readonly segments: string;
  /** The place of a record, by its id. */
  readonly byId: string;
  /** Every change of a record, and its place in the log. */
  readonly history: string;
  /** Which environment, connection, model and variant a stream has, by its number. */
  readonly streams: string;
}

/** Of a change that was projected by a release without offsets. */
export const unknownOffset = -1;

/**
 * The first generation has the plain names; the names of others contain their number. The copies for a comparison of a
 * generation have names of their own.
 */
export function recordTables(generation: number, use: 'read' | 'compare' = 'read'): RecordTables {
  const number = generation === 1 ? '' : `_g${generation}`;
  const suffix = use === 'compare' ? `${number}_compared` : number;
  return {
    generation,
    records: `records${suffix}`,
    segments: `stream_segments${suffix}`,
    byId: `records_by_id${suffix}`,
    history: `record_history${suffix}`,
    streams: `record_streams${suffix}`,
  };
}
