/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-call, typescript/no-unsafe-argument -- a test looks into any answer */
import { describe, expect, it } from 'vitest';
import { eventually } from '#test/support/worlds/crm-world.ts';
import type { CrmConsole } from '../console-crm.ts';
import { driverOf } from '../console-driver.ts';

/** Schedules, runs and records of a connection. */
export function changesOfSyncs(current: () => CrmConsole): void {
  const { button, choose, field, link, open, read, seen, send } = driverOf(current);
  const nameOfConnection = () => `provider_config_key=crm&connection_id=${current().crm.id}`;
  /** Path of a page of the connection. */
  const ofConnection = (tab: string): string =>
    `/env/dev/connections/crm/${current().crm.id}/${tab}`;
  /** The newest run of a sync. */
  const lastRun = async (sync: string) =>
    (await read(`/runs?function=${sync}&${nameOfConnection()}`)).data[0];
  /** A run after the one of this id, once it has ended. */
  const runAfter = (sync: string, id: string) =>
    eventually(
      () => lastRun(sync),
      (run) => run.id !== id && ['succeeded', 'failed', 'cancelled'].includes(run.status),
    );

  describe('a change of syncs', () => {
    it('sets the frequency of a sync', async () => {
      await open(ofConnection('syncs'));
      await choose('Actions of contacts', 'Set the frequency…');
      await field('Frequency').fill('2h');
      await button('Set the frequency').click();
      await seen('contacts runs every 2h');
      expect((await current().crm.status('contacts')).frequency).toBe('2h');
    });

    it('keeps the log lines of one function for an hour, and ends that', async () => {
      const kept = async () => (await read('/logs/keep')).data.functions;
      await open('/env/dev/integrations/crm/functions?function=contacts');
      await button('Keep all lines for an hour').click();
      await button('Keep fewer lines again').waitFor();
      expect(await kept()).toMatchObject([{ integration_id: 'crm', name: 'contacts' }]);
      await button('Keep fewer lines again').click();
      await button('Keep all lines for an hour').waitFor();
      expect(await kept()).toEqual([]);
    });

    it('sets how many runs of a function a connection has at the same time', async () => {
      const concurrency = async (): Promise<unknown> =>
        (await read('/integrations/crm/functions/contacts?type=sync')).data.concurrency;
      await open('/env/dev/integrations/crm/functions?function=contacts');
      await field('Runs at the same time').fill('2');
      await button('Set the runs at the same time').click();
      await seen('2 on each connection');
      expect(await concurrency()).toBe(2);
      await field('Runs at the same time').fill('');
      await button('Set the runs at the same time').click();
      // The hint of the field has the words of the outcome.
      await eventually(concurrency, (runs) => runs === null);
      await seen('No limit of its own');
    });

    it('starts and pauses a schedule', async () => {
      await open(ofConnection('syncs'));
      const { status: before } = await current().crm.status('notes');
      const [first, second] =
        before === 'PAUSED'
          ? (['Start the schedule', 'Pause the schedule'] as const)
          : (['Pause the schedule', 'Start the schedule'] as const);
      for (const item of [first, second]) {
        await choose('Actions of notes', item);
        await eventually(
          () => current().crm.status('notes'),
          ({ status }) => (status === 'PAUSED') === (item === 'Pause the schedule'),
        );
        await open(ofConnection('syncs'));
      }
    });

    it('creates and deletes a variant of a sync', async () => {
      await open(ofConnection('syncs'));
      await choose('Actions of deals', 'Create a variant…');
      await field('Name').fill('closed');
      await button('Create the variant').click();
      await seen('The variant closed was created');
      expect((await current().crm.status('deals::closed')).variant).toBe('closed');
      await choose('Actions of deals closed', 'Delete the variant…');
      await button('Delete the variant').click();
      await seen('The variant closed was deleted');
      const path = `/sync/status?syncs=*&provider_config_key=crm&connection_id=${current().crm.id}`;
      const { syncs } = await read(path);
      expect(syncs.filter((one: { variant: string }) => one.variant !== 'base')).toEqual([]);
    });

    it('runs a sync now, from the start, and without its records', async () => {
      for (const [item, confirmation, added] of [
        ['Run now', null, 0],
        ['Run from the start…', 'Run from the start', 0],
        ['Delete the records and run…', 'Delete and run', 1],
      ] as const) {
        const { id } = await lastRun('contacts');
        await open(ofConnection('syncs'));
        await choose('Actions of contacts', item);
        if (confirmation !== null) await button(confirmation).click();
        await seen('The sync was started');
        const run = await runAfter('contacts', id);
        expect(run.status).toBe('succeeded');
        expect(run.counts.Contact.added).toBe(added);
      }
    });

    it('leads from a run to the messages that it wrote', async () => {
      const { page } = current();
      await open(`/env/dev/runs/${(await lastRun('contacts')).id}`);
      const events = page.getByRole('region', { name: 'Events' });
      await events
        .getByRole('row', { name: /svc\.records\.v1/ })
        .getByRole('link')
        .click();
      const messages = page.getByRole('region', { name: 'Messages' });
      await messages.getByRole('link').first().click();
      await page.getByRole('dialog').getByText(current().crm.id).first().waitFor();
    });

    it('runs a run again', async () => {
      const { id } = await lastRun('contacts');
      await open(`/env/dev/runs/${id}`);
      await button('Run again').click();
      await seen('The sync was started');
      expect(await runAfter('contacts', id)).toMatchObject({ status: 'succeeded' });
    });

    /** The newest run of the action echo, once it is the one that was asked for that. */
    const inputOfLast = (asked: string) =>
      eventually(
        async () => {
          const run = await lastRun('echo');
          return { run, sent: run && (await read(`/runs/${run.id}/input`)).data.input };
        },
        ({ run, sent }) => run?.status === 'succeeded' && sent?.asked === asked,
      );

    it('runs an action again with its input changed', async () => {
      const headers = { 'provider-config-key': 'crm', 'connection-id': current().crm.id };
      const body = { action_name: 'echo', input: { asked: 'before' } };
      await send('POST', '/action/trigger', { headers, body });
      const { run } = await inputOfLast('before');
      await open(`/env/dev/runs/${run.id}`);
      await link('Run again…').click();
      await expect.poll(() => field('Input').inputValue()).toContain('before');
      const changed = (await field('Input').inputValue()).replace('before', 'after');
      await field('Input').fill(changed);
      await button('Run the action').click();
      const result = current().page.getByRole('region', { name: 'Result' });
      await result.getByText('"after"').waitFor();
      expect((await inputOfLast('after')).run.status).toBe('succeeded');
    });

    it('shows what happens to a run in the list, which a stream keeps current', async () => {
      const { page } = current();
      // Its response begins once the stream has its place: a run before that would not be in it.
      const streamed = page.waitForResponse(/\/runs\/tail/);
      await open('/env/dev/runs?function=stepwise');
      await streamed;
      await current().crm.trigger('stepwise');
      await page.getByRole('row').getByText('running').first().waitFor();
      await send('POST', `/runs/${(await lastRun('stepwise')).id}/cancel`);
      await page.getByRole('row').getByText('running').waitFor({ state: 'detached' });
      await page.getByRole('row').getByText('cancelled').first().waitFor();
    });

    it('cancels a run on its page, and in the menu of its sync', async () => {
      const begin = async () => {
        await current().crm.trigger('stepwise');
        return eventually(
          () => lastRun('stepwise'),
          (run) => run?.status === 'running',
        );
      };
      const first = await begin();
      await open(`/env/dev/runs/${first.id}`);
      await button('Cancel the run…').click();
      await button('Cancel the run').click();
      await eventually(
        () => lastRun('stepwise'),
        ({ status }) => status === 'cancelled',
      );
      await link('Messages of this run').click();
      await seen(/messages, newest first|No messages/);
      const second = await begin();
      await open(ofConnection('syncs'));
      await choose('Actions of stepwise', 'Cancel the run…');
      await button('Cancel the run').click();
      await seen('The run is being cancelled');
      await eventually(
        () => lastRun('stepwise'),
        ({ id, status }) => id === second.id && status === 'cancelled',
      );
    });

    it('prunes records up to one', async () => {
      await open(`${ofConnection('records')}?model=Contact&id=c1`);
      await button('Prune up to here…').click();
      await button('Prune the records').click();
      await seen('Pruned 1 record');
      const { records } = await eventually(
        () => current().crm.records('Contact'),
        (page) => page.records[0]?._svc_metadata.pruned_at !== undefined,
      );
      expect(records[0]).not.toHaveProperty('name');
    });
  });
}
