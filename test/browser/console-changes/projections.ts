/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-assignment, typescript/no-unsafe-return,
   typescript/no-unsafe-call -- a test looks into any answer */
import { describe, expect, it } from 'vitest';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { driverOf, type Driven } from '../console-driver.ts';

/** The life of a generation of tables. */
export function changesOfProjections(current: () => Driven): void {
  const { button, open, readOfAccount } = driverOf(current);

  describe('a change of a projection', () => {
    const projection = async () => (await readOfAccount('/projections/records')).data;
    /** The one that a rebuild began, while it is there. */
    const other = async () => {
      const { active_generation: active, generations } = await projection();
      return generations.find((one: { generation: number }) => one.generation !== active);
    };
    /** The buttons of the page are offered when it has read the state in which they apply. */
    const step = async (verb: string): Promise<void> => {
      await button(`${verb}…`).click();
      await button(verb).click();
      await current().page.getByRole('alertdialog').waitFor({ state: 'detached' });
    };

    it('rebuilds, pauses, resumes, verifies, switches, rolls back and discards', async () => {
      await open('/account/projections/records');
      if ((await other()) === undefined) await step('Rebuild');
      await eventually(other, (one) => one?.state === 'ready');
      const { active_generation: before } = await projection();
      await step('Pause');
      expect(await other()).toMatchObject({ is_paused: true });
      await step('Resume');
      expect(await other()).toMatchObject({ is_paused: false });
      await step('Verify');
      await eventually(other, (one) => one.verification?.state === 'passed');
      await step('Switch');
      expect((await projection()).active_generation).not.toBe(before);
      await step('Roll back');
      expect((await projection()).active_generation).toBe(before);
      await step('Discard');
      await eventually(other, (one) => one === undefined);
      await button('Rebuild…').waitFor();
    });
  });
}
