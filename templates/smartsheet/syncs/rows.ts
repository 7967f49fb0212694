import { createSync } from 'svc';
import { z } from 'zod';
import { nextSinceIso } from '../../shared/since.js';
import { rowOf, SmartsheetRow, type SmartsheetApiRow, type SmartsheetColumn } from '../row.js';

interface Sheet {
  columns: SmartsheetColumn[];
  rows?: SmartsheetApiRow[];
}

const sync = createSync({
  description:
    'Rows of a sheet that were changed since the last run; deleted ones are found by a run from the start',
  version: '1.0.0',
  frequency: 'every 15 minutes',
  autoStart: false,
  scopes: ['READ_SHEETS'],
  models: { SmartsheetRow },
  /** The id of the sheet, which its properties show. */
  metadata: z.object({ sheet: z.string() }),
  /** Of the rows that the next run asks for. */
  checkpoint: z.object({ since: z.string() }),

  exec: async (svc) => {
    const { sheet } = await svc.getMetadata();
    const since = (await svc.getCheckpoint())?.since;
    const next = nextSinceIso();
    // Those that a run from the start does not find are gone.
    if (since === undefined) await svc.trackDeletesStart('SmartsheetRow');
    // Without a page Smartsheet returns all rows.
    const { data } = await svc.get<Sheet>({
      endpoint: `/sheets/${encodeURIComponent(sheet)}`,
      params: { rowsModifiedSince: since },
      retries: 5,
    });
    await svc.batchSave(
      (data.rows ?? []).map((row) => rowOf(row, sheet, data.columns)),
      'SmartsheetRow',
    );
    if (since === undefined) await svc.trackDeletesEnd('SmartsheetRow');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
