import { expect, it } from 'vitest';
import { inputValidationOf } from '#modules/functions/runs/runtime/open-host.ts';

const now = { isInputValidated: true } as const;
const earlier = {};

it.each([
  ['a function of this release', {}, now, 'error'],
  ['one that an earlier release deployed', {}, earlier, 'warn'],
  ['an environment that logs them', { inputValidation: 'warn' }, now, 'warn'],
  ['an environment that refuses them', { inputValidation: 'error' }, earlier, 'error'],
  [
    'an environment that checks nothing',
    { validation: 'off', inputValidation: 'error' },
    now,
    'off',
  ],
  ['an environment that refuses all', { validation: 'error' }, earlier, 'error'],
  ['an environment with the default written down', { validation: 'warn' }, now, 'error'],
] as const)('inputs that do not fit: %s', (_what, environment, fn, mode) => {
  expect(inputValidationOf(environment, fn)).toBe(mode);
});
