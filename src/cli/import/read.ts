import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { inParallel } from '../in-parallel.ts';
import type { SectionName } from './mapping.ts';
import type { Problem } from './problem.ts';
import { SourceFailure, type Source } from './source.ts';

/** Everything that the source holds, in the fields of the mapping. */
export interface SourceData {
  readonly entries: Readonly<Record<SectionName, readonly JsonObject[]>>;
  readonly problems: readonly Problem[];
}

/** The name of an entry in a report. */
export function idOf(kind: SectionName, entry: JsonObject): string {
  const text = (name: string): string => {
    const value: Json | undefined = entry[name];
    return typeof value === 'string' ? value : '?';
  };
  switch (kind) {
    case 'integrations':
      return text('unique_key');
    case 'connections':
      return `${text('provider_config_key')}/${text('connection_id')}`;
    case 'syncs': {
      const variant = entry['variant'] ?? 'base';
      const name = `${text('provider_config_key')}/${text('connection_id')}/${text('name')}`;
      return variant === 'base' ? name : `${name}::${text('variant')}`;
    }
    case 'variables':
      return text('name');
    case 'webhook_endpoints':
      // Its address may hold a secret.
      return `${text('display_name')} ${URL.parse(text('url'))?.host ?? ''}`.trim();
  }
}

/**
 * Reads all sections. Entries that fail are problems; a failure of the list of integrations or connections ends it.
 * @param open opens the sealed part of an entry
 * @throws SourceFailure
 */
export async function readSource(
  source: Source,
  open: (kind: SectionName, entry: JsonObject) => Promise<JsonObject>,
  progress: (text: string) => void,
): Promise<SourceData> {
  progress(`Reading ${source.name}`);
  const reader = new Reader(source, open, progress);
  const integrations = await reader.whole('integrations', await reader.listed('integrations'));
  const connections = await reader.whole('connections', await reader.listed('connections'));
  const syncs = await inParallel(integrations, ({ unique_key: key }) =>
    reader.optional('syncs', typeof key === 'string' ? { provider_config_key: key } : {}),
  );
  const variables = await reader.whole('variables', await reader.optional('variables'));
  const endpoints = await reader.whole(
    'webhook_endpoints',
    await reader.optional('webhook_endpoints'),
  );
  return {
    entries: {
      integrations,
      connections,
      syncs: withoutDoubles(syncs.flat()),
      variables,
      // Settings of the environment appear among them.
      webhook_endpoints: endpoints.filter(({ managed_by: by }) => by !== 'environment'),
    },
    problems: reader.problems,
  };
}

class Reader {
  readonly problems: Problem[] = [];
  readonly #source: Source;
  readonly #open: (kind: SectionName, entry: JsonObject) => Promise<JsonObject>;
  readonly #progress: (text: string) => void;

  constructor(
    source: Source,
    open: (kind: SectionName, entry: JsonObject) => Promise<JsonObject>,
    progress: (text: string) => void,
  ) {
    this.#source = source;
    this.#open = open;
    this.#progress = progress;
  }

  /** @throws SourceFailure */
  async listed(kind: SectionName, values?: JsonObject): Promise<readonly JsonObject[]> {
    const { entries, gaps } = await this.#source.list(kind, values);
    for (const gap of gaps) this.#report(kind, '*', gap);
    return entries;
  }

  /** A gateway need not have these. */
  async optional(kind: SectionName, values?: JsonObject): Promise<readonly JsonObject[]> {
    try {
      return await this.listed(kind, values);
    } catch (error) {
      if (!(error instanceof SourceFailure)) throw error;
      const ofIntegration = values?.['provider_config_key'];
      const id = typeof ofIntegration === 'string' ? `${ofIntegration}/*` : '*';
      if (error.status !== 404) this.#report(kind, id, error.message);
      return [];
    }
  }

  /** The entries with all of their fields. */
  async whole(kind: SectionName, entries: readonly JsonObject[]): Promise<readonly JsonObject[]> {
    let done = 0;
    const read = await inParallel(entries, async (entry): Promise<JsonObject[]> => {
      try {
        return [await this.#open(kind, await this.#source.whole(kind, entry))];
      } catch (error) {
        if (!(error instanceof SourceFailure)) throw error;
        this.#report(kind, idOf(kind, entry), error.message);
        return [];
      } finally {
        done += 1;
        this.#progress(`Reading ${kind} of ${this.#source.name}: ${done}/${entries.length}`);
      }
    });
    return read.flat();
  }

  #report(kind: SectionName, id: string, message: string): void {
    this.problems.push({ kind, id, code: 'source_failed', message, came: false });
  }
}

/** A file has one list of all integrations, which is read for each of them. */
const withoutDoubles = (entries: readonly JsonObject[]): JsonObject[] => [
  ...new Map(entries.map((entry) => [idOf('syncs', entry), entry])).values(),
];
