import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Answer } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { Dialog } from '../../design/overlay.tsx';
import { Notice } from '../../design/states.tsx';
import { duration, Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';

type Delivery = Answer<'GET /webhook-messages/{id}'>['data']['deliveries'][number];
type Attempt = Delivery['attempt_list'][number];

const everyMs = 1_000;

interface TestOutcomeProps {
  /** Id of the webhook message that was sent as a test. */
  readonly id: string;
  readonly endpoint: string;
  readonly url: string;
  readonly onClose: () => void;
}

/** What came of a test webhook, read until its first attempt has ended. */
export function TestOutcome({ id, endpoint, url, onClose }: TestOutcomeProps): JSX.Element {
  const { path } = useAccess();
  const query = useRead('GET /webhook-messages/{id}', { params: { id } }, { everyMs });
  return (
    <Dialog title={`Test of ${endpoint}`} onClose={onClose}>
      <div aria-live="polite">
        <LoadedState query={query}>
          {({ data }) => <Outcome delivery={data.deliveries[0]} url={url} />}
        </LoadedState>
      </div>
      <p>
        <Link href={path(`/webhooks-out/messages?id=${encodeURIComponent(id)}`)}>
          The webhook with its body and all attempts
        </Link>
      </p>
    </Dialog>
  );
}

interface OutcomeProps {
  readonly delivery: Delivery | undefined;
  readonly url: string;
}

function Outcome({ delivery, url }: OutcomeProps): JSX.Element {
  const attempt = delivery?.attempt_list.at(-1);
  if (delivery?.state === 'cancelled')
    return <Notice tone="warn">It was not sent: the endpoint has no address any more.</Notice>;
  if (delivery === undefined || attempt === undefined)
    return <Notice>The webhook is being sent …</Notice>;
  const { fix, title } = explained(attempt, url);
  return (
    <Notice tone={attempt.success ? 'good' : 'bad'}>
      <p>
        <strong>{title}</strong>
      </p>
      {fix !== null && <p>{fix}</p>}
      {attempt.next_attempt_at !== null && (
        <p>
          It is tried again <Time at={attempt.next_attempt_at} />.
        </p>
      )}
    </Notice>
  );
}

interface Explanation {
  readonly title: string;
  readonly fix: string | null;
}

/** What an attempt shows to people, and what they can do. */
function explained(attempt: Attempt, url: string): Explanation {
  const { success, status, error_code: code, latency_ms: latency, fix } = attempt;
  const after = latency === null ? '' : ` after ${duration(latency)}`;
  if (success) return { title: `Delivered: the endpoint answered ${status}${after}.`, fix };
  if (status !== null) return { title: `The endpoint answered ${status}${after}.`, fix };
  const title = failures[code ?? ''] ?? `No answer${after}: ${code ?? 'unknown'}.`;
  return { title, fix: code === 'url_not_allowed' ? fixOfAddress(url) : fix };
}

/** Names the setting, with the value that it needs. */
function fixOfAddress(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  const entry = `${hostname}:${port === '' ? (protocol === 'http:' ? '80' : '443') : port}`;
  return `Only addresses of the public internet are allowed. To allow this one, the operator adds ${entry} to the setting SVC_EGRESS_ALLOW of the service, and starts it again.`;
}

const failures: Readonly<Record<string, string>> = {
  url_not_allowed: 'The service may not call this address.',
  ECONNREFUSED: 'Nothing listens at this address.',
  ENOTFOUND: 'The name of the host is not known.',
  EAI_AGAIN: 'The name of the host could not be looked up.',
  ETIMEDOUT: 'The endpoint did not answer in time.',
  ECONNRESET: 'The endpoint closed the connection.',
  circuit_open: 'It was not sent: the endpoint has failed too often.',
  token_url_not_allowed: 'It was not sent: the service may not call the token endpoint.',
  token_endpoint_away: 'It was not sent: the token endpoint did not answer.',
  token_refused: 'It was not sent: the token endpoint refused the client.',
  token_unreadable: 'It was not sent: the token endpoint answered without a token.',
};
