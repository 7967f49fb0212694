import { expect, it } from 'vitest';
import { EnvironmentSlots } from '#kernel/environment-slots.ts';

it('one environment cannot take every place of a process', () => {
  const slots = new EnvironmentSlots({
    total: 3,
    perEnvironment: 2,
    code: 'too_many_request',
    noun: 'streams',
  });
  const first = slots.take('a');
  slots.take('a');
  expect(() => slots.take('a')).toThrow('The environment has 2 streams in this process');
  const other = slots.take('b');
  expect(() => slots.take('b')).toThrow('Too many requests');
  first[Symbol.dispose]();
  other[Symbol.dispose]();
  slots.take('b');
  slots.take('b');
  expect(() => slots.take('c')).toThrow('Too many requests');
});
