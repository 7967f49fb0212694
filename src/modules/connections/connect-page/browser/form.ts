import type { Translate } from '#modules/access/connect-ui/texts/translate.ts';
import type { LocalizedField, Provider, AuthMode } from '../../providers/definition.ts';
import { formField, type FieldPart, type FormField, type KnownField } from './field.ts';

/** How the page connects an account of a mode (docs/reference/auth-modes.md#overview). */
interface ModePage {
  /** Start of the endpoint that takes the form, before the integration's key; null = redirect to the provider. */
  readonly endpoint: string | null;
  /** Fields of the mode beside the provider's credential fields. */
  readonly fields: Readonly<Record<string, KnownField>>;
  /** Configuration of the connection that the mode always needs. */
  readonly params?: Readonly<Record<string, KnownField>>;
  /** Whether the definition's credential fields replace those of the mode. */
  readonly hasOwnFields?: true;
}

const longText = 10_000;
const redirect: ModePage = { endpoint: null, fields: {} };
const username: KnownField = { title: 'nameUsername', maxLength: 1024 };
const password: KnownField = { title: 'namePassword', isSecret: true, maxLength: 1024 };

/** Keyed by mode; the fields are those of the endpoints' bodies. */
const modePages: Readonly<Record<AuthMode, ModePage>> = {
  OAUTH1: redirect,
  OAUTH2: redirect,
  MCP_OAUTH2: redirect,
  CUSTOM: redirect,
  APP: redirect,
  OAUTH2_CC: {
    endpoint: '/oauth2/auth/',
    fields: {
      client_id: { title: 'nameClientId', maxLength: 255 },
      client_secret: { title: 'nameClientSecret', isSecret: true, maxLength: 2048 },
    },
  },
  API_KEY: {
    endpoint: '/api-auth/api-key/',
    fields: { apiKey: { title: 'nameApiKey', isSecret: true, maxLength: 1024 } },
  },
  BASIC: {
    endpoint: '/api-auth/basic/',
    // Either may be empty (RFC 7617).
    fields: { username, password: { ...password, isOptional: true } },
  },
  TBA: {
    endpoint: '/auth/tba/',
    fields: {
      token_id: { title: 'nameTokenId', isSecret: true, maxLength: 2048 },
      token_secret: { title: 'nameTokenSecret', isSecret: true, maxLength: 2048 },
    },
    params: { accountId: { title: 'nameAccountId', maxLength: 255 } },
  },
  JWT: { endpoint: '/auth/jwt/', fields: {}, hasOwnFields: true },
  BILL: {
    endpoint: '/auth/bill/',
    fields: {
      username,
      password,
      organization_id: { title: 'nameOrganizationId', maxLength: 1024 },
      dev_key: { title: 'nameDevKey', isSecret: true, maxLength: 1024 },
    },
  },
  AWS_SIGV4: { endpoint: '/auth/aws-sigv4/', fields: {}, hasOwnFields: true },
  TWO_STEP: { endpoint: '/auth/two-step/', fields: {}, hasOwnFields: true },
  SIGNATURE: { endpoint: '/auth/signature/', fields: { username, password } },
  NONE: { endpoint: '/auth/unauthenticated/', fields: {} },
  APP_STORE: {
    endpoint: '/app-store-auth/',
    fields: {
      privateKeyId: { title: 'namePrivateKeyId', maxLength: 255 },
      issuerId: { title: 'nameIssuerId', maxLength: 255 },
      privateKey: { title: 'namePrivateKey', isSecret: true, maxLength: longText },
      scope: { title: 'nameScopes', isOptional: true },
    },
  },
};

/** For clients that authenticate with a certificate or a signed assertion. */
const clientCertificate: Readonly<Record<string, KnownField>> = {
  client_certificate: { title: 'nameClientCertificate', isSecret: true, maxLength: longText },
  client_private_key: { title: 'nameClientPrivateKey', isSecret: true, maxLength: longText },
};
const clientAssertion: Readonly<Record<string, KnownField>> = {
  client_private_key: { title: 'nameClientPrivateKey', isSecret: true, maxLength: longText },
};

/** An app that is installed at the provider: no input here. */
const outboundEndpoint = '/auth/oauth-outbound/';

type Schemas = Readonly<Record<string, LocalizedField>>;

/** The parts of a provider that the page needs, with texts in the user's language. */
export type ProviderForm = Pick<
  Provider,
  | 'name'
  | 'display_name'
  | 'auth_mode'
  | 'docs'
  | 'docs_connect'
  | 'installation'
  | 'require_client_certificate'
  | 'token_request_auth_method'
> & { readonly [Part in 'credentials' | 'connection_config' | 'assertion_option']?: Schemas };

/** The form of one integration. */
export interface ConnectForm {
  readonly kind: 'redirect' | 'direct';
  /** Path below the service's address. */
  readonly path: string;
  readonly mode: Provider['auth_mode'];
  readonly fields: readonly FormField[];
}

/** The request to the service. */
export interface ConnectRequest {
  readonly params: Readonly<Record<string, string>>;
  /** Null: the endpoint accepts none. */
  readonly body: Readonly<Record<string, unknown>> | null;
}

export type FieldValues = ReadonlyMap<FormField, string>;

interface FormOptions {
  readonly integrationKey: string;
  /** Set by the application: not shown. */
  readonly givenParams: readonly string[];
  readonly t: Translate;
}

/** The form of a provider definition: fields in the order of the definition, configuration first. */
export function connectForm(provider: ProviderForm, options: FormOptions): ConnectForm {
  const page = modePages[provider.auth_mode];
  const isOutbound = provider.installation === 'outbound';
  const endpoint = isOutbound ? outboundEndpoint : page.endpoint;
  const { t, givenParams } = options;
  const params = fieldsOf('params', provider.connection_config, page.params ?? {}, t);
  const existing = { ...page.fields, ...clientFields(provider) };
  const own =
    page.hasOwnFields === true ? provider.credentials : pick(provider.credentials, existing);
  const credentials = isOutbound ? [] : fieldsOf('credentials', own, existing, t);
  const assertion = fieldsOf('assertion', provider.assertion_option, {}, t);
  const missing = params.filter(({ name }) => !givenParams.includes(name));
  const key = encodeURIComponent(options.integrationKey);
  return {
    kind: endpoint === null ? 'redirect' : 'direct',
    path: endpoint === null ? `/oauth/connect/${key}` : `${endpoint}${key}`,
    mode: provider.auth_mode,
    fields: [...missing, ...credentials, ...assertion],
  };
}

function clientFields(provider: ProviderForm): Readonly<Record<string, KnownField>> {
  if (provider.auth_mode !== 'OAUTH2_CC') return {};
  if (provider.require_client_certificate === true) return clientCertificate;
  return provider.token_request_auth_method === 'private_key_jwt' ? clientAssertion : {};
}

/** An endpoint with fixed fields accepts no others from a definition. */
function pick(schemas: Schemas | undefined, existing: object): Schemas {
  const entries = Object.entries(schemas ?? {});
  return Object.fromEntries(entries.filter(([name]) => Object.hasOwn(existing, name)));
}

function fieldsOf(
  part: FieldPart,
  schemas: Schemas = {},
  existing: Readonly<Record<string, KnownField>>,
  t: Translate,
): FormField[] {
  const names = [...new Set([...Object.keys(existing), ...Object.keys(schemas)])];
  const missing = names.filter((name) => {
    const schema = schemas[name];
    return schema?.automated !== true && schema?.hidden !== true;
  });
  const ordered = missing.sort((a, b) => (schemas[a]?.order ?? 0) - (schemas[b]?.order ?? 0));
  return ordered.map((name) => {
    const field = existing[name];
    const title = field === undefined ? name : t(field.title);
    return formField(name, part, schemas[name] ?? {}, { title, known: field });
  });
}

/** Whether the field is shown for the values of the others. */
export function isAsked({ onlyWhen }: FormField, values: FieldValues): boolean {
  if (onlyWhen === null) return true;
  return [...values].some(
    ([field, value]) => field.name === onlyWhen.field && value === onlyWhen.equals,
  );
}

/** The values in the format of the endpoint, without empty optional fields. */
export function connectRequest(form: ConnectForm, values: FieldValues): ConnectRequest {
  const valuesOf = (part: FieldPart): Record<string, string> =>
    Object.fromEntries(
      [...values]
        .filter(([field]) => field.part === part && isAsked(field, values))
        .filter(([field, value]) => value !== '' || isKept(form, field))
        .map(([field, value]) => [field.name, value]),
    );
  const params = valuesOf('params');
  if (form.kind === 'redirect') return { params, body: null };
  const { scope, ...credentials } = valuesOf('credentials');
  const assertion = valuesOf('assertion');
  const body: Record<string, unknown> = { ...credentials };
  if (form.mode === 'SIGNATURE') body['type'] = 'SIGNATURE';
  if (scope !== undefined) body['scope'] = form.mode === 'APP_STORE' ? words(scope) : scope;
  if (Object.keys(assertion).length > 0) body['assertionOption'] = assertion;
  return { params, body: Object.keys(body).length === 0 ? null : body };
}

/** A password may be empty; it is then sent as an empty string. */
const isKept = (form: ConnectForm, field: FormField): boolean =>
  form.mode === 'BASIC' && field.part === 'credentials';

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
