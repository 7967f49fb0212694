import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTemplateProject, type TemplateProject } from '#test/support/worlds/project-world.ts';
import { until } from '#test/support/worlds/runs.ts';

let world: TemplateProject;
beforeAll(async () => {
  world = await openTemplateProject(['stripe/customers', 'jira/projects']);
  const deployed = await world.svc(['deploy', 'dev']);
  if (deployed.exitCode !== 0) throw new Error(deployed.err);
});
afterAll(() => world[Symbol.asyncDispose]());

const svc = (line: string) => world.svc(line.split(' '));

/** Ids of the ended runs of the sync, newest first. */
async function runsOf(sync: string): Promise<string[]> {
  const { out } = await svc(`runs list -e dev --function ${sync} --status succeeded --json`);
  return (JSON.parse(out) as { id: string }[]).map(({ id }) => id);
}

describe('runs of a project', () => {
  it('are recorded, and replayed: one, those of a connection and of a day, with other code too', async () => {
    const before = await until(async () => {
      const found = await runsOf('customers');
      return found.length > 0 ? found : null;
    });
    expect(await svc(`runs replay ${before[0]} -e dev`)).toMatchObject({ exitCode: 1, out: '' });
    const recorded = await svc('runs record stripe/customers -e dev');
    expect(recorded.out).toContain('stripe/customers are recorded from now on');
    await svc('sync run customers -i stripe --connection demo -e dev --reset');
    const [id = ''] = await until(async () => {
      const found = await runsOf('customers');
      return found.length > before.length ? found : null;
    });

    const same = await svc(`runs replay ${id} -e dev`);
    expect(same, same.err).toMatchObject({ exitCode: 0 });
    expect(same.out).toMatch(
      /^Run \S+, attempt 1, with the recorded code; \d+ calls recorded in \d+ bytes\nidentical: /,
    );
    const json = await svc(`runs replay ${id} -e dev --json`);
    expect(JSON.parse(json.out)).toMatchObject({ run_id: id, identical: true, same_code: true });

    const file = join(world.root, 'stripe/customer.ts');
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, source.replace('customer.phone ?? null', "'none'"));
    const other = '--function stripe/syncs/customers.ts';
    const changed = await svc(`runs replay ${id} ${other} -e dev`);
    writeFileSync(file, source);
    expect(changed, changed.err).toMatchObject({ exitCode: 0 });
    expect(changed.out).toMatch(
      /^Customer: 0 the same, \d+ changed, 0 only recorded, 0 only replayed$/m,
    );
    expect(changed.out).toMatch(/^\+ Customer \S+ .*"phone":"none"/m);

    const day = new Date().toISOString().slice(0, 10);
    for (const which of ['--connection demo', `--day ${day}`]) {
      const all = await svc(`runs replay ${which} ${other} -e dev`);
      expect(all, all.err).toMatchObject({ exitCode: 0 });
      expect(all.err).toContain('Replayed 1 run, 0 with a difference; 1 without a recording.');
    }
    const ended = await svc('runs record stripe/customers --off -e dev --json');
    expect(JSON.parse(ended.out)).toMatchObject({ data: { record_calls: false } });
  });

  it('of a function may wait for each other', async () => {
    const set = await svc('runs concurrency stripe/customers 2 -e dev');
    expect(set.out).toBe('stripe/customers: at most 2 runs at the same time on each connection\n');
    const shown = await svc('runs concurrency stripe/customers -e dev');
    expect(shown.out).toContain('on each connection; 0 runs waiting');
    const ended = await svc('runs concurrency stripe/customers --off -e dev --json');
    expect(JSON.parse(ended.out)).toMatchObject({ data: { concurrency: null } });
  });

  it('of webhooks may be joined', async () => {
    const set = await svc('runs debounce stripe/customers 2 --max-wait 30 --all -e dev --json');
    const debounce = { seconds: 2, max_wait_seconds: 30, payload: 'all' };
    expect(JSON.parse(set.out)).toMatchObject({ data: { debounce } });
    const ended = await svc('runs debounce stripe/customers --off -e dev');
    expect(ended.out).toBe('stripe/customers: each webhook starts a run\n');
  });

  it.each([
    'runs debounce stripe/customers -e dev',
    'runs debounce stripe/customers soon -e dev',
    'runs concurrency customers 1 -e dev',
    'runs concurrency stripe/customers many -e dev',
    'runs replay -e dev',
    'runs replay --day soon -e dev',
    'runs replay some --function nothing.ts -e dev',
    'runs record customers -e dev',
  ])('%s is called wrongly', async (line) => {
    expect(await svc(line)).toMatchObject({ exitCode: 1, out: '' });
  });
});
