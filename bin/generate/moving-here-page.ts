import { routes } from '#api/routes.ts';
import { aliasesOf, inModeOf } from '#cli/import/credentials.ts';
import { loadMapping, sectionNames, type Mapping } from '#cli/import/mapping.ts';
import { problemCodes } from '#cli/import/problem.ts';
import { byEveryName, chosenProvider, type NamedProvider } from '#cli/import/target.ts';
import { definers, removedMethods, renamedMethods, types } from '#cli/migrate/codemod.ts';
import { codeOf } from '#http/define-route.ts';
import { objectOf, type Json } from '#kernel/stable-json.ts';
import {
  entryOfScript,
  loadCatalogue,
  scriptFields,
} from '#modules/connections/providers/load-catalogue.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';
import elsewhere from './entries-elsewhere.json' with { type: 'json' };
import { code, table } from './markdown.ts';

/** An entry of other gateways that differs from ours (`entries-elsewhere.json`). */
interface EntryElsewhere {
  readonly mode: string;
  /** Of ours, where none has the name. */
  readonly entry?: string;
  readonly base_url?: string;
  /** All fields of its `connection_config` that a person fills. */
  readonly fields?: readonly string[];
}

interface CatalogEntry extends NamedProvider {
  readonly proxy?: { readonly base_url?: string };
}

/** An entry there, with the one here that an import takes; undefined: none has the name. */
interface Pair {
  readonly there: EntryElsewhere & { readonly name: string };
  readonly here: CatalogEntry | undefined;
  /** Whether credentials of the mode there come. */
  readonly comes: boolean;
}

const codes = (names: readonly string[]): string => names.map(code).join(', ');

/** `docs/generated/moving-here.md`: what differs for those who come from another gateway. */
export function movingHerePage(hint: string): string {
  const entries = loadCatalogue({ overlayPath: null }).all() as unknown as readonly CatalogEntry[];
  const mapping = loadMapping('', undefined);
  const sections = [...entrySections(entries, mapping), ...otherSections(mapping)];
  const text = sections.map(([title, intro, rows]) => `## ${title}\n\n${intro}\n\n${rows}`);
  return `# What differs from other gateways

The names, modes, fields and addresses that change for those who [move here](../moving-here.md). Entries that are not listed have the
same name, mode and fields here, or their product is not in the catalog. ${hint}

<!-- prettier-ignore-start -->

${text.join('\n\n')}

<!-- prettier-ignore-end -->
`;
}

/** Title, introduction and table. */
type Section = readonly [string, string, string];

function entrySections(entries: readonly CatalogEntry[], mapping: Mapping): readonly Section[] {
  const pairs = pairsOf(entries, mapping);
  return [
    [
      'Entries under another name',
      'The import finds them by the name there. Where an entry of that name is here too, with another mode, the credentials decide.',
      namesTable(entries),
    ],
    [
      'Entries of another mode',
      'A connection comes where the fields of the entry here have names for what its credentials hold there. Otherwise the person connects again.',
      modesTable(pairs, mapping),
    ],
    [
      'Entries without one of their name',
      `Integrations of them do not come (\`unknown_provider\`: ${problemCodes.unknown_provider}). [Define the provider](../add-a-provider.md), or create an integration of the entry of the same product; then people connect again.`,
      missingTable(pairs),
    ],
    [
      'Fields under another name',
      'A value under a name there becomes the value of the field here.',
      fieldsTable(entries),
    ],
    [
      'Fields that differ',
      'A field that is there alone stays in `connection_config`, where no template of the entry reads it. A field that is here alone has to be set: import once, then connect again, or put it into `connection_config` at the source before the import.',
      otherFieldsTable(pairs),
    ],
    [
      'Base addresses that differ',
      'An `endpoint` that repeats the path of the base address, or its beginning, needs no change. Other endpoints of functions and of proxied calls change as the last column says.',
      basesTable(pairs),
    ],
  ];
}

const otherSections = (mapping: Mapping): readonly Section[] => [
  ['Types of credentials', 'Other types have the name of the mode.', typesTable(mapping)],
  ['Fields that an import reads', 'Everything else stays at the source.', readTable(mapping)],
  ['Functions', 'What `svc migrate functions` rewrites, and what needs a hand.', functionsTable()],
  [
    'Endpoints of the API',
    'These are served for clients that use them, or are gone; all others are in the [reference](../reference/http.md).',
    deprecatedTable(),
  ],
  [
    'Scripts of provider definitions',
    `An overlay of your own may name these; the fields ${codes(scriptFields)} take no others.`,
    scriptsTable(),
  ],
];

/** What an import would take for each entry there, by the rules of the import. */
function pairsOf(entries: readonly CatalogEntry[], mapping: Mapping): readonly Pair[] {
  const named = byEveryName(entries);
  return Object.entries(elsewhere as Record<string, EntryElsewhere>).map(([name, entry]) => {
    const there = { ...entry, name };
    const mode = mapping.auth_modes?.[entry.mode]?.mode ?? entry.mode;
    const here = chosenProvider(named.get(name) ?? [], new Set([mode]));
    if (here === undefined && !named.has(entry.entry ?? '')) {
      throw new Error(`entries-elsewhere.json: ${name} names no entry of the catalog`);
    }
    const comes = here !== undefined && (here.auth_mode === mode || takes(here, there, mapping));
    return { there, here, comes };
  });
}

/** Credential fields, and fields beside them, that the modes of people who type their credentials have. */
const typedFields: Readonly<Record<string, readonly string[]>> = {
  BASIC: ['username', 'password'],
  API_KEY: ['apiKey'],
};

function takes(here: NamedProvider, there: EntryElsewhere, mapping: Mapping): boolean {
  const filled = (names: readonly string[] = []) =>
    Object.fromEntries(names.map((name) => [name, 'value']));
  const config = Object.fromEntries(
    Object.values(objectOf(here.credentials)).flatMap((field) =>
      aliasesOf(field).map((name) => [name, 'value']),
    ),
  );
  const credentials = { type: there.mode, ...filled(typedFields[there.mode]) };
  if (typedFields[there.mode] === undefined) return false;
  const entry = { credentials, connection_config: config };
  return objectOf(inModeOf(here, mapping, entry)['credentials'])['type'] === here.auth_mode;
}

function namesTable(entries: readonly CatalogEntry[]): string {
  const names = new Map(entries.map((one) => [one.name, one]));
  const rows = entries.flatMap(({ name, auth_mode: mode, aliases = [] }) =>
    aliases.map((alias) => {
      const other = names.get(alias);
      const condition =
        other === undefined
          ? 'comes'
          : `comes with credentials of ${code(mode)}; else ${code(alias)}`;
      return [code(alias), code(name), code(mode), condition];
    }),
  );
  return table(['There', 'Here', 'Mode', 'Import'], sorted(rows));
}

function modesTable(pairs: readonly Pair[], mapping: Mapping): string {
  const rows = pairs.flatMap(({ there, here, comes }) => {
    const mode = mapping.auth_modes?.[there.mode]?.mode ?? there.mode;
    if (here === undefined || here.auth_mode === mode) return [];
    const outcome = comes
      ? `comes: ${namedFields(here).join(', ')}`
      : `connections do not come (\`auth_mode\`): connect again`;
    return [[code(there.name), code(there.mode), code(here.name), code(here.auth_mode), outcome]];
  });
  return table(['There', 'Mode there', 'Here', 'Mode here', 'Import'], sorted(rows));
}

/** `password` is `apiKey`, for each credential and what is beside it. */
const namedFields = (here: CatalogEntry): string[] =>
  [here.credentials, here.connection_config]
    .flatMap((fields) => Object.entries(objectOf(fields)))
    .flatMap(([name, field]) =>
      aliasesOf(field).map((alias) => `${code(alias)} becomes ${code(name)}`),
    );

function missingTable(pairs: readonly Pair[]): string {
  const rows = pairs.flatMap(({ there, here }) =>
    here === undefined ? [[code(there.name), code(there.mode), code(there.entry ?? '')]] : [],
  );
  return table(['There', 'Mode there', 'Entry of the same product here'], sorted(rows));
}

function fieldsTable(entries: readonly CatalogEntry[]): string {
  const rows = entries.flatMap(({ name, credentials, connection_config: config }) =>
    [
      ['connection_config', config],
      ['credentials', credentials],
    ].flatMap(([group, fields]) =>
      Object.entries(objectOf(fields as Json)).flatMap(([field, definition]) =>
        aliasesOf(definition).map((alias) => [
          code(name),
          code(alias),
          code(field),
          code(group as string),
        ]),
      ),
    ),
  );
  return table(['Entry', 'There', 'Here', 'Of'], sorted(rows));
}

function otherFieldsTable(pairs: readonly Pair[]): string {
  const rows = pairs.flatMap(({ there, here, comes }) => {
    if (there.fields === undefined || here === undefined || !comes) return [];
    const own = Object.entries(objectOf(here.connection_config));
    const credentials = Object.values(objectOf(here.credentials));
    const known = new Set([
      ...own.flatMap(([name, field]) => [name, ...aliasesOf(field)]),
      ...credentials.flatMap(aliasesOf),
    ]);
    const isThere = new Set([...there.fields, ...(typedFields[there.mode] ?? [])]);
    const alone = there.fields.filter((name) => !known.has(name));
    const lacking = own.filter(([name, field]) => {
      const { optional, automated, default_value: value } = objectOf(field);
      const isNeeded = optional !== true && automated !== true && value === undefined;
      return isNeeded && ![name, ...aliasesOf(field)].some((one) => isThere.has(one));
    });
    if (alone.length + lacking.length === 0) return [];
    return [[code(there.name), codes(alone), codes(lacking.map(([name]) => name))]];
  });
  return table(['Entry', 'There alone', 'Here alone'], sorted(rows));
}

function basesTable(pairs: readonly Pair[]): string {
  const rows = pairs.flatMap(({ there, here }) => {
    const [theirs, ours] = [there.base_url, here?.proxy?.base_url];
    if (theirs === undefined || ours === undefined) return [];
    const shown = ours.replaceAll('connectionConfig.', '');
    const advice = endpointAdvice(theirs, shown);
    return advice === null ? [] : [[code(there.name), code(theirs), code(shown), advice]];
  });
  return table(['Entry', 'There', 'Here', 'Endpoints'], sorted(rows));
}

/** Names of fields in a template are of no account. */
const canonical = (address: string): string => address.replaceAll(/\$\{[^}]*\}/g, '${}');

/** Null for the same address. */
function endpointAdvice(theirs: string, ours: string): string | null {
  const [there, here] = [partsOf(theirs), partsOf(ours)];
  const isTemplate = `${there.host}${here.host}`.includes('${');
  const hosts =
    canonical(there.host) === canonical(here.host)
      ? null
      : `the host is ${isTemplate ? 'of other fields' : 'another, maybe of another API'}`;
  const advice = [hosts, pathAdvice(there.path, here.path)].filter((one) => one !== null);
  return advice.length === 0 ? null : advice.join('; ');
}

function pathAdvice(there: string, here: string): string | null {
  if (canonical(there) === canonical(here)) return null;
  if (canonical(there).startsWith(canonical(here))) {
    return `write ${code(there.slice(here.length))} before them`;
  }
  return canonical(here).startsWith(canonical(there))
    ? `only those that begin with ${code(here.slice(there.length))}, which is dropped`
    : 'write the path here';
}

interface BaseParts {
  readonly host: string;
  readonly path: string;
}

function partsOf(address: string): BaseParts {
  const [, host = address, path = ''] =
    /^(https?:\/\/[^/]+|\$\{[^}]+\})(\/.*)?$/.exec(address) ?? [];
  return { host, path };
}

function typesTable(mapping: Mapping): string {
  const renamed = Object.entries(mapping.auth_modes ?? {}).map(([type, { mode = type }]) => [
    code(type),
    code(mode),
  ]);
  const modes = new Set<string>([...authModes, ...Object.keys(mapping.auth_modes ?? {})]);
  const others = new Set(
    Object.values(elsewhere as Record<string, EntryElsewhere>).map(({ mode }) => mode),
  ).difference(modes);
  return table(
    ['There', 'Here'],
    [...renamed, ...[...others].map((mode) => [code(mode), 'none: does not come (`auth_mode`)'])],
  );
}

const readTable = (mapping: Mapping): string =>
  table(
    ['Section', 'Read from', 'Fields'],
    sectionNames.flatMap((name) => {
      const section = mapping[name];
      if (section === undefined) return [];
      const { list, item, fields } = section;
      const paths = [list.path, ...(item === undefined ? [] : [item.path])];
      return [[code(name), codes(paths.map((path) => `GET ${path}`)), codes(Object.keys(fields))]];
    }),
  );

const functionsTable = (): string =>
  table(
    ['There', 'Here'],
    [
      [`imports of ${codes(definers)}`, 'rewritten'],
      [`imports of the types ${codes([...types])}`, 'rewritten'],
      ['other imports of the package', 'listed for a hand'],
      ...Object.entries(renamedMethods).map(([from, to]) => [
        code(from),
        `rewritten to ${code(to)}`,
      ]),
      ...Object.entries(removedMethods).map(([name, advice]) => [code(name), `gone. ${advice}`]),
    ],
  );

function deprecatedTable(): string {
  const rows = routes.flatMap(({ method, path, deprecation, errors }) =>
    deprecation === undefined
      ? []
      : [
          [
            code(`${method} ${path}`),
            errors.some((one) => codeOf(one) === 'endpoint_removed') ? 'gone' : 'served',
          ],
        ],
  );
  return table(['Endpoint', 'Here'], sorted(rows));
}

const scriptsTable = (): string =>
  table(
    ['`post_connection_script`', 'Here'],
    [...entryOfScript].map(([script, entry]) => [
      code(script),
      `the ${code('connection_lookup')} of ${code(entry)}`,
    ]),
  );

/** By the names in the first cell. */
const sorted = (rows: readonly (readonly string[])[]): readonly (readonly string[])[] => {
  const key = ([name = '']: readonly string[]): string => name.replaceAll('`', '');
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
};
