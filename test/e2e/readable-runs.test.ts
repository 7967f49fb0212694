import { afterAll, beforeAll, it } from 'vitest';
import { judgeBehind, judgeReadable } from '#test/support/judges/readable-runs.ts';
import { openCrmWorld, type CrmWorld } from '#test/support/worlds/crm-world.ts';

/** Ten runs each. */
const connections = 3;

let world: CrmWorld;
beforeAll(async () => {
  world = await openCrmWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

it('a run whose records are said to be readable has all of them in the next page', async () => {
  const { gateway } = world;
  const opened = await Promise.all(Array.from({ length: connections }, () => world.connect()));
  await Promise.all(
    opened.map((crm) => judgeReadable(crm, 10, { asked: gateway, reading: [gateway] })),
  );
});

it('a run is not said to have readable records while the tables of records are behind', async () => {
  await judgeBehind(await world.connect(), [world.gateway]);
});
