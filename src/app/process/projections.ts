import { audit } from '#modules/access/audit/projection.ts';
import { runs } from '#modules/functions/runs/ledger/projection.ts';
import { logs } from '#modules/operations/logs/projection.ts';
import { records } from '#modules/records/projection/definition.ts';
import type { AnyAppendedProjection } from '#streams/projector/appended.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';

/** Projections with one row per message. */
export const appendedProjections: readonly AnyAppendedProjection[] = [logs, runs, audit];

/** Every projection of the service. */
export const projections: readonly ProjectionTables[] = [records, ...appendedProjections];
