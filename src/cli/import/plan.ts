import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { parseFrequency } from '#modules/functions/functions/frequency.ts';
import { inParallel } from '../in-parallel.ts';
import { integrationKeyPattern } from '../project-layout.ts';
import { integrationCredentials, modesAtSource } from './credentials.ts';
import {
  decideConnection,
  changed,
  isSame,
  isText,
  requiredName,
  requiredText,
  sentFields,
  shownAddress,
  type Decision,
  type PlanContext,
  type Step,
} from './decision.ts';
import type { SectionName } from './mapping.ts';
import { CannotCome, refusedProblem, type Problem } from './problem.ts';
import { idOf, type SourceData } from './read.ts';
import { chosenProvider, keyOf } from './target.ts';

export interface Plan {
  readonly steps: readonly Step[];
  readonly unchanged: Readonly<Record<SectionName, number>>;
  readonly problems: readonly Problem[];
}

/** What is to be done; nothing is changed yet. @throws ApiError */
export async function planImport(
  { entries, problems }: SourceData,
  context: Pick<PlanContext, 'client' | 'mapping' | 'target' | 'secrets' | 'now'>,
): Promise<Plan> {
  const planning: PlanContext = {
    ...context,
    providers: new Map(),
    modes: modesAtSource(context.mapping, entries),
    problems: [...problems],
    arriving: new Set(),
  };
  const steps: Step[] = [];
  const unchanged = {
    integrations: 0,
    connections: 0,
    syncs: 0,
    variables: 0,
    webhook_endpoints: 0,
  };
  const decide = async (
    kind: SectionName,
    rule: (entry: JsonObject) => Decision | Promise<Decision>,
  ): Promise<void> => {
    await inParallel(entries[kind], async (entry) => {
      const ref = { kind, id: idOf(kind, entry) };
      try {
        const decision = await rule(entry);
        if (decision === null) unchanged[kind] += 1;
        else steps.push({ ...ref, ...decision, entry });
      } catch (error) {
        planning.problems.push(refusedProblem(ref, error, entry));
      }
    });
  };
  await decide('variables', (entry) => decideVariable(planning, entry));
  await decide('integrations', (entry) => decideIntegration(planning, entry));
  await decide('connections', (entry) => decideConnection(planning, entry));
  await decide('syncs', (entry) => decideSync(planning, entry));
  await decide('webhook_endpoints', (entry) => decideEndpoint(planning, entry));
  return { steps, unchanged, problems: planning.problems };
}

function decideVariable({ target }: PlanContext, entry: JsonObject): Decision {
  const name = requiredText(entry, 'name');
  const { value } = entry;
  if (!isText(value)) throw new CannotCome('invalid', 'Its value is no text.');
  if (/\*{3}/.test(value)) throw new CannotCome('masked_secret', 'Its value is masked.');
  const existing = target.variables.get(name);
  if (existing === value) return null;
  return {
    action: existing === undefined ? 'create' : 'update',
    fields: existing === undefined ? [] : ['value'],
    apply: (client) =>
      client.request('PUT /environment-variables/{name}', { params: { name }, body: { value } }),
  };
}

const integrationFields = ['display_name', 'forward_webhooks', 'integration_config', 'custom'];

function decideIntegration(context: PlanContext, entry: JsonObject): Decision {
  const { target, mapping, secrets } = context;
  const uniqueKey = requiredName(entry, 'unique_key', integrationKeyPattern);
  const theirs = requiredText(entry, 'provider');
  const named = mapping.providers?.[theirs] ?? theirs;
  const existing = target.integrations.get(uniqueKey);
  const provider = chosenProvider(
    target.providers.get(named) ?? [],
    context.modes.get(uniqueKey) ?? new Set(),
    existing?.provider,
  );
  if (provider === undefined) {
    const message = `"${named}" is not in the catalog: define it, or name another in the mapping.`;
    throw new CannotCome('unknown_provider', message);
  }
  const { name } = provider;
  if (existing !== undefined && existing.provider !== name) {
    const message = `It is of "${existing.provider}" here, of "${name}" at the source.`;
    throw new CannotCome('provider_differs', message);
  }
  const own = secrets[uniqueKey];
  const sent = isJsonObject(own) ? { ...entry, credentials: own } : entry;
  // Its connections can come all the same where it is here already.
  if (existing !== undefined) context.providers.set(uniqueKey, name);
  const credentials = integrationCredentials(mapping, provider, sent);
  context.providers.set(uniqueKey, name);
  const empty = ([, value]: readonly [string, Json]): boolean =>
    !(isJsonObject(value) && Object.keys(value).length === 0);
  const settings = Object.fromEntries(
    Object.entries(sentFields(entry, integrationFields)).filter(empty),
  );
  const wanted = { ...settings, ...(credentials === null ? {} : { credentials }) };
  if (existing === undefined) {
    const body = { provider: name, unique_key: uniqueKey, ...wanted };
    return {
      action: 'create',
      fields: [],
      apply: (client) => client.request('POST /integrations', { body }),
    };
  }
  const shown = existing as unknown as JsonObject;
  const differing = [
    ...changed(settings, shown),
    ...(credentials !== null && changed(credentials, objectOf(shown['credentials'])).length > 0
      ? ['credentials']
      : []),
  ];
  if (differing.length === 0) return null;
  return {
    action: 'update',
    fields: differing,
    apply: (client) =>
      client.request('PATCH /integrations/{uniqueKey}', {
        params: { uniqueKey },
        body: sentFields(wanted, differing),
      }),
  };
}

function decideSync(context: PlanContext, entry: JsonObject): Decision {
  const { target, arriving } = context;
  const key = requiredText(entry, 'provider_config_key');
  const name = requiredText(entry, 'name');
  const connectionId = requiredText(entry, 'connection_id');
  const variant = isText(entry['variant']) ? entry['variant'] : 'base';
  const runs = target.deployed.get(keyOf(key, name));
  if (runs === undefined) {
    const message = 'Move it with svc migrate functions, deploy it, and run the import again.';
    throw new CannotCome('missing_function', message);
  }
  if (!arriving.has(keyOf(key, connectionId))) {
    throw new CannotCome('no_integration', 'Its connection could not be imported.');
  }
  const existing = target.syncs.get(keyOf(key, connectionId, name, variant));
  const isPaused = entry['status'] === 'PAUSED' || entry['status'] === 'STOPPED';
  const wasPaused = existing?.status === 'PAUSED' || existing?.status === 'STOPPED';
  const frequency = isText(entry['frequency']) ? entry['frequency'] : null;
  const setsFrequency =
    frequency !== null && frequencyMs(frequency) !== frequencyMs(existing?.frequency ?? runs);
  const isNewVariant = existing === undefined && variant !== 'base';
  const changesState = existing === undefined ? isPaused : isPaused !== wasPaused;
  const fields = [
    ...(isNewVariant ? ['variant'] : []),
    ...(setsFrequency ? ['frequency'] : []),
    ...(changesState ? ['status'] : []),
  ];
  if (fields.length === 0) return null;
  const ref = { provider_config_key: key, connection_id: connectionId };
  return {
    action: existing === undefined ? 'create' : 'update',
    fields,
    apply: async (client) => {
      if (isNewVariant) {
        const params = { name, variant };
        await client.request('POST /sync/{name}/variant/{variant}', { params, body: ref });
      }
      if (setsFrequency) {
        const body = { ...ref, sync_name: name, sync_variant: variant, frequency };
        await client.request('PUT /sync/update-connection-frequency', { body });
      }
      if (changesState) {
        const body = { ...ref, syncs: [{ name, variant }] };
        await client.request(isPaused ? 'POST /sync/pause' : 'POST /sync/start', { body });
      }
    },
  };
}

/** Null when it cannot be read: the service names it then. */
function frequencyMs(text: string | null): number | null {
  if (text === null) return null;
  try {
    return parseFrequency(text);
  } catch {
    return null;
  }
}

const endpointFields = [
  'url',
  'display_name',
  'kinds',
  'provider_config_key',
  'connection_id',
  'enabled',
  'retry_waits_seconds',
  'disable_after_days',
  'filter',
  'ordered',
];

/** An endpoint is another one when its address or what it gets differs. */
function decideEndpoint({ target }: PlanContext, entry: JsonObject): Decision {
  const url = requiredText(entry, 'url');
  const own = (from: JsonObject): Json =>
    ['url', 'provider_config_key', 'connection_id'].map((name) => from[name] ?? null);
  const body = { ...sentFields(entry, endpointFields), url };
  const existing = target.endpoints.find((one) =>
    isSame(own(one as unknown as JsonObject), own(entry)),
  );
  if (existing === undefined) {
    return {
      action: 'create',
      fields: [],
      addresses: [shownAddress(url)],
      apply: (client) => client.request('POST /webhook-endpoints', { body }),
    };
  }
  const fields = changed(body, existing);
  if (fields.length === 0 || existing.managed_by === 'environment') return null;
  return {
    action: 'update',
    fields,
    addresses: [shownAddress(url)],
    apply: (client) =>
      client.request('PATCH /webhook-endpoints/{id}', {
        params: { id: existing.id },
        body: sentFields(body, fields),
      }),
  };
}
