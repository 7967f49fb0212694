import type { Provider } from '#modules/connections/providers/definition.ts';

/** A version of a provider's API that its definition names. */
export interface PinnedVersion {
  readonly entry: string;
  readonly version: string;
  /** Fields of the definition that name it. */
  readonly fields: readonly string[];
}

/** Texts for people and for attribution: they name no version that a request depends on. */
const withoutVersions = new Set([
  'name',
  'aliases',
  'display_name',
  'categories',
  'docs',
  'docs_connect',
  'setup_guide_url',
  'credentials',
  'connection_config',
  'integration_config',
  'assertion_option',
]);
const dated = /^\d{4}-\d{2}(?:-\d{2})?$/;
/** `v2`, `v21.0`, `v1beta`, `v2021-02-25`. */
const prefixed = /^v\d+(?:\.\d+)?(?:alpha|beta)?\d*$|^v\d{4}-\d{2}-\d{2}$/;
const numbered = /^\d+(?:\.\d+)*$/;
const versionHeader = /(?:^|-)(?:version|maxversion|revision)$/;

/** Every version in an address, a path, a header or a parameter of the definition, in its order. */
export function pinnedVersions(provider: Provider): PinnedVersion[] {
  const fieldsByVersion = new Map<string, string[]>();
  for (const [field, text] of textsOf('', provider)) {
    for (const version of new Set(versionsIn(field, text))) {
      fieldsByVersion.set(version, [...(fieldsByVersion.get(version) ?? []), field]);
    }
  }
  return [...fieldsByVersion].map(([version, fields]) => ({
    entry: provider.name,
    version,
    fields,
  }));
}

function textsOf(field: string, value: unknown): [string, string][] {
  if (typeof value === 'string') return [[field, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (field === '' && withoutVersions.has(name)) return [];
    return textsOf(field === '' ? name : `${field}.${name}`, inner);
  });
}

/** Names in a signature that are versions of the signature, not of the API. */
const ofSignature = /\.(?:element|prefix|message)$/;

function versionsIn(field: string, text: string): string[] {
  if (ofSignature.test(field)) return [];
  const name = field.slice(field.lastIndexOf('.') + 1);
  if (versionHeader.test(name)) return [text];
  const isAddress = /^https?:\/\/|^\/|^\$\{/.test(text);
  const parts = text.split(/[/?&;,#]/);
  return parts.flatMap((part) => {
    const [key = '', value] = part.split('=');
    if (value !== undefined) return isVersionParameter(key, value) ? [value] : [];
    if (dated.test(part) || prefixed.test(part)) return [part];
    if (isAddress && numbered.test(part)) return [part];
    // `oauth.v2.access`, `whoami-v2`, `apiv3.1`, `vnd.recurly.v2021-02-25`, `v3.recurly.com`
    const inner = /(?:[.-]|api|^)(v\d{4}-\d{2}-\d{2}|v\d+(?:\.\d+)?)(?=$|[.-])/.exec(part);
    return inner?.[1] === undefined ? [] : [inner[1]];
  });
}

const isVersionParameter = (key: string, value: string): boolean =>
  /version$/.test(key.trim()) && /^[\d.-]+$/.test(value);
