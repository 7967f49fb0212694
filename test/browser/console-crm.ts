import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { topicSpecs } from '#app/process/topics.ts';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '#test/support/worlds/crm-world.ts';
import { closePages, openPage, sharedChromium } from './chromium.ts';
import type { Driven } from './console-driver.ts';
import { addKey, signedIn } from './console-world.ts';

/**
 * The console of a gateway with functions, records of two runs, a failed run and four dead letters, signed in with the
 * keys of dev, of prod and of the account.
 */
export interface CrmConsole extends Driven, AsyncDisposable {
  readonly world: CrmWorld;
  /** A connection of dev. */
  readonly crm: CrmConnection;
  /** A page of a browser that is not signed in. */
  newPage(): Promise<Page>;
  /** The same world in another browser, signed in with the same keys. */
  anotherLook(options: BrowserContextOptions): Promise<CrmConsole>;
}

/** Two consumers read this topic: each gives up what fits no schema. */
const poisoned = 'svc.connections.v1';
const partitions = 4;

async function poison(dataDir: string): Promise<void> {
  await using embedded = await openEmbeddedLog({ directory: join(dataDir, 'log') });
  await embedded.log.ensureTopics(topicSpecs(partitions));
  const messages = ['a', 'b'].map((key) => ({ key, value: Buffer.from('?'), headers: {} }));
  await embedded.log.append([{ topic: poisoned, partition: 1, messages }]);
}

/** @param options more providers, given the address of the fake that plays the CRM */
export async function openCrmConsole(
  options: { readonly played?: (url: string) => object } = {},
): Promise<CrmConsole> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openCrmWorld({ prepare: poison, ...options }));
  const crm = await world.connect();
  crm.account.contacts = [{ id: 'c1', name: 'first name' }];
  await crm.run('contacts');
  crm.account.contacts = [{ id: 'c1', name: 'second name' }];
  await crm.run('contacts');
  crm.account.script = [{ do: 'throw', message: 'the provider speaks another language' }];
  await crm.run('scripted');
  const browser = await sharedChromium();
  stack.defer(() => closePages(browser));
  const { gateway } = world;
  const newPage = (more: BrowserContextOptions = {}) => openPage(browser, more);
  const openLook = async (more: BrowserContextOptions): Promise<CrmConsole> => {
    const opened = await signedIn({ gateway, page: newPage }, more);
    await addKey(opened.page, gateway.prodKey);
    opened.complaints.length = 0;
    return {
      ...opened,
      gateway,
      world,
      crm,
      newPage,
      anotherLook: openLook,
      [Symbol.asyncDispose]: () => opened.page.context().close(),
    };
  };
  const first = await openLook({});
  const owned = stack.move();
  return { ...first, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
