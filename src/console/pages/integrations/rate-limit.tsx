import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Select, TextField } from '../../design/field.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { LoadedState } from '../../shell/loaded.tsx';

type ShownIntegration = Answer<'GET /integrations/{uniqueKey}'>['data'];
type Setting = ShownIntegration['rate_limit'];
type Limit = Exclude<Setting, string>;

const usual: Limit = { requests: 100, seconds: 60, per: 'integration' };

interface RateLimitProps {
  readonly integration: string;
}

/** The limit that functions and proxied calls share, and how much of it is used. */
export function RateLimit({ integration }: RateLimitProps): JSX.Element {
  const { can } = useAccess();
  const params = { uniqueKey: integration };
  const query = useRead('GET /integrations/{uniqueKey}', {
    params,
    query: { include: ['rate_limit'] },
  });
  return (
    <LoadedState query={query}>
      {({ data }) => (
        <div class="card padded stack">
          <h2>Rate limit of the provider</h2>
          <p class="muted">{inWords(data)}</p>
          {can('environment:integrations:update') && (
            <Form integration={integration} setting={data.rate_limit} />
          )}
        </div>
      )}
    </LoadedState>
  );
}

function inWords({ rate_limit_use: use }: ShownIntegration): string {
  const limit = use?.limit ?? null;
  if (limit === null) return 'Requests are sent as they come.';
  const { requests, seconds, per } = limit;
  const whose = per === 'connection' ? 'for each connection' : 'for all connections together';
  const text = `At most ${requests} requests in ${seconds} s ${whose}, from functions and the proxy alike.`;
  const paused = use?.paused_seconds ?? 0;
  const used =
    use === undefined || use.requests === null ? '' : ` ${use.requests} of them are used now.`;
  return paused > 0
    ? `${text}${used} The provider takes no requests for another ${paused} s.`
    : `${text}${used}`;
}

const choices = [
  { value: 'provider', label: 'As the catalog says' },
  { value: 'own', label: 'A limit of its own' },
  { value: 'none', label: 'None' },
];

const whose = [
  { value: 'integration', label: 'All connections together' },
  { value: 'connection', label: 'Each connection by itself' },
];

function Form(props: RateLimitProps & { readonly setting: Setting }): JSX.Element {
  const { integration, setting } = props;
  const own = typeof setting === 'string' ? usual : setting;
  const [kind, setKind] = useState(typeof setting === 'string' ? setting : 'own');
  const [requests, setRequests] = useState(String(own.requests));
  const [seconds, setSeconds] = useState(String(own.seconds));
  const [per, setPer] = useState<Limit['per']>(own.per);
  const save = useChange(
    (client) =>
      client.request('PATCH /integrations/{uniqueKey}', {
        params: { uniqueKey: integration },
        body: {
          rate_limit:
            kind === 'own'
              ? { requests: Number(requests), seconds: Number(seconds), per }
              : kind === 'none'
                ? 'none'
                : 'provider',
        },
      }),
    { done: 'The rate limit was saved', showsFailure: true },
  );
  return (
    <ChangeForm change={save} verb="Save the limit">
      <Select label="Limit" value={kind} choices={choices} onChange={setKind} />
      {kind === 'own' && (
        <>
          <TextField label="Requests" type="number" value={requests} onInput={setRequests} />
          <TextField label="In seconds" type="number" value={seconds} onInput={setSeconds} />
          <Select
            label="Counted for"
            value={per}
            choices={whose}
            onChange={(value) => setPer(value === 'connection' ? value : 'integration')}
          />
        </>
      )}
    </ChangeForm>
  );
}
