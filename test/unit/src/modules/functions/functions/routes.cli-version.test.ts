import { expect, it } from 'vitest';
import type { Services } from '#api/services.ts';
import { checkCliVersion } from '#modules/functions/functions/routes.ts';

const services = { settings: { version: '0.70.2' } as Services['settings'] };

it.each([
  undefined,
  '',
  'curl/8.0.0',
  'svc-cli',
  'svc-cli/0.67.0',
  'svc-cli/0.69.10',
  'svc-cli/0.70.2',
])('takes a deployment of %s', (agent) => {
  expect(() => checkCliVersion(agent, services)).not.toThrow();
});

it.each([
  ['svc-cli/0.66.99', 'older than 0.67.0'],
  ['svc-cli/0.9.100', 'older than 0.67.0'],
  ['svc-cli/0.70.3', 'newer than the service, which is 0.70.2'],
  ['svc-cli/1.0.0', 'newer than the service'],
])('refuses a deployment of %s', (agent, message) => {
  expect(() => checkCliVersion(agent, services)).toThrow(message);
});
