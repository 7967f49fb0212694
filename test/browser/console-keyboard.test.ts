import { afterAll, beforeAll } from 'vitest';
import { openCrmConsole, type CrmConsole } from './console-crm.ts';
import { keyboardFlows } from './console-keyboard.ts';

let opened: CrmConsole;
beforeAll(async () => {
  opened = await openCrmConsole();
});
afterAll(() => opened[Symbol.asyncDispose]());

keyboardFlows(() => opened);
