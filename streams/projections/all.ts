import type { AnyAppendedProjection } from './appended.ts';
import type { ProjectionTables } from './define.ts';
import { audit } from './audit.ts';
import { logs } from './logs.ts';
import { records } from './records.ts';
import { runs } from './runs.ts';

/** Those of one row a message. */
export const appendedProjections: readonly AnyAppendedProjection[] = [logs, runs, audit];

/** Every projection of the service. */
export const projections: readonly ProjectionTables[] = [records, ...appendedProjections];
