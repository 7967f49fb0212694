import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/stable-json.ts';
import { addressOf } from '#modules/extensions/typed-topics/names.ts';
import { models } from '#test/support/judges/crash-model.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { expectEachOnce, readTypedTopic, tableOf } from '#test/support/judges/typed-topic.ts';
import { askChild, startChild } from '#test/support/processes/child.ts';

const seed = seedOfRun();
console.log(`typed topics, killed: SVC_TEST_SEED=${seed}`);

const child = './typed-child.ts';
const rounds = roundsOf({ push: 2, all: 6 });
const shape = {
  type: 'object',
  properties: { id: { type: 'string' }, value: { type: 'integer' } },
};
const schema: JsonObject = {
  definitions: Object.fromEntries(models.map((model) => [model, shape])),
};

interface Told {
  readonly model: string;
  readonly live: readonly { readonly id: string; readonly value?: number }[];
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-typed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Writes until the process kills itself at the point, or is killed after some time. */
async function writeUntilKilled(round: number, point: string | null, afterMs: number) {
  const env = point === null ? {} : { SVC_TEST_FAULT_POINT: point };
  const writer = startChild(child, ['write', folder, seed, round], env);
  let timer: NodeJS.Timeout | undefined;
  for await (const line of writer.lines) {
    if (line['ready'] === true && point === null) {
      timer = setTimeout(() => writer.process.kill('SIGKILL'), afterMs);
    }
  }
  clearTimeout(timer);
  expect(await writer.ended, writer.errors.join('\n')).toBe('SIGKILL');
}

async function judge(round: number): Promise<number> {
  const told = await askChild<Told[]>(child, folder, ['settle', folder, seed, round]);
  let messages = 0;
  for (const { model, live } of told) {
    const of = { address: addressOf('dev', 'crm', model), model, models: schema };
    const found = await readTypedTopic(folder, of);
    expectEachOnce(found);
    const rows = [...tableOf(found.messages).values()];
    const shown = (id: unknown, value: unknown) => JSON.stringify([id, value ?? null]);
    expect(rows.map((row) => shown(row!['id'], row!['value'])).sort()).toEqual(
      live.map(({ id, value }) => shown(id, value)).sort(),
    );
    messages += found.messages.length;
  }
  return messages;
}

describe('typed topics of a node killed with SIGKILL', () => {
  it('publish each change once, wherever the gateway dies', { timeout: 600_000 }, async () => {
    const random = seeded(seed);
    let messages = 0;
    for (let round = 1; round <= rounds; round++) {
      const side = random.pick(['before', 'after', null] as const);
      // The first deaths are while the topic is filled, later ones while it follows.
      const nth = 1 + random.int(2 * round <= rounds ? 6 : 30);
      const point = side === null ? null : `typed-topics:${side}-commit@${nth}`;
      await writeUntilKilled(round, point, 100 + random.int(1_000));
      const now = await judge(round);
      expect(now).toBeGreaterThanOrEqual(messages);
      messages = now;
    }
    expect(messages).toBeGreaterThan(0);
  });
});
