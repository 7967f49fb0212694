/**
 * Script that runs an action, a sync and a description in a discarded context. The isolate snapshot then contains
 * compiled code of the functions that nearly every run calls; a run that compiles them itself takes ten times as
 * long. Must not await anything that never resolves.
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
