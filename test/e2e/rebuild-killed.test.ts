/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return, typescript/no-unsafe-argument --
   a test looks into any answer */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { roundsOf } from '#test/support/judges/long-run.ts';
import {
  openLoadedGateways,
  type LoadedGateway,
  type LoadedGateways,
} from '#test/support/processes/loaded-gateway.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';

let gateways: LoadedGateways;
beforeAll(async () => {
  gateways = await openLoadedGateways();
});
afterAll(() => gateways[Symbol.asyncDispose]());

const records = roundsOf({ push: 900, all: 10_000 });

it('records are rebuilt to the end after a kill in the middle', async () => {
  const first = await gateways.start(records);
  const args = ['rebuild', 'records', '--yes', '--detach', '--pace', '50', '--json'];
  const begun = await first.svc(...args);
  expect(begun.exitCode, begun.err).toBe(0);
  const building = async (gateway: LoadedGateway) => {
    const { out } = await gateway.svc('show', 'records');
    return JSON.parse(out).generations[1];
  };
  await eventually(
    () => building(first),
    (one) => one.position > 0,
  );
  const before = await building(first);
  await first.kill();
  const second = await gateways.start(records);
  const after = await building(second);
  console.log(
    `killed at ${before.state} ${before.position}/${before.end}, on at ${after.position}`,
  );
  expect(after.position).toBeGreaterThanOrEqual(before.position);
  // What is written meanwhile is the matter of rebuild-load.
  await second.stopWriting();
  const followed = await second.svc('follow', 'records');
  expect(followed.exitCode, followed.err).toBe(0);
  const verified = await second.svc('verify', 'records');
  expect(verified.exitCode, verified.err).toBe(0);
  const switched = await second.svc('switch', 'records', '--yes');
  expect(switched.exitCode, switched.err).toBe(0);
  await second.end();
});
