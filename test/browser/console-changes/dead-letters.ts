/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-call, typescript/no-unsafe-argument -- a test looks into any answer */
import { describe, expect, it } from 'vitest';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { driverOf, type Driven } from '../console-driver.ts';

/** One letter, and all that are shown. */
export function changesOfDeadLetters(current: () => Driven): void {
  const { button, link, open, readOfAccount, seen } = driverOf(current);

  describe('a change of dead letters', () => {
    const letters = async (query: string) => (await readOfAccount(`/dead-letters?${query}`)).data;
    const shown = async (id: string) => (await readOfAccount(`/dead-letters/${id}`)).data;

    it('drops one', async () => {
      const consumer = 'svc.lifecycle-hooks';
      const [{ id }] = await letters(`consumer=${consumer}&state=parked`);
      await open(`/account/dead-letters?consumer=${consumer}&id=${id}`);
      await button('Drop…').click();
      await button('Drop the message').click();
      await seen('The message was dropped');
      expect(await shown(id)).toMatchObject({ state: 'dropped' });
    });

    it('retries and drops all that match, also those that are not in the list', async () => {
      const query = 'consumer=svc.sync-instances&state=parked';
      const parked = await eventually(
        () => letters(query),
        (some) => some.length === 2,
      );
      const retries = parked.map((one: { retries: number }) => one.retries);
      await open(`/account/dead-letters?${query}`);
      await link('svc.sync-instances').waitFor();
      await button('Retry all…').click();
      await seen('parked messages of the consumer svc.sync-instances');
      await button('Retry all').click();
      await seen('Requested for 2');
      const again = await eventually(
        () => letters(query),
        (some) => some.length === 2,
      );
      expect(again.map((one: { retries: number }) => one.retries)).toEqual(
        retries.map((count: number) => count + 1),
      );
      await open(`/account/dead-letters?${query}`);
      await button('Drop all…').click();
      await button('Drop all').click();
      await seen('No dead letters');
      await eventually(
        () => letters('consumer=svc.sync-instances&state=dropped'),
        (some) => some.length === 2,
      );
    });
  });
}
