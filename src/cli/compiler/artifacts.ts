import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { ChangeDelivery, FunctionDefinition } from '#ports/sandbox.ts';
import type { Entry } from './entries.ts';

/** A type, because an interface would not be assignable to JSON. */
type JsonSchema = { readonly definitions: JsonObject };

interface SyncArtifact {
  readonly type: 'sync';
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly runs: string;
  readonly auto_start: boolean;
  readonly sync_type: 'full' | 'incremental';
  readonly track_deletes: boolean;
  readonly input: string | null;
  readonly output: readonly string[];
  readonly usedModels: readonly string[];
  readonly endpoints: readonly JsonObject[];
  readonly scopes: readonly string[];
  readonly webhookSubscriptions: readonly string[];
  readonly features: readonly string[];
  readonly json_schema: JsonSchema;
}

interface ActionArtifact {
  readonly type: 'action';
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly input: string;
  readonly output: readonly string[];
  readonly usedModels: readonly string[];
  readonly endpoint: JsonObject | null;
  readonly scopes: readonly string[];
  readonly features: readonly string[];
  readonly json_schema: JsonSchema;
}

interface OnEventArtifact {
  readonly type: 'on-event';
  readonly event: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Schema of the connection's metadata; null when the function declares none. */
  readonly metadata: JsonObject | null;
}

interface OnChangeArtifact {
  readonly type: 'on-change';
  readonly name: string;
  readonly description: string;
  readonly version: string;
  /** Names of models of syncs. */
  readonly models: readonly string[];
  readonly delivery: ChangeDelivery;
}

export type Artifact = SyncArtifact | ActionArtifact | OnEventArtifact | OnChangeArtifact;

/** One entry of `.svc/svc.json` (docs/reference/cli.md#svcjson). */
export interface IntegrationArtifacts {
  readonly providerConfigKey: string;
  readonly syncs: readonly SyncArtifact[];
  readonly actions: readonly ActionArtifact[];
  readonly onEventScripts: Readonly<
    Record<string, readonly Omit<OnEventArtifact, 'type' | 'event'>[]>
  >;
  /** Absent: none. */
  readonly onChangeScripts?: readonly OnChangeArtifact[];
}

/** The entry of one function in `svc.json`. */
export function artifactOf(
  entry: Entry,
  definition: FunctionDefinition,
  features: readonly string[],
): Artifact {
  switch (entry.kind) {
    case 'sync':
      return syncArtifact(entry, definition, features);
    case 'action':
      return actionArtifact(entry, definition, features);
    case 'on-event': {
      const { description, version, event, metadata } = definition;
      const { name } = entry;
      return { type: 'on-event', event: event ?? '', name, description, version, metadata };
    }
    case 'on-change': {
      const { description, version, models, delivery } = definition;
      const { name } = entry;
      if (delivery === undefined) throw new Error(`no delivery in ${entry.file}`);
      return {
        type: 'on-change',
        name,
        description,
        version,
        models: Object.keys(models),
        delivery,
      };
    }
  }
}

function syncArtifact(
  entry: Entry,
  definition: FunctionDefinition,
  features: readonly string[],
): SyncArtifact {
  const { models, metadata } = definition;
  const output = Object.keys(models);
  const input = metadata === null ? null : generatedName('SyncMetadata', entry);
  return {
    type: 'sync',
    name: entry.name,
    description: definition.description,
    version: definition.version,
    runs: definition.frequency ?? '',
    auto_start: definition.autoStart,
    sync_type: definition.syncType,
    track_deletes: definition.trackDeletes,
    input,
    output,
    usedModels: [...output, ...(input === null ? [] : [input])],
    endpoints: definition.endpoints,
    scopes: definition.scopes,
    webhookSubscriptions: definition.webhookSubscriptions,
    features,
    json_schema: schemaOf({
      ...models,
      ...(metadata === null || input === null ? {} : { [input]: metadata }),
    }),
  };
}

function actionArtifact(
  entry: Entry,
  definition: FunctionDefinition,
  features: readonly string[],
): ActionArtifact {
  const input = generatedName('ActionInput', entry);
  const output = generatedName('ActionOutput', entry);
  const nothing = { type: 'null' };
  return {
    type: 'action',
    name: entry.name,
    description: definition.description,
    version: definition.version,
    input,
    output: [output],
    usedModels: [input, output],
    endpoint: definition.endpoint,
    scopes: definition.scopes,
    features,
    json_schema: schemaOf({
      [input]: definition.input ?? nothing,
      [output]: definition.output ?? nothing,
    }),
  };
}

/** `ActionInput_crm_createcontact` for the action `create-contact` of `crm`. */
function generatedName(prefix: string, { integrationKey, name }: Entry): string {
  const key = integrationKey.replaceAll(/[^a-zA-Z0-9]/g, '_');
  return `${prefix}_${key}_${name.replaceAll(/[^a-zA-Z0-9]/g, '')}`;
}

function schemaOf(models: Readonly<Record<string, JsonObject>>): JsonSchema {
  const definitions = Object.entries(models).map(([name, { $schema: _, ...schema }]) => {
    return [name, rebase(schema, `#/definitions/${name}`)] as const;
  });
  return { definitions: Object.fromEntries(definitions) };
}

/** References within a model start at its own root: they are adjusted to its new position. */
function rebase(schema: Json, root: string): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => rebase(item, root));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([key, value]): [string, Json] => {
    const isReference = key === '$ref' && typeof value === 'string' && value.startsWith('#');
    return [key, isReference ? `${root}${value.slice(1)}` : rebase(value, root)];
  });
  return Object.fromEntries(entries);
}

/** All integrations of a project, in the order of `index.ts`. */
export function svcJson(
  functions: readonly { readonly entry: Entry; readonly artifact: Artifact }[],
): IntegrationArtifacts[] {
  const keys = new Set(functions.map(({ entry }) => entry.integrationKey));
  return [...keys].map((providerConfigKey) => {
    const own = functions
      .filter(({ entry }) => entry.integrationKey === providerConfigKey)
      .map(({ artifact }) => artifact);
    const onChangeScripts = own.filter((artifact) => artifact.type === 'on-change');
    const scripts = own.filter((artifact) => artifact.type === 'on-event');
    const onEvent = (event: string): Omit<OnEventArtifact, 'type' | 'event'>[] =>
      scripts
        .filter((script) => script.event === event)
        .map(({ name, description, version, metadata }) => ({
          name,
          description,
          version,
          metadata,
        }));
    return {
      providerConfigKey,
      syncs: own.filter((artifact) => artifact.type === 'sync'),
      actions: own.filter((artifact) => artifact.type === 'action'),
      onEventScripts: {
        'post-connection-creation': onEvent('post-connection-creation'),
        'pre-connection-deletion': onEvent('pre-connection-deletion'),
        'validate-connection': onEvent('validate-connection'),
      },
      ...(onChangeScripts.length === 0 ? {} : { onChangeScripts }),
    };
  });
}
