import { createSync } from 'svc';
import { z } from 'zod';
import { nextSinceIso } from '../../shared/since.js';
import { sheetOf, SmartsheetSheet, type SmartsheetApiSheet } from '../sheet.js';

interface SheetPage {
  data: SmartsheetApiSheet[];
  /** At most as many as asked for. */
  pageSize: number;
  totalCount: number;
}

const sync = createSync({
  description:
    'Sheets that the person sees and that were changed since the last run; missing ones are deleted by a run from the start',
  version: '1.0.1',
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
    for (let page = checkpoint?.page ?? 1, hasMore = true; hasMore; page += 1) {
      const { data } = await svc.get<SheetPage>({
        endpoint: '/sheets',
        params: { modifiedSince: since || undefined, page, pageSize: 500 },
        retries: 5,
      });
      await svc.batchSave(data.data.map(sheetOf), 'SmartsheetSheet');
      // Beyond the last page Smartsheet returns the last one again.
      hasMore = page * data.pageSize < data.totalCount;
      if (hasMore) await svc.saveCheckpoint({ since, nextSince: next, page: page + 1 });
    }
    if (since === '') await svc.trackDeletesEnd('SmartsheetSheet');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
