import { createSync } from 'svc';
import { z } from 'zod';
import { AirtableRecord, codeOf, recordOf, type AirtableApiRecord } from '../record.js';

/** Airtable forgets the position of a list that nobody asks for. */
const positionGone = 'LIST_RECORDS_ITERATOR_NOT_AVAILABLE';

/**
 * Everything each time: the time of the last change, which formulas can filter by, does not count changes of computed
 * fields, and no list has the deleted records.
 */
const sync = createSync({
  description: 'All records of a table; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: false,
  scopes: ['data.records:read'],
  models: { AirtableRecord },
  /** Ids, as in the address of the table: `https://airtable.com/app…/tbl…`. */
  metadata: z.object({ baseId: z.string(), tableId: z.string() }),
  /** The page at which an interrupted run goes on. */
  checkpoint: z.object({ offset: z.string() }),

  exec: async (svc) => {
    const { baseId, tableId } = await svc.getMetadata();
    await svc.trackDeletesStart('AirtableRecord');
    const checkpoint = await svc.getCheckpoint();
    const pages = svc.paginate<AirtableApiRecord>({
      endpoint: `/v0/${baseId}/${tableId}`,
      params: { offset: checkpoint?.offset },
      paginate: {
        type: 'cursor',
        cursor_name_in_request: 'offset',
        cursor_path_in_response: 'offset',
        response_path: 'records',
        limit_name_in_request: 'pageSize',
        limit: 100,
        on_page: async ({ nextPageParam: offset }) => {
          if (offset !== undefined) await svc.saveCheckpoint({ offset: String(offset) });
        },
      },
      retries: 5,
    });
    try {
      for await (const page of pages) {
        const records = page.map((record) => recordOf(record, tableId));
        await svc.batchSave(records, 'AirtableRecord');
      }
    } catch (error) {
      if (codeOf(error) !== positionGone) throw error;
      // The next run reads the table from its start.
      await svc.clearCheckpoint();
      return;
    }
    await svc.trackDeletesEnd('AirtableRecord');
    await svc.clearCheckpoint();
  },
});

export default sync;
