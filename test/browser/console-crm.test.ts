import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { changesOfDeadLetters } from './console-changes/dead-letters.ts';
import { changesOfNotifications } from './console-changes/notifications.ts';
import { changesOfReplays } from './console-changes/replays.ts';
import { changesOfSyncs } from './console-changes/syncs.ts';
import { openCrmConsole, type CrmConsole } from './console-crm.ts';
import { screenshot } from './world.ts';

describe('in the console', () => {
  let opened: CrmConsole;
  const current = (): CrmConsole => opened;
  beforeAll(async () => {
    opened = await openCrmConsole();
  });
  afterEach(() => {
    expect(opened.complaints).toEqual([]);
    expect(takeUnread(), 'not read back').toEqual([]);
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  it('a failed connection leads to its run, with the line of its source', async () => {
    const { page, gateway, crm } = opened;
    const at = `${gateway.url}/console/env/dev`;
    await page.goto(`${at}/connections/crm/${crm.id}`);
    await page.getByText('This connection fails:').waitFor();
    await page.getByText('the provider speaks another language').waitFor();
    await page.getByRole('link', { name: 'The run that failed' }).click();
    await page.getByText('crm/syncs/scripted.ts:').first().waitFor();
    const source = page.getByRole('region', { name: 'Source' });
    expect(await source.textContent()).toMatch(/\d+ \|[^]*\^/);
    await page.getByText('deploy it and run it again').waitFor();
    await screenshot(page, 'failed-run');
    await page.goBack();
    await page.getByText('This connection fails:').waitFor();
    await screenshot(page, 'failing-connection');
  });

  changesOfNotifications(current);
  changesOfSyncs(current);
  changesOfReplays(current);
  changesOfDeadLetters(current);
});
