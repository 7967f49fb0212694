import { createSync } from 'svc';
import { z } from 'zod';
import { nextSinceIso } from '../../shared/since.js';
import { sheetOf, SmartsheetSheet, type SmartsheetApiSheet } from '../sheet.js';

const sync = createSync({
  description:
    'Sheets that the person sees and that were changed since the last run; missing ones are deleted by a run from the start',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: true,
  scopes: ['READ_SHEETS'],
  models: { SmartsheetSheet },
  checkpoint: z.object({
    /** Of the sheets that this run asks for; empty: all. */
    since: z.string(),
    nextSince: z.string().optional(),
    /** The page at which an interrupted run goes on. */
    page: z.number().optional(),
  }),

  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? '';
    const next = checkpoint?.nextSince ?? nextSinceIso();
    // Those that a run from the start does not find are gone.
    if (since === '') await svc.trackDeletesStart('SmartsheetSheet');
    let page = checkpoint?.page ?? 1;
    const pages = svc.paginate<SmartsheetApiSheet>({
      endpoint: '/sheets',
      params: { modifiedSince: since || undefined },
      paginate: {
        type: 'offset',
        offset_name_in_request: 'page',
        offset_start_value: page,
        offset_calculation_method: 'per-page',
        response_path: 'data',
        limit_name_in_request: 'pageSize',
        limit: 500,
      },
      retries: 5,
    });
    for await (const sheets of pages) {
      await svc.batchSave(sheets.map(sheetOf), 'SmartsheetSheet');
      page += 1;
      await svc.saveCheckpoint({ since, nextSince: next, page });
    }
    if (since === '') await svc.trackDeletesEnd('SmartsheetSheet');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
