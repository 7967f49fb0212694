import { expect, it } from 'vitest';
import { dayMs } from '#kernel/time.ts';
import { Circuit } from '#modules/webhooks/webhooks-out/delivery/circuits.ts';

function newCircuit(at: number) {
  const clock = { at, now: () => clock.at };
  const circuit = new Circuit(clock, { publish: () => undefined, onChange: () => undefined });
  const fail = (times: number): void => {
    for (let time = 0; time < times; time += 1) circuit.failed();
  };
  return { clock, circuit, fail };
}

it('may be tried a minute after it has opened, and at once when the clock was set back since', () => {
  const { clock, circuit, fail } = newCircuit(10 * dayMs);
  fail(5);
  expect(circuit.isOpen).toBe(true);
  clock.at += 59_999;
  expect(circuit.mayTry).toBe(false);
  clock.at += 1;
  expect(circuit.mayTry).toBe(true);
  clock.at -= dayMs;
  expect(circuit.mayTry).toBe(true);
});

it('counts no failure from before the clock was set back', () => {
  const { clock, circuit, fail } = newCircuit(10 * dayMs);
  fail(4);
  clock.at -= dayMs;
  expect(circuit.isBlank).toBe(true);
  fail(4);
  expect(circuit.isOpen).toBe(false);
  fail(1);
  expect(circuit.isOpen).toBe(true);
});
