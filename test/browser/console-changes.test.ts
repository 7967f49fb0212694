import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { changesOfProjections } from './console-changes/projections.ts';
import { changesOfSettings } from './console-changes/settings.ts';
import type { Driven } from './console-driver.ts';
import { openConsoleWorld, type ConsoleWorld } from './console-world.ts';

describe('in the console', () => {
  let world: ConsoleWorld;
  let driven: Driven;
  const current = (): Driven => driven;
  beforeAll(async () => {
    world = await openConsoleWorld();
    driven = { ...(await world.signedIn()), gateway: world.gateway };
  });
  afterEach(() => {
    expect(driven.complaints).toEqual([]);
    expect(takeUnread(), 'not read back').toEqual([]);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  changesOfProjections(current);
  changesOfSettings(() => world, current);
});
