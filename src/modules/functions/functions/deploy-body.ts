import { createHash } from 'node:crypto';
import { z } from 'zod';
import { functionName, integrationKey, jsonObject, mapOf, modelName, text } from '#http/fields.ts';
import { limits } from '#kernel/limits.ts';
import { stableJson } from '#kernel/stable-json.ts';
import {
  deletePassesIn,
  functionKinds,
  type DeployedParts,
  type DeployedFunction,
} from './function.ts';

/** The body of a deployment (docs/reference/http.md#functions-and-deployments). */

const descriptionCharsMax = 2000;

const code = 'The code of the function.';
const files = z
  .strictObject({
    js: z.string().describe('The bundle.'),
    ts: z.string().describe('The TypeScript source of the entry file.'),
  })
  .describe(code);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** Of the files, as lower-case hexadecimal SHA-256: what has not changed need not be sent to be compared. */
const digests = z.strictObject({
  js_sha256: sha256.describe('SHA-256 of the bundle, in lower-case hexadecimal.'),
  ts_sha256: sha256.describe('SHA-256 of the source, in lower-case hexadecimal.'),
});

const common = {
  version: text(0, 255).default(''),
  metadata: z
    .strictObject({
      scopes: z
        .array(text(1, 255))
        .default([])
        .describe('Scopes that the function needs at the provider.'),
      description: text(0, descriptionCharsMax)
        .default('')
        .describe('Description of the function.'),
    })
    .default({ scopes: [], description: '' })
    .describe('Documentation of the function.'),
};

const flow = {
  ...common,
  syncName: functionName.describe('Name of the sync or action.'),
  providerConfigKey: integrationKey,
  models: z.array(modelName),
  runs: text(0, 255).nullable(),
  auto_start: z.boolean().default(false),
  track_deletes: z.boolean().default(false),
  sync_type: z
    .enum(['full', 'incremental'])
    .default('full')
    .describe('Whether each run covers everything.'),
  input: modelName.nullish().describe('Name of the model of the input; null without one.'),
  endpoints: z
    .array(
      z.strictObject({
        method: text(1, 10),
        path: text(1, 2048).describe('Path of the endpoint.'),
        group: text(0, 255).nullish().describe('Group of the endpoint.'),
      }),
    )
    .default([])
    .describe('Deprecated: endpoints of the function.'),
  webhookSubscriptions: z.array(text(1, 255)).default([]),
  models_json_schema: z
    .strictObject({
      definitions: mapOf(z.string(), jsonObject).describe('JSON Schemas of the models, by name.'),
    })
    .default({ definitions: {} }),
  features: z.array(z.literal('checkpoints')).default([]),
};

const deliveryFields = {
  from: z
    .enum(['start', 'end'])
    .default('end')
    .describe('Where it begins: `start` with every record, `end` with what changes from now on.'),
  batchSize: z
    .int()
    .min(1)
    .max(limits.changeBatchMax)
    .default(100)
    .describe('Changes of one run, at most.'),
  retries: z
    .int()
    .min(0)
    .max(limits.changeRetriesMax)
    .default(4)
    .describe('Further runs after a failed one, before a change is parked.'),
};

/** A function with its files, or with what stands for them. @param suffix of the names of the schemas */
const itemWith = <F extends z.ZodType>(fileBody: F, suffix: string) =>
  z.discriminatedUnion('type', [
    z
      .strictObject({
        type: z.literal('sync').describe('Kind of the function.'),
        ...flow,
        fileBody,
      })
      .meta({ id: `Sync${suffix}` }),
    z
      .strictObject({
        type: z.literal('action').describe('Kind of the function.'),
        ...flow,
        fileBody,
      })
      .meta({ id: `Action${suffix}` }),
    z
      .strictObject({
        type: z.literal('on-event').describe('Kind of the function.'),
        ...common,
        fileBody,
        name: functionName.describe('Name of the on-event function.'),
        integrationId: integrationKey,
        event: z.enum([
          'post-connection-creation',
          'pre-connection-deletion',
          'validate-connection',
        ]),
      })
      .meta({ id: `OnEvent${suffix}` }),
    z
      .strictObject({
        type: z.literal('on-change').describe('Kind of the function.'),
        ...common,
        fileBody,
        name: functionName.describe('Name of the on-change function.'),
        integrationId: integrationKey,
        models: z
          .array(modelName)
          .min(1)
          .describe('Models of the integration whose changes it is run on.'),
        ...deliveryFields,
      })
      .meta({ id: `OnChange${suffix}` }),
  ]);

const reconciliationScope = z
  .discriminatedUnion('kind', [
    z
      .strictObject({
        kind: z.literal('environment').describe('All functions of the environment.'),
      })
      .meta({ id: 'EnvironmentScope' }),
    z
      .strictObject({
        kind: z.literal('integration').describe('All functions of one integration.'),
        integrationId: integrationKey,
      })
      .meta({ id: 'IntegrationScope' }),
    z
      .strictObject({
        kind: z.literal('integrations').describe('All functions of several integrations.'),
        integrationIds: z.array(integrationKey).describe('Keys of the integrations.'),
      })
      .meta({ id: 'IntegrationsScope' }),
    z
      .strictObject({
        kind: z.literal('function').describe('One function.'),
        integrationId: integrationKey,
        name: functionName.describe('Name of the function.'),
        type: z.enum(functionKinds).describe('Kind of the function.'),
      })
      .meta({ id: 'FunctionScope' }),
  ])
  .describe('Functions that the deployment replaces: those in scope that it lacks are deleted.');

export const deployBody = z.strictObject({
  reconciliationScope,
  functions: z.array(itemWith(files, 'ToDeploy')).describe('The functions to deploy.'),
});

/** The same, where the files of a function may be their digests. */
export const previewBody = z.strictObject({
  reconciliationScope,
  functions: z
    .array(itemWith(z.union([files, digests]).describe(code), 'ToCompare'))
    .describe('The functions to compare.'),
});

export type PreviewBody = z.output<typeof previewBody>;

export type DeployBody = z.output<typeof deployBody>;
export type ReconciliationScope = DeployBody['reconciliationScope'];

/** The integrations that a scope names; none for the whole environment. */
export function integrationsNamed(scope: ReconciliationScope): readonly string[] {
  if (scope.kind === 'environment') return [];
  return scope.kind === 'integrations' ? scope.integrationIds : [scope.integrationId];
}

type SentFunction = DeployBody['functions'][number];

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The deployment of a preview. Where digests stand for files, they are those of the deployed function, or other ones
 * if it has none of these digests.
 */
export function withFiles(
  body: PreviewBody,
  deployed: (
    sent: PreviewBody['functions'][number],
  ) => Pick<DeployedFunction, 'bundle' | 'source'> | null,
): DeployBody {
  const functions = body.functions.map((sent) => {
    const { fileBody } = sent;
    if ('js' in fileBody) return { ...sent, fileBody };
    const { js_sha256: js, ts_sha256: ts } = fileBody;
    const { bundle = '', source = '' } = deployed(sent) ?? {};
    const isSame = digestOf(bundle) === js && digestOf(source) === ts;
    return { ...sent, fileBody: isSame ? { js: bundle, ts: source } : { js, ts } };
  });
  return { ...body, functions };
}

/** The command to the function's entity, with the hash that detects an unchanged function. */
export function deployedParts(
  environmentUid: string,
  sent: SentFunction,
  isStandalone: true | undefined,
): DeployedParts {
  const parts = kindParts(sent);
  const { fileBody, metadata, version } = sent;
  const content = {
    ...parts,
    environmentUid,
    kind: sent.type,
    description: metadata.description,
    scopes: metadata.scopes,
    version,
    bundle: fileBody.js,
    source: fileBody.ts,
    ...(isStandalone === true ? { isStandalone } : {}),
  };
  const hash = createHash('sha256').update(stableJson(content)).digest('hex');
  // Beyond the hash: an unchanged function of an earlier release goes on as it did.
  const validated = sent.type === 'action' ? ({ isInputValidated: true } as const) : {};
  const passes = sent.type === 'sync' ? { deletePasses: deletePassesIn(fileBody.js) } : {};
  return { ...content, ...validated, ...passes, contentHash: hash };
}

type KindParts = Omit<
  DeployedParts,
  | 'environmentUid'
  | 'kind'
  | 'description'
  | 'scopes'
  | 'version'
  | 'bundle'
  | 'source'
  | 'contentHash'
  | 'isStandalone'
  | 'isInputValidated'
  | 'deletePasses'
>;

function flowParts(sent: Extract<SentFunction, { type: 'sync' | 'action' }>): KindParts {
  const isSync = sent.type === 'sync';
  return {
    integrationKey: sent.providerConfigKey,
    name: sent.syncName,
    models: sent.models,
    jsonSchema: sent.models_json_schema,
    inputModel: sent.input ?? null,
    features: sent.features,
    frequency: isSync ? sent.runs : null,
    autoStart: isSync && sent.auto_start,
    trackDeletes: isSync && sent.track_deletes,
    syncType: sent.sync_type,
    webhookSubscriptions: isSync ? sent.webhookSubscriptions : [],
    event: null,
  };
}

function kindParts(sent: SentFunction): KindParts {
  switch (sent.type) {
    case 'on-event':
      return onEventParts(sent);
    case 'on-change':
      return onChangeParts(sent);
    default:
      return flowParts(sent);
  }
}

/** The integration and the name of a function that is sent. */
export const sentIdentity = (
  sent: PreviewBody['functions'][number],
): { readonly integrationKey: string; readonly name: string } =>
  'syncName' in sent
    ? { integrationKey: sent.providerConfigKey, name: sent.syncName }
    : { integrationKey: sent.integrationId, name: sent.name };

function onEventParts(sent: Extract<SentFunction, { type: 'on-event' }>): KindParts {
  return { integrationKey: sent.integrationId, name: sent.name, ...noFlow, event: sent.event };
}

function onChangeParts(sent: Extract<SentFunction, { type: 'on-change' }>): KindParts {
  const { integrationId: integrationKey, name, models, from, batchSize, retries } = sent;
  return { ...noFlow, integrationKey, name, models, delivery: { from, batchSize, retries } };
}

const noFlow = {
  models: [],
  jsonSchema: { definitions: {} },
  inputModel: null,
  features: [],
  frequency: null,
  autoStart: false,
  trackDeletes: false,
  syncType: 'full',
  webhookSubscriptions: [],
  event: null,
} as const;
