/* oxlint-disable typescript/no-unsafe-return -- a test looks into any answer */
import type { Locator, Request } from 'playwright-core';
import type { GatewayAccess } from '#test/support/processes/gateway.ts';
import { succeeded } from '#test/support/worlds/crm-world.ts';
import type { Console } from './console-world.ts';

/** A signed-in console and its gateway. */
export interface Driven extends Console {
  readonly gateway: GatewayAccess;
}

/** What tests do with a console that is opened later. */
export function driverOf(current: () => Driven) {
  const locate = (role: 'button' | 'link' | 'menuitem', name: string): Locator =>
    current().page.getByRole(role, { name, exact: true }).first();
  const send = async (method: string, path: string, options: object = {}) =>
    succeeded(await current().gateway.call(method, path, options));
  const read = (path: string, key = current().gateway.key) => send('GET', path, { key });
  /** An item of a menu. */
  const choose = async (menu: string, item: string): Promise<void> => {
    await locate('button', menu).click();
    await locate('menuitem', item).click();
  };
  /** A page of the console by its path, such as `/env/dev/runs`. */
  const open = async (path: string): Promise<void> => {
    current().complaints.length = 0;
    await current().page.goto(`${current().gateway.url}/console${path}`);
  };
  /** Does what deletes the thing at a path of the API, and returns how often the page has read it since. */
  const readsAfter = async (path: string, deletes: () => Promise<void>): Promise<number> => {
    const { page } = current();
    let reads = 0;
    let isDeleted = false;
    const count = (request: Request): void => {
      if (!new URL(request.url()).pathname.startsWith(path)) return;
      if (request.method() === 'DELETE') isDeleted = true;
      else if (isDeleted) reads += 1;
    };
    page.on('request', count);
    await deletes();
    page.off('request', count);
    return reads;
  };
  return {
    choose,
    open,
    readsAfter,
    read,
    send,
    readOfAccount: (path: string) => read(path, current().gateway.accountKey),
    button: (name: string): Locator => locate('button', name),
    link: (name: string): Locator => locate('link', name),
    field: (name: string): Locator => current().page.getByLabel(name, { exact: true }),
    seen: (text: string | RegExp): Promise<void> =>
      current().page.getByText(text).first().waitFor(),
  };
}
