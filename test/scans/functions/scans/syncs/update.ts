import { createSync } from 'svc';
import { z } from 'zod';

const Row = z.object({ id: z.string(), revision: z.number(), text: z.string() });

const text = 'x'.repeat(100);
const perCall = 100;
const pauseMs = 40;

const sync = createSync({
  description: 'Updates records until its connection says that it is done; some stay as they are',
  version: '1.0.0',
  frequency: 'every week',
  autoStart: false,
  models: { Many: Row, Few: Row },
  metadata: z.object({
    many: z.number(),
    few: z.number(),
    still: z.number(),
    isUpdating: z.boolean().optional(),
    isDone: z.boolean().optional(),
  }),
  exec: async (svc) => {
    const rows = (prefix: string, count: number, revision: number) =>
      Array.from({ length: count }, (_, n) => ({ id: `${prefix}${n}`, revision, text }));
    const { many, few, still } = await svc.getMetadata();
    const sizes = [
      ['Many', many],
      ['Few', few],
    ] as const;
    for (const [model] of sizes) {
      await svc.batchSave(rows('kept-', still, 0), model);
      await svc.batchSave(rows('gone-', still, 0), model);
      await svc.batchDelete(rows('gone-', still, 0), model);
    }
    for (let revision = 0; ; revision += 1) {
      for (const [model, size] of sizes) {
        const all = rows('moved-', size, revision);
        // Few are read by small pages: a part of them at a time.
        const isPart = revision > 1 && model === 'Few';
        const changed = isPart ? all.filter((_, n) => n % 10 === revision % 10) : all;
        for (let at = 0; at < changed.length; at += perCall) {
          await svc.batchSave(changed.slice(at, at + perCall), model);
          if (revision > 1) await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
      }
      if (revision === 1) await svc.updateMetadata({ isUpdating: true });
      if ((await svc.getMetadata()).isDone === true) return;
    }
  },
});

export default sync;
