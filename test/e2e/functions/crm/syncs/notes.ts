import { createSync } from 'svc';
import { z } from 'zod';

const Note = z.object({ id: z.string(), text: z.string(), variant: z.string() });

const sync = createSync({
  description: 'All notes, by the Link header; runs when a connection is made',
  version: '1.0.0',
  frequency: 'every 30 minutes',
  autoStart: true,
  models: { Note },
  exec: async (svc) => {
    const pages = svc.paginate<{ id: string; text: string }>({
      endpoint: '/notes',
      params: { folder: svc.variant },
      paginate: { type: 'link', link_rel_in_response_header: 'next' },
    });
    for await (const page of pages) {
      await svc.batchSave(
        page.map((note) => ({ ...note, variant: svc.variant })),
        'Note',
      );
    }
  },
});

export default sync;
