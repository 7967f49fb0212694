import { createSync } from 'svc';
import { z } from 'zod';

const Company = z.object({ id: z.string(), name: z.string(), domains: z.array(z.string()) });

const sync = createSync({
  description: 'Companies, by numbered pages',
  version: '1.0.0',
  frequency: 'every 6 hours',
  autoStart: true,
  models: { Company },

  exec: async (svc) => {
    const pages = svc.paginate<{ id: number; name: string; domains: string[] }>({
      endpoint: '/api/v2/companies',
      paginate: {
        type: 'offset',
        offset_name_in_request: 'page',
        offset_start_value: 1,
        offset_calculation_method: 'per-page',
        limit_name_in_request: 'per_page',
        limit: 2,
      },
      retries: 3,
    });
    for await (const companies of pages) {
      const rows = companies.map(({ id, name, domains }) => ({ id: String(id), name, domains }));
      await svc.batchSave(rows, 'Company');
    }
  },
});

export default sync;
