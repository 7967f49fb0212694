/**
 * Script that runs an action, a sync and a description in a context that is thrown away. The snapshot of an isolate then has
 * the functions of the runtime and of zod that nearly every run calls compiled: a run that began with compiling them from
 * their text took ten times as long. Awaits nothing that does not come.
 */
export const warmUp = `
  const { start, settle } = __svcStart(() => undefined, () => 'null');
  const order = (task, type, validation) => JSON.stringify({
    task, fileName: '', type, entry: 'exec', input: '{"id":"x","count":1}',
    context: { models: ['Item'], loggerLevel: 'warn', paginate: null, validation, lastSyncDate: null },
  });
  const bundle = (type) => (exports, require) => {
    const { z } = require('zod');
    const Item = z.object({
      id: z.string(),
      name: z.string().min(1).optional(),
      mail: z.email().nullable().optional(),
      count: z.number().int(),
      isOn: z.boolean().default(true),
      kind: z.enum(['a', 'b']).optional(),
      tags: z.array(z.union([z.string(), z.literal(1), z.null()])).optional(),
      more: z.record(z.string(), z.unknown()).optional(),
      any: z.any().optional(),
    });
    const exec = async (svc, input) => {
      if (type === 'sync') await svc.batchSave([{ id: 1 }], 'Item');
      await svc.getCheckpoint();
      return Item.parse(input);
    };
    exports.default = {
      type, exec, models: { Item }, input: Item, output: z.object({ id: z.string(), none: z.void() }),
    };
  };
  for (const [task, type, validation] of [
    ['run', 'action', 'warn'], ['run', 'sync', 'warn'], ['run', 'action', 'off'], ['describe', 'action', 'off'],
  ]) start(bundle(type), order(task, type, validation));
  for (let id = 1; id < 8; id++) settle('done', id, 'null', '');
`;
