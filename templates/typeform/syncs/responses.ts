import { createSync } from 'svc';
import { z } from 'zod';
import { nextSince } from '../../shared/since.js';
import { FormResponse, responseOf, type TypeformResponse } from '../response.js';

/** The list has a response up to half an hour after it was submitted. */
const delayMs = 60 * 60 * 1000;

const sync = createSync({
  description:
    'Completed responses of a form that were submitted since the last run; deleted ones are found by a run from the start',
  version: '1.0.1',
  frequency: 'every hour',
  autoStart: false,
  scopes: ['responses:read'],
  models: { FormResponse },
  metadata: z.object({ form_id: z.string() }),
  checkpoint: z.object({
    /** Of the responses that this run asks for, in seconds since the epoch; 0: all. */
    since: z.number(),
    nextSince: z.number().optional(),
    /** Later responses are saved: an interrupted run goes on before it. */
    before: z.string().optional(),
  }),

  exec: async (svc) => {
    const { form_id: formId } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const since = checkpoint?.since ?? 0;
    const next = checkpoint?.nextSince ?? Math.floor((nextSince() - delayMs) / 1000);
    // No list has what was deleted: what a run from the start does not find is gone.
    if (since === 0) await svc.trackDeletesStart('FormResponse');
    // The newest first: what is submitted meanwhile moves no other.
    for (let before = checkpoint?.before; ;) {
      const { data } = await svc.get<{ items: TypeformResponse[] }>({
        endpoint: `/forms/${formId}/responses`,
        params: { page_size: 1000, since: since === 0 ? undefined : since, before },
        retries: 5,
      });
      before = data.items.at(-1)?.token;
      if (before === undefined) break;
      await svc.batchSave(
        data.items.map((response) => responseOf(response, formId)),
        'FormResponse',
      );
      await svc.saveCheckpoint({ since, nextSince: next, before });
    }
    if (since === 0) await svc.trackDeletesEnd('FormResponse');
    await svc.saveCheckpoint({ since: next });
  },
});

export default sync;
