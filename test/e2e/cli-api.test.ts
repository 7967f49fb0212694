import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import {
  openSharedCrmWorld,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

let folder: string;
let world: SharedCrmWorld;
let crm: CrmConnection;
const sandbox = await sharedSandbox();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-cli-api-'));
  world = await openSharedCrmWorld();
  crm = await world.connect();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const svc = (line: string): Promise<Ended> => {
  const { url, key, accountKey } = world.gateway;
  const variables = {
    SVC_HOSTPORT: url,
    SVC_SECRET_KEY: key,
    SVC_ACCOUNT_KEY: accountKey,
    CI: '1',
  };
  return commandLine(line.split(' '), { root: folder, sandbox, variables });
};

describe('the command line', () => {
  it('reads the changes of records from a position that the service keeps', async () => {
    const crm = await world.connect();
    crm.account.contacts = [
      { id: 'a', name: 'Ada' },
      { id: 'b', name: 'Bob' },
    ];
    await crm.run('contacts');
    const made = await svc('subscriptions create lake --model Contact -e dev');
    expect(made.out).toMatch(
      /^subscription +of +to +committed +parked +behind\nlake +Contact +readers +never +0 +\d+\n$/,
    );
    const linesOf = ({ out }: { readonly out: string }) =>
      out
        .trim()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { record_id: string; place: string });
    const [first] = linesOf(await svc('subscriptions read lake --limit 1 -e dev'));
    const again = linesOf(await svc('subscriptions read lake --limit 1 --commit -e dev'));
    expect(again).toEqual([first]);
    const [second] = linesOf(await svc('subscriptions read lake --limit 1 --commit -e dev'));
    expect([first, second].map((one) => one?.record_id)).toEqual(['a', 'b']);
    const park = { place: second?.place, reason: 'No owner.' };
    await world.gateway.call('POST', '/subscriptions/lake/parked', { body: park });
    expect((await svc('subscriptions parked lake -e dev')).out).toMatch(/Contact +b +No owner\./);
    const released = await svc(`subscriptions release lake ${second?.place} -e dev`);
    expect(released.out).toBe(`Released ${second?.place}\n`);
    expect(await svc('subscriptions seek lake -e dev'), 'nobody agreed').toMatchObject({
      exitCode: 4,
    });
    expect(await svc('subscriptions seek lake --yes -e dev')).toMatchObject({ exitCode: 0 });
    expect(linesOf(await svc('subscriptions read lake -e dev'))).toHaveLength(2);
    expect((await svc('subscriptions delete lake --yes -e dev')).out).toBe('Deleted lake\n');
    expect((await svc('subscriptions read lake -e dev')).err).toContain('no subscription "lake"');
  });

  it('lists alerts, and manages a destination from its creation to its end', async () => {
    expect((await svc('alerts list -e dev')).out).toMatch(
      /^alert +state +since +notified +count +of\nconnections_failing +ok +- +- +0 +-\n/,
    );
    writeFileSync(join(folder, 'alert-url.txt'), `${world.receiver.url}/secret-path\n`);
    const created = await svc(
      'alerts create webhook @alert-url.txt --alerts dead_letters -e dev --json',
    );
    expect(created, created.err).toMatchObject({ exitCode: 0 });
    expect(created.out).not.toContain('secret-path');
    const { id, ...made } = JSON.parse(created.out) as { id: string };
    expect(made).toMatchObject({ type: 'webhook', alerts: ['dead_letters'], enabled: true });
    const tested = await svc(`alerts test ${id} -e dev`);
    expect(tested).toMatchObject({ exitCode: 0, out: 'Delivered the test\n' });
    expect(world.receiver.received.at(-1)?.path).toBe('/secret-path');
    world.receiver.answer = () => 500;
    const failed = await svc(`alerts test ${id} -e dev`);
    world.receiver.answer = () => 200;
    expect(failed).toMatchObject({ exitCode: 1, out: '' });
    expect(failed.err).toContain('not delivered: status 500');
    expect(await svc(`alerts disable ${id} -e dev`)).toMatchObject({ exitCode: 0 });
    const changed = await svc(`alerts change ${id} --alerts all --name Team -e dev`);
    expect(changed.out).toMatch(
      /^destination +type .*\n\S+ +webhook +http\S+… +disabled +all +Team\n$/,
    );
    const listed = await svc('alerts destinations -e dev --json');
    expect(JSON.parse(listed.out)).toMatchObject([{ id, enabled: false, display_name: 'Team' }]);
    expect((await svc(`alerts enable ${id} -e dev`)).out).toContain('enabled');
    expect(await svc(`alerts change ${id} -e dev`), 'no change').toMatchObject({ exitCode: 1 });
    expect((await svc('alerts create pigeon x -e dev')).err).toMatch(/webhook.*slack.*email/s);
    expect((await svc('alerts create webhook @none.txt -e dev')).err).toContain('none.txt');
    expect(await svc(`alerts delete ${id} -e dev`), 'nobody agreed').toMatchObject({ exitCode: 4 });
    expect(await svc(`alerts delete ${id} -e dev --yes`)).toMatchObject({ exitCode: 0 });
    expect(await svc(`alerts test ${id} -e dev`)).toMatchObject({ exitCode: 1, out: '' });
    expect((await svc('alerts destinations -e dev')).out.trim().split('\n')).toHaveLength(1);
  });

  it('sends a request to any endpoint of the API', async () => {
    const shown = await svc('api GET /integrations/crm?include=webhook -e dev');
    expect(JSON.parse(shown.out)).toMatchObject({ data: { unique_key: 'crm' } });
    const body = '{"display_name":"Payments"}';
    const patched = await svc(`api patch /integrations/crm --body ${body} -e dev`);
    expect(JSON.parse(patched.out)).toMatchObject({ data: { display_name: 'Payments' } });
    const headers = `--header provider-config-key:crm --header connection-id:${crm.id}`;
    const records = await svc(`api GET /records?model=Contact ${headers} -e dev`);
    expect(JSON.parse(records.out)).toHaveProperty('records');
    const environments = await svc('api GET /environments --account');
    expect(environments, environments.err).toMatchObject({ exitCode: 0 });
    const missing = await svc('api GET /integrations/nothing -e dev');
    expect(missing).toMatchObject({ exitCode: 1, out: '' });
    for (const wrong of [
      'api GET integrations -e dev',
      'api FETCH /integrations -e dev',
      'api GET /integrations --account -e dev',
      'api POST /integrations --body { -e dev',
      'api GET /integrations --header provider -e dev',
    ]) {
      expect(await svc(wrong), wrong).toMatchObject({ exitCode: 1, out: '' });
    }
    const kept = await svc('api DELETE /integrations/crm -e dev');
    expect(kept, 'nobody agreed').toMatchObject({ exitCode: 4, out: '' });
  });
});
