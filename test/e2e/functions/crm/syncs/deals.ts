import { createSync } from 'svc';
import { z } from 'zod';

const Deal = z.object({ id: z.number(), amount: z.number() });

const sync = createSync({
  description: 'All deals, by offset; what is gone at the provider is found by the service',
  version: '1.0.0',
  frequency: 'every day',
  // oxlint-disable-next-line typescript/no-deprecated -- deprecated, and still promised
  trackDeletes: true,
  models: { Deal: Deal.extend({ id: z.string() }) },
  exec: async (svc) => {
    const pages = svc.paginate<z.infer<typeof Deal>>({
      endpoint: '/deals',
      retries: 2,
      paginate: {
        type: 'offset',
        offset_name_in_request: 'offset',
        limit_name_in_request: 'limit',
        limit: 3,
        response_path: 'page.items',
      },
    });
    for await (const page of pages) {
      await svc.batchSave(
        page.map((deal) => ({ ...deal, id: String(deal.id) })),
        'Deal',
      );
    }
  },
});

export default sync;
