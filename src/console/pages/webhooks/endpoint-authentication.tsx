import type { JSX } from 'preact';
import type { Input, WebhookEndpoint } from '#client/index.ts';
import { Check, TextArea, TextField } from '../../design/field.tsx';

/** How the service authenticates at an endpoint, as the form holds it: empty text is none. */
export interface AuthenticationFields {
  readonly hasOauth: boolean;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Empty text keeps the one that the endpoint has. */
  readonly clientSecret: string;
  readonly isInBody: boolean;
  /** With blanks between them. */
  readonly scopes: string;
  readonly audience: string;
  /** In PEM; empty texts keep those that the endpoint has. */
  readonly certificate: string;
  readonly privateKey: string;
}

export function authenticationOf(endpoint: WebhookEndpoint | null): AuthenticationFields {
  const oauth = endpoint?.oauth ?? null;
  return {
    hasOauth: oauth !== null,
    tokenUrl: oauth?.token_url ?? '',
    clientId: oauth?.client_id ?? '',
    clientSecret: '',
    isInBody: oauth?.client_authentication === 'body',
    scopes: oauth?.scopes.join(' ') ?? '',
    audience: oauth?.audience ?? '',
    certificate: '',
    privateKey: '',
  };
}

type Body = Pick<Input<'POST /webhook-endpoints'>['body'], 'oauth' | 'client_certificate'>;

/** Only what differs from the endpoint. The gateway refuses a changed client without its secret. */
export function authenticationBody(
  fields: AuthenticationFields,
  endpoint: WebhookEndpoint | null,
): Body {
  const isSame = JSON.stringify(fields) === JSON.stringify(authenticationOf(endpoint));
  if (isSame) return {};
  return { ...oauthBody(fields, endpoint), ...certificateBody(fields) };
}

function oauthBody(fields: AuthenticationFields, endpoint: WebhookEndpoint | null): Body {
  const before = authenticationOf(endpoint);
  if (!fields.hasOauth) return before.hasOauth ? { oauth: null } : {};
  const { certificate, privateKey } = before;
  const isSame = JSON.stringify({ ...fields, certificate, privateKey }) === JSON.stringify(before);
  if (isSame) return {};
  const scopes = fields.scopes.split(/\s+/).filter((scope) => scope !== '');
  return {
    oauth: {
      token_url: fields.tokenUrl,
      client_id: fields.clientId,
      client_secret: fields.clientSecret,
      client_authentication: fields.isInBody ? 'body' : 'basic',
      scopes,
      audience: fields.audience === '' ? null : fields.audience,
    },
  };
}

function certificateBody({ certificate, privateKey }: AuthenticationFields): Body {
  if (certificate.trim() === 'none') return { client_certificate: null };
  if (certificate === '' && privateKey === '') return {};
  return { client_certificate: { certificate, private_key: privateKey } };
}

interface Props {
  readonly fields: AuthenticationFields;
  readonly endpoint: WebhookEndpoint | null;
  readonly onChange: (fields: AuthenticationFields) => void;
}

export function AuthenticationInputs({ fields, endpoint, onChange }: Props): JSX.Element {
  const set = (changed: Partial<AuthenticationFields>): void => onChange({ ...fields, ...changed });
  return (
    <>
      <Check
        label="Authenticate with OAuth 2.0 client credentials"
        isChecked={fields.hasOauth}
        onChange={(hasOauth) => set({ hasOauth })}
      />
      {fields.hasOauth && <OauthInputs fields={fields} endpoint={endpoint} onChange={onChange} />}
      <TextArea
        label="Client certificate"
        rows={2}
        hint={certificateHint(endpoint)}
        value={fields.certificate}
        onInput={(certificate) => set({ certificate })}
      />
      {fields.certificate !== '' && (
        <TextArea
          label="Private key of the certificate"
          rows={2}
          hint="PEM, without a passphrase"
          value={fields.privateKey}
          onInput={(privateKey) => set({ privateKey })}
        />
      )}
    </>
  );
}

function certificateHint(endpoint: WebhookEndpoint | null): string {
  const existing = endpoint?.client_certificate ?? null;
  if (existing === null) return 'PEM, for mutual TLS';
  return `PEM, in place of ${existing.subject}; empty keeps this one, none removes it`;
}

function OauthInputs({ fields, endpoint, onChange }: Props): JSX.Element {
  const set = (changed: Partial<AuthenticationFields>): void => onChange({ ...fields, ...changed });
  const isKept = endpoint?.oauth != null;
  return (
    <>
      <TextField
        label="Token endpoint"
        type="url"
        value={fields.tokenUrl}
        isRequired
        onInput={(tokenUrl) => set({ tokenUrl })}
      />
      <TextField
        label="Client id"
        value={fields.clientId}
        isRequired
        onInput={(clientId) => set({ clientId })}
      />
      <TextField
        label="Client secret"
        type="password"
        hint={
          isKept ? 'Empty keeps the secret, while nothing else of the client changes' : undefined
        }
        value={fields.clientSecret}
        isRequired={!isKept}
        onInput={(clientSecret) => set({ clientSecret })}
      />
      <Check
        label="Send id and secret in the form"
        hint="Otherwise in a Basic header"
        isChecked={fields.isInBody}
        onChange={(isInBody) => set({ isInBody })}
      />
      <TextField
        label="Scopes"
        hint="With blanks between them"
        value={fields.scopes}
        onInput={(scopes) => set({ scopes })}
      />
      <TextField
        label="Audience"
        value={fields.audience}
        onInput={(audience) => set({ audience })}
      />
    </>
  );
}
