import { createSync } from 'svc';
import { z } from 'zod';

const Item = z.object({ id: z.string(), name: z.string().optional() });
const Part = z.object({ id: z.string() });

/** Loose on purpose: a test sends what a type checker would refuse. */
type Row = z.infer<typeof Item>;

type Step =
  | { readonly do: 'save' | 'update' | 'delete'; readonly rows: Row[]; readonly model?: 'Part' }
  | { readonly do: 'read'; readonly ids: string[] }
  | { readonly do: 'list' | 'metadata' | 'connection' | 'passStart' | 'passEnd' | 'deletePrevious' }
  | { readonly do: 'setMetadata' | 'updateMetadata'; readonly metadata: Record<string, unknown> }
  | { readonly do: 'log'; readonly args: unknown[] }
  | { readonly do: 'big'; readonly id: string; readonly bytes: number }
  | { readonly do: 'throw'; readonly message: string };

const sync = createSync({
  description: 'Does what the provider lists, step by step, and reports what it read',
  version: '1.0.0',
  frequency: 'every week',
  models: { Item, Part },
  exec: async (svc) => {
    const perform = async (step: Step): Promise<unknown> => {
      switch (step.do) {
        case 'passStart':
          return svc.trackDeletesStart('Item');
        case 'save':
          return svc.batchSave(step.rows, step.model ?? 'Item');
        case 'update':
          return svc.batchUpdate(step.rows, step.model ?? 'Item');
        case 'delete':
          return svc.batchDelete(step.rows, step.model ?? 'Item');
        case 'read':
          return Object.fromEntries(await svc.getRecordsById(step.ids, 'Item'));
        case 'list':
          return Array.fromAsync(svc.listRecords('Item'), ({ id }) => id);
        case 'metadata':
          return svc.getMetadata();
        case 'connection':
          return svc.getConnection();
        case 'setMetadata':
          return svc.setMetadata(step.metadata);
        case 'updateMetadata':
          return svc.updateMetadata(step.metadata);
        case 'log':
          return svc.log(...step.args);
        case 'big': {
          const rows = [{ id: 'beside' }, { id: step.id, name: 'x'.repeat(step.bytes) }];
          return svc.batchSave(rows, 'Item');
        }
        case 'passEnd':
          return svc.trackDeletesEnd('Item');
        case 'deletePrevious':
          // oxlint-disable-next-line typescript/no-deprecated -- it must work
          return svc.deleteRecordsFromPreviousExecutions('Item');
        case 'throw':
          throw new Error(step.message);
      }
    };
    const { data } = await svc.get<{ steps: Step[] }>({ endpoint: '/script' });
    for (const step of data.steps) {
      const result = await perform(step);
      await svc.post({ endpoint: '/results', data: { step: step.do, result: result ?? null } });
    }
  },
});

export default sync;
