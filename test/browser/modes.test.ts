import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AuthMode } from '#modules/connections/providers/definition.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';
import { providerOf } from '#test/support/worlds/authorizing.ts';
import { openBrowserWorld, type BrowserWorld } from './world.ts';

const nameOf = (mode: AuthMode): string => `mode-${mode.toLowerCase().replaceAll('_', '-')}`;

let world: BrowserWorld;
beforeAll(async () => {
  world = await openBrowserWorld({
    providers: authModes.map((mode) =>
      providerOf(mode, { name: nameOf(mode), display_name: `Mode ${mode}` }),
    ),
    playOptions: { installsApp: true },
  });
  for (const mode of authModes) {
    world.played[nameOf(mode)]!.setupAt(`${world.gateway.url}/app-auth/connect`);
  }
});
afterEach(() => world.closePages());
afterAll(() => world[Symbol.asyncDispose]());

/** Fills in the fields that the page shows with what the provider takes. */
async function fillIn(page: Page, values: Readonly<Record<string, unknown>>): Promise<void> {
  const controls = page.locator('form :is(input, select, textarea)');
  for (const control of await controls.all()) {
    const name = (await control.getAttribute('name'))!;
    const value = values[name];
    if (typeof value !== 'string') continue;
    const isChoice = (await control.evaluate((element) => element.tagName)) === 'SELECT';
    await (isChoice ? control.selectOption(value) : control.fill(value));
  }
}

describe('the page connects an account of the mode', () => {
  it.each(authModes)('%s', async (mode) => {
    const key = nameOf(mode);
    const { form, connectionConfig, asked } = world.played[key]!;
    const page = await world.connectPage({
      allowed_integrations: [key],
      end_user: { id: `person-${key}` },
    });
    const connect = page.getByRole('button', { name: 'Connect', exact: true });
    await connect.waitFor();
    const values: Record<string, unknown> = { ...form, ...connectionConfig };
    await fillIn(page, values);
    await connect.click();
    await page.getByRole('heading', { name: `Mode ${mode} is connected` }).waitFor();
    const made = (await world.connections()).filter(
      ({ end_user }) => end_user?.id === `person-${key}`,
    );
    expect(made).toMatchObject([{ provider_config_key: key }]);
    const path = `/connections/${made[0]!.connection_id}?provider_config_key=${key}`;
    const shown = await world.gateway.call('GET', path);
    const { credentials } = shown.body as { credentials: { type?: string } };
    expect([shown.status, credentials.type]).toEqual([200, mode === 'NONE' ? undefined : mode]);
    // The first call to an MCP server is answered by where its authorization server is.
    const expected = mode === 'MCP_OAUTH2' ? ['granted', 'challenged'] : ['granted'];
    expect(asked.filter(({ outcome }) => !expected.includes(outcome))).toEqual([]);
  });
});
