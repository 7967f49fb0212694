import '#test/support/processes/with-services.ts';
import { describe, it } from 'vitest';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { judgeBehind, judgeReadable } from '#test/support/judges/readable-runs.ts';
import { openCrmWorld } from '#test/support/worlds/crm-world.ts';

/** Each of fifteen runs. */
const connections = 2;

async function judgeTwoNodes(env: Readonly<Record<string, string>>): Promise<void> {
  await using world = await openCrmWorld({ env });
  await using other = await world.startAnother();
  const opened = await Promise.all(Array.from({ length: connections }, () => world.connect()));
  await Promise.all(
    opened.map((crm, at) => {
      const [asked, reading] = at % 2 === 0 ? [world.gateway, other] : [other, world.gateway];
      return judgeReadable(crm, 15, { asked, reading: [reading] });
    }),
  );
}

describe('a run that one node says to have readable records has all of them on another', () => {
  it('with common tables', async () => {
    await using clickhouse = await startClickHouseFront();
    await judgeTwoNodes({ SVC_CLICKHOUSE_URL: clickhouse.url });
  });

  it('with tables of their own', async () => {
    await judgeTwoNodes({});
  });
});

it('no node says that the records of a run can be read while the common tables are behind', async () => {
  await using clickhouse = await startClickHouseFront();
  await using world = await openCrmWorld({ env: { SVC_CLICKHOUSE_URL: clickhouse.url } });
  await using other = await world.startAnother();
  await judgeBehind(await world.connect(), [world.gateway, other]);
});
