import { useQuery } from '@tanstack/preact-query';
import type MiniSearch from 'minisearch';
import { searchOptions, type SearchSection } from '../../docs-site/search-options.ts';
import { pathOf, useParts } from '../data/route.ts';
import type { Access } from '../session/context.tsx';
import { openConnection, recordsOf } from './record-targets.ts';
import type { Target } from './target.ts';

/** Those that have each word in their texts, first the ones whose name begins with the text. */
export function matching(targets: readonly Target[], text: string): readonly Target[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const found = targets.filter(({ label, detail = '', group }) => {
    const whole = `${label} ${detail} ${group}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
  const isFirst = ({ label }: Target): boolean => label.toLowerCase().startsWith(wanted);
  return [...found.filter(isFirst), ...found.filter((one) => !isFirst(one))];
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Fewer letters find too much. */
const charsMin = 2;
const freshMs = 60_000;

/** What the environment and the documentation have for the text, as far as the key may read it. */
export function useFoundTargets(
  access: Access | null,
  text: string,
): { readonly targets: readonly Target[]; readonly isLoading: boolean } {
  const isLong = text.length >= charsMin;
  const isOffered = (scope: string): boolean => isLong && access?.can(scope) === true;
  const read = (
    name: string,
    input: string,
    isEnabled: boolean,
    find: (access: Access, signal: AbortSignal) => Promise<readonly Target[]>,
  ) => ({
    queryKey: [access?.key.id, 'search', name, input],
    queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
      access === null ? [] : find(access, signal),
    enabled: isEnabled && access !== null,
    staleTime: freshMs,
    retry: false,
  });
  const runs = useQuery(
    read('run', text, uuid.test(text) && isOffered('environment:logs:read'), (one, signal) =>
      runOf(one, text, signal),
    ),
  );
  const connection = openConnection(useParts());
  const canSync = access?.can('environment:syncs:read') === true;
  const records = useQuery(
    read(
      `records ${JSON.stringify(connection)}`,
      text,
      connection !== null && canSync && isOffered('environment:records:read'),
      async (one, signal) => (connection === null ? [] : recordsOf(one, connection, text, signal)),
    ),
  );
  const connections = useQuery(
    read('connections', text, isOffered('environment:connections:list'), (one, signal) =>
      connectionsOf(one, text, signal),
    ),
  );
  const integrations = useQuery(
    read('integrations', '', isOffered('environment:integrations:list'), integrationsOf),
  );
  const functions = useQuery(
    read('functions', '', isOffered('environment:functions:list'), functionsOf),
  );
  const docs = useDocs(text);
  const own = isLong ? [...(integrations.data ?? []), ...(functions.data ?? [])] : [];
  const all = [runs, records, connections, integrations, functions, docs];
  return {
    targets: [
      ...(runs.data ?? []),
      ...(records.data ?? []),
      ...(connections.data ?? []),
      ...matching(own, text),
      ...(docs.data ?? []),
    ],
    isLoading: all.some(({ isFetching }) => isFetching),
  };
}

/** Sections of the documentation. */
const useDocs = (text: string) =>
  useQuery({
    queryKey: ['search', 'docs', text],
    queryFn: () => docsOf(text),
    enabled: text.length > charsMin,
    staleTime: Infinity,
    retry: false,
  });

async function runOf(
  { client, path }: Access,
  id: string,
  signal: AbortSignal,
): Promise<readonly Target[]> {
  const { data } = await client.request('GET /runs/{id}', { params: { id }, signal });
  const { function: name, status, connection_id: connection } = data;
  const detail = `${status} · ${connection}`;
  const href = path(pathOf('runs', id));
  return [{ id: `run ${id}`, group: 'Run', label: name, detail, icon: 'play', href }];
}

const connectionsMax = 6;

async function connectionsOf(
  { client, path }: Access,
  search: string,
  signal: AbortSignal,
): Promise<readonly Target[]> {
  const query = { search, credentials: 'none', limit: connectionsMax } as const;
  const { connections } = await client.request('GET /connections', { query, signal });
  return connections.map(
    ({ id, connection_id: name, provider_config_key: key, end_user: user }) => {
      const person = user?.display_name ?? user?.email;
      return {
        id: `connection ${id}`,
        group: 'Connections',
        label: person ?? name,
        detail: person == null ? key : `${key} · ${name}`,
        icon: 'link',
        href: path(pathOf('connections', key, name)),
      };
    },
  );
}

async function integrationsOf(
  { client, path }: Access,
  signal: AbortSignal,
): Promise<readonly Target[]> {
  const input = { query: { credentials: 'none' }, signal } as const;
  const { data } = await client.request('GET /integrations', input);
  return data.map(({ unique_key: key, provider, display_name: name }) => ({
    id: `integration ${key}`,
    group: 'Integrations',
    label: key,
    detail: name === key ? provider : name,
    icon: 'plug',
    href: path(pathOf('integrations', key)),
  }));
}

async function functionsOf(
  { client, path }: Access,
  signal: AbortSignal,
): Promise<readonly Target[]> {
  const found = await client.request('GET /scripts/config', { query: { format: 'svc' }, signal });
  // The other format has tools for language models.
  if ('data' in found) return [];
  return found.flatMap(({ providerConfigKey: key, syncs, actions }) =>
    [
      ...syncs.map(({ name }) => ['sync', name] as const),
      ...actions.map(({ name }) => ['action', name] as const),
    ].map(([kind, name]) => ({
      id: `${kind} ${key} ${name}`,
      group: 'Functions',
      label: name,
      detail: `${kind} of ${key}`,
      icon: kind === 'sync' ? ('refresh' as const) : ('terminal' as const),
      href: path(`${pathOf('integrations', key)}/functions`),
    })),
  );
}

const docsMax = 5;
let docsIndex: Promise<MiniSearch<SearchSection>> | null = null;

/** Sections of the documentation that this service has, by the index of its own search. */
async function docsOf(text: string): Promise<readonly Target[]> {
  docsIndex ??= loadDocs().catch((error: unknown) => {
    docsIndex = null;
    throw error;
  });
  const found = (await docsIndex).search(text).slice(0, docsMax);
  return found.map(({ id, ...stored }) => {
    const { title, heading } = stored as unknown as SearchSection;
    return {
      id: `docs ${String(id)}`,
      group: 'Documentation',
      label: heading === '' ? title : heading,
      ...(heading === '' ? {} : { detail: title }),
      icon: 'help',
      href: `/docs/${String(id)}`,
      isOutside: true,
    };
  });
}

async function loadDocs(): Promise<MiniSearch<SearchSection>> {
  const [response, { default: Index }] = await Promise.all([
    fetch('/docs/search.json'),
    import('minisearch'),
  ]);
  if (!response.ok) throw new Error(`/docs/search.json: ${response.status}`);
  return Index.loadJSON<SearchSection>(await response.text(), searchOptions);
}
