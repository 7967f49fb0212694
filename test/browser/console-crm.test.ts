import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { takeUnread } from '#test/support/judges/answers.ts';
import { changesOfDeadLetters } from './console-changes/dead-letters.ts';
import { changesOfSyncs } from './console-changes/syncs.ts';
import { openCrmConsole, type CrmConsole } from './console-crm.ts';

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

  changesOfSyncs(current);
  changesOfDeadLetters(current);
});
