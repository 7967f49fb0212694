import type { TableDefinition } from '../../src/ports/projection-store.ts';

/** Progress of a projector; written after the rows. The highest revision applies. */
export const positionsTable: TableDefinition = {
  name: 'projector_positions',
  columns: [
    'name String',
    'log_partition UInt16',
    'next_offset UInt64',
    'owner_epoch UInt64',
    "at_end_at DateTime64(3, 'UTC')",
    'revision UInt64',
  ],
  engine: 'ReplacingMergeTree(revision)',
  orderBy: ['name', 'log_partition'],
  tokensKept: 0,
};
