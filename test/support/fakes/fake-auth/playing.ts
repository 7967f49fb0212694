import { afterEach, beforeEach } from 'vitest';
import type { PlayedProvider } from '#fake-providers/play.ts';
import type { PlayOptions } from '#fake-providers/rules.ts';
import { openFakeAuth, type FakeAuth } from '#fake-providers/server.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { aProvider } from '../../worlds/control.ts';
import { openHttpClient } from '../webhook-receiver.ts';
import { callerOf, type Caller } from './caller.ts';

/** Plays a definition, and calls as the modes do. */
export type Play = (more: Partial<Provider>, options?: PlayOptions) => Caller & PlayedProvider;

/** For the tests of a file: each has fake providers of its own. */
export function playingInEachTest(): Play {
  let stack: AsyncDisposableStack;
  let fake: FakeAuth;
  let http: HttpClient;
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    fake = stack.use(await openFakeAuth());
    http = stack.use(await openHttpClient());
  });
  afterEach(() => stack.disposeAsync());
  return (more, options = {}) => {
    const proxy = { base_url: 'https://api.crm.example' };
    const played = fake.play(aProvider({ proxy, ...more }), options);
    return Object.assign(callerOf(played, http), played);
  };
}
