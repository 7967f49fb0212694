import { createHash } from 'node:crypto';
import type { Input } from '#client/index.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { CompiledFunction, CompiledProjection } from '../compiler/compile.ts';
import { CommandFailure, usageError } from '../exit.ts';

export type DeployRequest = Input<'POST /functions/deployments/bundle'>['body'];
export type PreviewRequest = Input<'POST /functions/deployments/bundle/preview'>['body'];
type ReconciliationScope = DeployRequest['reconciliationScope'];

/** The functions of a deployment. */
export interface Selection {
  readonly sync?: string | undefined;
  readonly action?: string | undefined;
  readonly integration?: string | undefined;
  /** Also removes the functions of integrations that the project does not contain. */
  readonly prune?: boolean | undefined;
}

/** The functions to deploy, and the label of their version. */
export interface Deployment {
  readonly request: DeployRequest;
  /** The same with digests in place of the files. */
  readonly preview: PreviewRequest;
  readonly functions: readonly CompiledFunction[];
  readonly projections: readonly CompiledProjection[];
  /** Whether projections that the project does not contain are removed. */
  readonly isPruned: boolean;
  /** The label of a function: the one of this deployment, or its own. */
  readonly version: (name: string, type: string, integrationId: string) => string;
}

/**
 * The request for the selected functions.
 * @throws CommandFailure when nothing or too much is selected
 */
export function packageFunctions(
  all: readonly CompiledFunction[],
  selection: Selection,
  version: string | undefined,
  projections: readonly CompiledProjection[] = [],
): Deployment {
  const { functions, reconciliationScope } = select(all, selection);
  const labeled = functions.map((one): CompiledFunction => {
    if (version === undefined) return one;
    return { ...one, artifact: { ...one.artifact, version } };
  });
  return {
    functions: labeled,
    // A selection is of functions.
    projections: isWhole(selection) ? projections : [],
    isPruned: selection.prune === true,
    request: deployRequest(reconciliationScope, labeled),
    preview: previewRequest(reconciliationScope, labeled),
    version: (name, type, integrationId) =>
      labeled.find(
        ({ entry }) =>
          entry.name === name && entry.kind === type && entry.integrationKey === integrationId,
      )?.artifact.version ?? '',
  };
}

const isWhole = ({ sync, action, integration }: Selection): boolean =>
  (sync ?? action ?? integration) === undefined;

function select(
  all: readonly CompiledFunction[],
  { sync, action, integration, prune }: Selection,
): { functions: readonly CompiledFunction[]; reconciliationScope: ReconciliationScope } {
  if (sync !== undefined && action !== undefined) {
    throw usageError('Name a sync or an action, not both');
  }
  if (prune === true && (sync ?? action ?? integration) !== undefined) {
    throw usageError(
      '--prune is for a whole project: leave out --sync, --action and --integration',
    );
  }
  const ofIntegration = all.filter(
    ({ entry }) => integration === undefined || entry.integrationKey === integration,
  );
  const name = sync ?? action;
  if (name !== undefined) {
    const type = sync === undefined ? 'action' : 'sync';
    const { entry } = single(ofIntegration, type, name);
    const { integrationKey: integrationId } = entry;
    return {
      functions: all.filter((one) => one.entry === entry),
      reconciliationScope: { kind: 'function', integrationId, name, type },
    };
  }
  if (integration === undefined) {
    if (prune === true) return { functions: all, reconciliationScope: { kind: 'environment' } };
    return { functions: all, reconciliationScope: projectScope(all) };
  }
  if (ofIntegration.length === 0) {
    throw new CommandFailure(`index.ts names no function of the integration "${integration}"`);
  }
  return {
    functions: ofIntegration,
    reconciliationScope: { kind: 'integration', integrationId: integration },
  };
}

/** The integrations that a project contains: functions of others are not its own to remove. */
export const projectScope = (all: readonly CompiledFunction[]): ReconciliationScope => ({
  kind: 'integrations',
  integrationIds: [...new Set(all.map(({ entry }) => entry.integrationKey))],
});

function single(
  functions: readonly CompiledFunction[],
  type: 'sync' | 'action',
  name: string,
): CompiledFunction {
  const found = functions.filter(({ entry }) => entry.kind === type && entry.name === name);
  const [first, second] = found;
  if (first === undefined) throw new CommandFailure(`index.ts names no ${type} "${name}"`);
  if (second !== undefined) {
    const keys = found.map(({ entry }) => entry.integrationKey).join(', ');
    throw new CommandFailure(
      `The ${type} "${name}" exists in ${keys}: choose one with --integration`,
    );
  }
  return first;
}

/** The body of a deployment; the compiler has checked what the functions declare. */
export const deployRequest = (
  reconciliationScope: ReconciliationScope,
  functions: readonly CompiledFunction[],
): DeployRequest => ({
  reconciliationScope,
  functions: functions.map(flowConfig) as unknown as DeployRequest['functions'],
});

/** Compares by digests, so that the files of unchanged functions are not sent. */
export const previewRequest = (
  reconciliationScope: ReconciliationScope,
  functions: readonly CompiledFunction[],
): PreviewRequest => ({
  reconciliationScope,
  functions: functions.map((one) => ({
    ...flowConfig(one),
    fileBody: { js_sha256: digestOf(one.bundle), ts_sha256: digestOf(one.source) },
  })) as unknown as PreviewRequest['functions'],
});

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A function in the form of the API (docs/reference/http.md#functions-and-deployments). */
export function flowConfig({ entry, artifact, bundle, source }: CompiledFunction): JsonObject {
  const fileBody = { js: bundle, ts: source };
  const { name, version, description } = artifact;
  if (artifact.type === 'on-event') {
    return {
      type: 'on-event',
      name,
      integrationId: entry.integrationKey,
      event: artifact.event,
      version,
      metadata: { description },
      fileBody,
    };
  }
  if (artifact.type === 'on-change') {
    return {
      type: 'on-change',
      name,
      integrationId: entry.integrationKey,
      models: artifact.models,
      ...artifact.delivery,
      version,
      metadata: { description },
      fileBody,
    };
  }
  const common = {
    type: artifact.type,
    syncName: name,
    providerConfigKey: entry.integrationKey,
    models: artifact.output,
    version,
    metadata: { description, scopes: artifact.scopes },
    features: artifact.features,
    models_json_schema: artifact.json_schema,
    fileBody,
    ...(artifact.input === null ? {} : { input: artifact.input }),
  };
  if (artifact.type === 'action') {
    return {
      ...common,
      runs: null,
      endpoints: artifact.endpoint === null ? [] : [artifact.endpoint],
    };
  }
  return {
    ...common,
    runs: artifact.runs,
    auto_start: artifact.auto_start,
    track_deletes: artifact.track_deletes,
    sync_type: artifact.sync_type,
    endpoints: artifact.endpoints,
    webhookSubscriptions: artifact.webhookSubscriptions,
  };
}
