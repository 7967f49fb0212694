import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { data, json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import { findIntegration } from '#modules/connections/integrations/queries.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import {
  deployBody,
  sentIdentity,
  type DeployBody,
} from '#modules/functions/functions/deploy-body.ts';
import { deployWithSyncs } from '#modules/functions/functions/handlers.ts';
import type { FindRecordReaders } from '#modules/functions/functions/record-readers.ts';
import { defineRoute } from '#modules/operations/services.ts';
import type { RecordAccess } from '#modules/records/services.ts';
import type { Coordination } from '#ports/coordination.ts';
import { demoClientId, demoClientSecret, demoNames, type DemoName } from './definitions.ts';

interface Deps extends SealedEntities {
  readonly coordination: Coordination;
  readonly records: RecordAccess;
  readonly recordReaders: FindRecordReaders;
  readonly providers: ProviderCatalogue;
  readonly addedProviders: ReadonlySet<string>;
}

const hasDemo = ({ addedProviders }: Pick<Deps, 'addedProviders'>): boolean =>
  demoNames.every((name) => addedProviders.has(name));

interface DemoIntegration {
  readonly unique_key: string;
  readonly functions: readonly string[];
}

/**
 * Creates the integrations of the demo provider in an environment, and deploys their functions. Repeatable: what is
 * there stays.
 * @throws GatewayError `not_found`: this gateway has no demo provider; `conflict`: an integration of the name has another
 *   provider or other functions; as `deployFunctions`
 */
async function setUpDemo(
  services: Deps,
  environmentUid: string,
  options: ExecuteOptions,
): Promise<readonly DemoIntegration[]> {
  if (!hasDemo(services)) {
    const message =
      'The demo provider is only in a gateway on loopback with the embedded log, unless SVC_DEMO is no.';
    throw new GatewayError('not_found', { message });
  }
  const functions = await compiledFunctions();
  const made: DemoIntegration[] = [];
  for (const name of demoNames) {
    await integrate(services, environmentUid, name, options);
    const body = deploymentFor(name, functions);
    const work = { body, approve: refuseRemoval(name) };
    await deployWithSyncs(services, environmentUid, work, options);
    made.push({
      unique_key: name,
      functions: body.functions.map((one) => sentIdentity(one).name),
    });
  }
  return made;
}

async function integrate(
  services: Deps,
  environmentUid: string,
  name: DemoName,
  options: ExecuteOptions,
): Promise<void> {
  const { control, providers, vault } = services;
  const existing = findIntegration(control, environmentUid, name);
  if (existing !== null) {
    if (existing.provider === name) return;
    const message = `The integration "${name}" has the provider "${existing.provider}": delete it, or use its key for the demo in another environment.`;
    throw new GatewayError('conflict', { message });
  }
  const provider = providers.find(name);
  if (provider === null) throw new GatewayError('not_found');
  const app = { type: 'OAUTH2', client_id: demoClientId, client_secret: demoClientSecret(vault) };
  const credentials = provider.auth_mode === 'OAUTH2' ? { credentials: app } : {};
  const wanted = { environmentUid, uniqueKey: name, provider, ...credentials };
  await createIntegration(services, wanted, options);
}

/** Functions that a project has deployed for the integration are not the demo's to remove. */
const refuseRemoval =
  (name: DemoName) =>
  ({ deleted }: { readonly deleted: readonly { readonly name: string }[] }): void => {
    if (deleted.length === 0) return;
    const others = deleted.map((one) => one.name).join(', ');
    const message = `The integration "${name}" has other functions (${others}): the demo leaves them alone.`;
    throw new GatewayError('conflict', { message });
  };

/** The functions are compiled for an integration `demo`. */
function deploymentFor(name: DemoName, functions: readonly object[]): DeployBody {
  return deployBody.parse({
    reconciliationScope: { kind: 'integration', integrationId: name },
    functions: functions.map((one) =>
      'integrationId' in one
        ? { ...one, integrationId: name }
        : { ...one, providerConfigKey: name },
    ),
  });
}

/** Built by bin/demo-functions.ts, for a gateway from sources as well. */
async function compiledFunctions(): Promise<readonly object[]> {
  const file = new URL(import.meta.resolve('#built/src/modules/extensions/demo/functions.json'));
  return JSON.parse(await readFile(file, 'utf8')) as object[];
}

const show = defineRoute({
  method: 'GET',
  path: '/demo',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Check whether this gateway has the demo provider.',
  answers: {
    200: json(
      'Only on loopback with the embedded log.',
      data(
        z
          .strictObject({
            is_available: z.boolean().describe('Whether this gateway has the demo provider.'),
          })
          .meta({ id: 'Demo' }),
      ),
    ),
  },
  errors: [],
  async handle({ services }) {
    return { status: 200, body: { data: { is_available: hasDemo(services) } } };
  },
});

const setUpShape = data(
  z
    .strictObject({
      integrations: z
        .array(
          z.strictObject({
            unique_key: z.string(),
            functions: z.array(z.string()).describe('Names of its functions.'),
          }),
        )
        .describe('The integrations of the demo.'),
    })
    .meta({ id: 'DemoSetUp' }),
);

const setUp = defineRoute({
  method: 'POST',
  path: '/demo',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Set up the demo.',
  description: 'Creates the integrations of the demo provider and deploys their functions.',
  answers: { 200: json('What is there now.', setUpShape) },
  errors: ['not_found', 'conflict', 'concurrent_deployment'],
  async handle({ caller, services }) {
    const { environmentUid, actor } = caller;
    const integrations = await setUpDemo(services, environmentUid, { actor });
    return { status: 200, body: { data: { integrations } } };
  },
});

export const demoRoutes: readonly AnyRoute[] = [show, setUp];
