/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access --
   a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';
import { openSmallDisk, type SmallDisk } from '#test/support/processes/small-disk.ts';
import { eventually, succeeded } from '#test/support/worlds/crm-world.ts';

let disk: SmallDisk;
let gateway: RunningGateway;
/** Names of the variables whose creation was acknowledged. */
const acknowledged: string[] = [];

beforeAll(async () => {
  disk = await openSmallDisk(192);
  gateway = await startGateway({ dataDir: disk.folder, within: disk.within });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await disk[Symbol.asyncDispose]();
});

async function create() {
  const name = `V_${randomUUID().replaceAll('-', '_')}`;
  const answer = await gateway.call('PUT', `/environment-variables/${name}`, {
    body: { value: name },
  });
  if (answer.status === 200) acknowledged.push(name);
  return answer;
}

async function listed(): Promise<string[]> {
  const found = succeeded(await gateway.call('GET', '/environment-variables'));
  return (found as { name: string }[]).map(({ name }) => name).sort();
}

describe('the embedded log on a full disk', () => {
  it('refuses writes with the reason, and goes on answering reads', async () => {
    for (let at = 0; at < 5; at += 1) expect((await create()).status).toBe(200);
    await disk.fill();
    const refused = await eventually(create, ({ status }) => status !== 200);
    expect(refused.status).toBe(503);
    expect(refused.body.error).toMatchObject({
      code: 'log_full',
      message: expect.stringMatching(/disk/i),
    });
    expect(await listed()).toEqual([...acknowledged].sort());
    expect((await gateway.call('GET', '/health', { key: null })).status).toBe(200);
  });

  it('takes writes again when there is space, without a restart, and has lost none', async () => {
    await disk.free();
    const before = acknowledged.length;
    await eventually(create, ({ status }) => status === 200);
    for (let at = 0; at < 5; at += 1) expect((await create()).status).toBe(200);
    expect(acknowledged).toHaveLength(before + 6);
    expect(await listed()).toEqual([...acknowledged].sort());
  });

  it('has them all after kill -9, too', async () => {
    await disk.fill();
    await eventually(create, ({ status }) => status !== 200);
    gateway.process.kill('SIGKILL');
    await gateway.exited;
    await disk.free();
    gateway = await startGateway({ dataDir: disk.folder, within: disk.within });
    expect(await listed()).toEqual([...acknowledged].sort());
    expect((await create()).status).toBe(200);
  });
});
