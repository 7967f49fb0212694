import { z } from 'zod';
import { schemaOf } from '#adapters/sandbox/guest/definition.ts';
import { quicklyValid } from '#adapters/sandbox/guest/quick-validate.ts';
import { protoKeysIn } from '#kernel/json-path.ts';

/**
 * Validation of a record that fits: the guest's quick check, the full check (JSON Schema of the model, by zod) and the
 * model itself by zod, in turns. `node test/bench/validation.ts`
 */
const model = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().optional(),
  status: z.enum(['open', 'closed', 'archived']),
  amount: z.number(),
  isActive: z.boolean(),
  owner: z.object({ id: z.string(), name: z.string().nullable() }),
  tags: z.array(z.string()),
  fields: z.record(z.string(), z.unknown()),
  createdAt: z.string(),
  updatedAt: z.string(),
});
const rowOf = (n: number) => ({
  id: `record-${n}`,
  name: `Person ${n}`,
  email: `person.${n}@customer.example`,
  status: (['open', 'closed', 'archived'] as const)[n % 3] ?? 'open',
  amount: n / 7,
  isActive: n % 2 === 0,
  owner: { id: `u${n % 50}`, name: n % 5 === 0 ? null : 'Owner' },
  tags: ['a', 'b', `t${n % 9}`],
  fields: { region: 'eu', score: n % 100, note: 'x'.repeat(60) },
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-02T00:00:00Z',
});
const rows = Array.from({ length: 1000 }, (_, n) => rowOf(n));
const full = z.fromJSONSchema(schemaOf(model, 'records'));
const stored = (row: unknown): unknown => JSON.parse(JSON.stringify(row));
type Check = (row: unknown) => boolean;
const checks: Readonly<Record<string, Check>> = {
  quick: (row) => quicklyValid(model, row),
  full: (row) => {
    const value = stored(row);
    return full.safeParse(value).success && protoKeysIn(value as never).length === 0;
  },
  model: (row) => model.safeParse(row).success,
};
const names = Object.keys(checks);
const times = new Map<string, number[]>(names.map((name) => [name, []]));
for (let round = 0; round < 41; round += 1) {
  for (const name of round % 2 === 0 ? names : names.toReversed()) {
    const before = process.cpuUsage();
    for (const row of rows) {
      if (checks[name]?.(row) !== true) throw new Error(`${name} refuses a record that fits`);
    }
    const { user, system } = process.cpuUsage(before);
    if (round > 5) times.get(name)?.push((user + system) / rows.length);
  }
}
for (const [name, all] of times) {
  const micros = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
  console.log(`${name}: ${micros.toFixed(2)} µs of processor time a record`);
}
