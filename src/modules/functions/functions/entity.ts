import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import { integrationRef } from '#modules/connections/integrations/entity.ts';
import {
  deployedFunction,
  type Debounce,
  type FunctionCommand,
  type FunctionEvent,
  type DeployedFunction,
  type FunctionKind,
} from './function.ts';

export interface FunctionEntity {
  readonly kind: 'function';
  readonly state: DeployedFunction;
  readonly command: FunctionCommand;
  readonly event: FunctionEvent;
  readonly topic: 'svc.config.v1';
  readonly facts: { readonly isIntegrationKnown: boolean };
}

export const functionRef = (
  environmentUid: string,
  integrationKey: string,
  kind: FunctionKind,
  name: string,
): EntityRef<FunctionEntity> => ({
  kind: 'function',
  scope: environmentUid,
  path: [environmentUid, integrationKey, kind, name],
});

const actions = {
  FunctionDeployed: 'deployed',
  FunctionEnabled: 'enabled',
  FunctionDisabled: 'disabled',
  FunctionRecordingSet: 'recording_set',
  FunctionConcurrencySet: 'concurrency_set',
  FunctionDebounceSet: 'debounce_set',
  FunctionMoved: 'moved',
  FunctionDeleted: 'deleted',
} as const;

export const functionEntity: EntityDefinition<FunctionEntity> = {
  kind: 'function',
  decider: deployedFunction,
  isNumbered: true,

  facts(_command, ref, siblings) {
    const [environmentUid = '', integrationKey = ''] = ref.path;
    const integration = siblings.find(integrationRef(environmentUid, integrationKey));
    return { isIntegrationKnown: integration !== null && !integration.isDeleting };
  },

  publishes: { 'svc.config.v1': true },
  publish: publishConfig('function', actions, (subject) => ({
    id: [subject.environmentUid, subject.integrationKey, subject.kind, subject.name],
    environmentUid: subject.environmentUid,
    integration: subject.integrationKey,
    document: publicDocument(subject),
  })),
};

export const presentDebounce = ({ waitMs, maxWaitMs, payload }: Debounce) => ({
  seconds: waitMs / 1000,
  max_wait_seconds: maxWaitMs / 1000,
  payload,
});

/** Without the code, which may contain secrets by mistake. */
function publicDocument(state: DeployedFunction): Record<string, unknown> {
  const { id, name, kind, version, description, isEnabled, models, contentHash } = state;
  const { frequency, autoStart, trackDeletes, syncType, event, inputModel, scopes } = state;
  return {
    id,
    name,
    type: kind,
    integration: state.integrationKey,
    version,
    description,
    enabled: isEnabled,
    record_calls: state.recordsCalls === true,
    concurrency: state.concurrency ?? null,
    debounce: state.debounce === undefined ? null : presentDebounce(state.debounce),
    models,
    json_schema: state.jsonSchema,
    input_model: inputModel,
    scopes,
    content_hash: contentHash,
    frequency,
    auto_start: autoStart,
    track_deletes: trackDeletes,
    sync_type: syncType,
    event,
    deployed_at: new Date(state.deployedAt).toISOString(),
  };
}
